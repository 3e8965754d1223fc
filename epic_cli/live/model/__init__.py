"""What is known of a running game, for whatever shows it."""
