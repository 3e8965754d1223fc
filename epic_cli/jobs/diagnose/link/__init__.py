"""The network that a recording shows: what was sent, what came of it, and in which words."""
