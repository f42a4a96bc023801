"""Audit in, text out: the terminal, the HTML page and the record say the same numbers in different forms; nothing is decided here."""
