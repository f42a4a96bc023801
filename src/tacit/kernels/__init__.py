"""ARRAYS -> ARRAYS: the hot loops, compiled by numba; nothing here imports anything else of Tacit."""
