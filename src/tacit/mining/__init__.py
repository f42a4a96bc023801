"""Mining: itemsets, rules, negative rules, frequency tables."""
