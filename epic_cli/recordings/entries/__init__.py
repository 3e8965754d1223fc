"""One format a file, or a room; ``epic_cli.recordings.entries`` finds them."""
