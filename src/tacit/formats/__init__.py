"""Files to model and back: one reader or writer per published form."""
