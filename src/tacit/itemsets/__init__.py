"""Releases of itemsets: supports, inference channels, and the attacks on them."""
