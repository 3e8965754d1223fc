"""How good a strategy is: truth, metrics and comparison. Numpy lives here, and only here."""
