"""Joint attacks on several releases."""
