"""Attacks on lists of itemsets."""
