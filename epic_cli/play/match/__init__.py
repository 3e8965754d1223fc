"""A match: who plays, over which links, by which input, and what changes meanwhile."""
