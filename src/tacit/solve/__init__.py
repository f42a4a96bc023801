"""What follows about single people from counts over groups of them: estimates by maximum entropy, and hard bounds."""
