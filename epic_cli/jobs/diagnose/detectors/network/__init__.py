"""Causes in the network: those that arrivals and sequence numbers show."""
