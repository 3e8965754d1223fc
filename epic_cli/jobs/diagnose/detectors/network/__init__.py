"""Causes on the way: what arrivals and sequence numbers show."""
