"""The interactive session: typed packets are drawn at once, with any strategy."""
