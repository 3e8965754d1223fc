"""Which column, or which name in an object, holds which field: told from how they are called."""
