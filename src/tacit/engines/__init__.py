"""The package engines."""
