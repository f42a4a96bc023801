"""Attacks on people whose quasi-identifiers are known."""
