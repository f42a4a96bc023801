"""Bucketized releases: attacks, grouping methods, and utility."""
