"""``epic compare``: a comparison of strategies, and its report."""
