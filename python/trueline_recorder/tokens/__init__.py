"""Language models: a token is a decision, a response is an episode."""
