"""Recordings in their formats: packet text, CSV and JSON lines."""
