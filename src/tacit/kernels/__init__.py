"""Hot loops over arrays, compiled by numba where it pays."""
