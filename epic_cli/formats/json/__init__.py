"""Recordings in JSON: an object on each line, or a document."""
