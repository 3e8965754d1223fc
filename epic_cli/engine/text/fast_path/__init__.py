"""Fast paths for common input; anything else is left to the plain implementations."""
