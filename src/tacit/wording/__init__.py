"""The package wording."""
