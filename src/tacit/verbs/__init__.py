"""The verbs of the command line and of the Python interface."""
