"""The formats of recordings, one a file or a folder; ``epic_cli.recordings`` finds them here."""
