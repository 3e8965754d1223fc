"""Causes on the way: those that arrivals and sequence numbers show."""
