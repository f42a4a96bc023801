"""The package sweeps."""
