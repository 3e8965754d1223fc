"""What a game really drew: which strategy that is, and what is on top of it."""

#: What results call what the game drew.
LABEL = "drawn"
