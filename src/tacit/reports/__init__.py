"""Reports: documents, and their output formats."""
