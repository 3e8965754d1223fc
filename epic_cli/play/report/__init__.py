"""What is to be seen of a match: rows, statistics, the screens at one moment."""
