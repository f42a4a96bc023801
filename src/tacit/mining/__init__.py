"""Mining itemsets, rules and frequency tables."""
