"""Strategies to take home, as one file in a language."""
