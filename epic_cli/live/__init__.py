"""Sockets: packets sent as a game sends them, and a running game's packets received."""
