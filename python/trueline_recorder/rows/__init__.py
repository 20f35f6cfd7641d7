"""Rows of a rollout: where they belong, how they are found again, and what is odd about them."""
