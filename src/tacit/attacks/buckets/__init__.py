"""The package attacks.buckets."""
