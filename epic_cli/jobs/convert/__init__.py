"""``epic convert``."""
