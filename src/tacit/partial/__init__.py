"""Tables with blank cells: attacks, methods and cost."""
