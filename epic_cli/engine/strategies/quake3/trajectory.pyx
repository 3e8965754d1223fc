"""The kinds of trajectories, for Python; the functions are in the ``.pxd``."""
