"""``epic listen``: a running game, received and drawn."""
