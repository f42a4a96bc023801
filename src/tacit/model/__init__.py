"""Types that flow between the parts."""
