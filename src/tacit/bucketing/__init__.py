"""People into groups, so that nobody's sensitive value follows from her group: on arrays alone, from codes of values and what is ruled out."""
