"""``epic simulate``."""
