"""What a table with blank cells says about the cells that are blank."""
