"""``epic strategies``."""
