"""``epic replay``."""
