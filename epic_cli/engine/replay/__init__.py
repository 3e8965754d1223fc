"""The replay loop: when packets meet ticks, and what is drawn then."""
