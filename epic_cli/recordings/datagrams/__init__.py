"""Packets in datagrams: text, CSV, JSON, msgpack and binary records."""
