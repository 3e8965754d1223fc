"""The interactive session: packets typed, rows at once, every strategy one command away."""
