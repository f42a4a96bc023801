"""Solvers: maximum entropy, certified bounds, linear programs."""
