"""``epic send``: sends packets as a game does."""
