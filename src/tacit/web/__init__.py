"""Web application of ``tacit serve``: the program's own commands, run and shown in a browser."""
