"""How the outcomes of `epic check` look."""
