"""TABLE -> WHICH CELLS TO HIDE: one module per method; what they share stands in ``problem``, ``counts`` and ``thresholds``.

What a table with blank cells says about the cells that are blank.
"""
