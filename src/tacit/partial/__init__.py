"""Tables with suppressed cells: attacks and suppression methods."""
