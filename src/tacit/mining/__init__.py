"""Mining: frequent itemsets, rules QI => SA, negative rules, and frequency tables."""
