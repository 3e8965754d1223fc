"""The compiled engine: numbers only, no files, no terminal.

``scan`` turns text into packets, ``replay`` runs packets through strategies on the ticks of a
clock (``clocks``) at a ``pacing``, ``rows`` turns samples into text.
"""
