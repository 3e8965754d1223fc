"""A running game for pages in the browser."""
