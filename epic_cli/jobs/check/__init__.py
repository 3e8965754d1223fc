"""Golden-output tests: compare the rows drawn for a recording with the expected rows."""
