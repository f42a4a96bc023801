"""Releases of association rules: bounds on supports, and the attack on exceptions."""
