"""``epic explain``."""
