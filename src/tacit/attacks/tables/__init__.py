"""The package attacks.tables."""
