"""Verbs of the command line and the Python interface."""
