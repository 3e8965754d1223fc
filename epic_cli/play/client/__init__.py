"""A player's machine: prediction of his own player, drawing of the others."""
