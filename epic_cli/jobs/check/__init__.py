"""Golden-output tests: what a recording was expected to be drawn as, held against what is drawn."""
