"""ROWS -> PATTERNS: frequent itemsets (all, closed, maximal) and rules QI => SA."""
