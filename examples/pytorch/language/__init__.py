"""A language model small enough for two cores, and everything that trains it by reinforcement: what examples/pytorch/grpo.py is made of."""
