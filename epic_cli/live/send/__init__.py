"""``epic send``: packets as a game sends them."""
