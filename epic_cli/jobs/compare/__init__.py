"""A comparison of strategies: its report."""
