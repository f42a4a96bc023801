"""Hot loops over arrays, partly compiled by numba."""
