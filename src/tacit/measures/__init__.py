"""The package measures."""
