"""A running game on a terminal, full screen, as it is received and as a strategy draws it."""
