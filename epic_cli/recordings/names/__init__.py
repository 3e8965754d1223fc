"""Which column, or name in an object, holds which field: inferred from what they are called."""
