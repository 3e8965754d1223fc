"""Results as text, tables, pages, pictures and films."""
