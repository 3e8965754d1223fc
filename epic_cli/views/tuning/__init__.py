"""What tuning has found: in words, in tables, in pictures."""
