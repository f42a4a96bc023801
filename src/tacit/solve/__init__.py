"""Linear programs and maximum entropy."""
