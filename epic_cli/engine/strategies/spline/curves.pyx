"""The kinds of curves, for Python; the functions are in the ``.pxd``."""
