"""Packets of strangers while they come in: binary records, and which of them are let in."""
