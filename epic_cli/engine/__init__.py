"""The compiled engine: numbers only, no files, no terminal.

``text`` turns text into packets and samples into text, ``replay`` runs packets through strategies
on the ticks of a clock at a pacing, ``strategies`` are the smoothing algorithms.
"""
