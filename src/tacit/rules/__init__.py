"""Releases of association rules: bounds and attack."""
