"""Types that flow between the stages: frozen, columnar, self-checking."""
