"""People into groups, so that nobody's sensitive value follows from her group: on arrays alone, from codes of values and what is ruled out.

What a bucketized release says about the sensitive value of each person, for whom who is in which group is known.
"""
