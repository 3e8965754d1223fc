"""One format a file, or a room; ``epic_cli.formats.formats`` finds them."""
