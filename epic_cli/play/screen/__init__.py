"""The game on a terminal, full screen."""
