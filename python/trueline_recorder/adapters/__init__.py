"""Readers of programs that others have written: one line for the user, and nothing of those programs in here."""
