"""What rules QI => SA say about the sensitive value of each combination of quasi-identifiers, for whom who has these is known."""
