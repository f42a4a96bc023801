"""Releases of itemsets: supports, inference channels, attacks."""
