"""``epic inspect``."""
