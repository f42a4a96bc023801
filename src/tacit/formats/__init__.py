"""The package formats."""
