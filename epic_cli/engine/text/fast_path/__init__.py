"""The fast ways of what is usual; what is odd in any way is left to their plain twins."""
