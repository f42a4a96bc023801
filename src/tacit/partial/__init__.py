"""Tables with suppressed cells: attacks on blanks, and methods that hide cells."""
