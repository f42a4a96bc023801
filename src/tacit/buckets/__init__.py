"""Bucketized releases: attacks, methods and utility."""
