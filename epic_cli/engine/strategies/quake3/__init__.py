"""Quake III: the strategy and its trajectories."""
