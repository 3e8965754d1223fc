"""Golden-output tests: the rows drawn for a recording, compared with the expected ones."""
