"""Attacks on lists of rules."""
