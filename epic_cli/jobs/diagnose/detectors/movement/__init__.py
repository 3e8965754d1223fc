"""Causes in what is sent, and in what is drawn of it."""
