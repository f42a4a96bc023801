"""What a bucketized release says about the sensitive value of each person, for whom who is in which group is known."""
