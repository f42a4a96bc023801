"""Tacit."""
