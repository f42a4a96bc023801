"""Estimates of known people's sensitive values from rules QI => SA."""
