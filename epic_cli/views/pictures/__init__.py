"""Pictures: charts of characters for terminals, SVG for files."""
