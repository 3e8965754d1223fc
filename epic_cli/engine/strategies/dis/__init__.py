"""Distributed Interactive Simulation: the strategy and its dead-reckoning models."""
