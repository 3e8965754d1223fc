"""The strategies that can be taken home, each written once: see ``translate``.

A source has the constants that its settings become (``constants``), and says where its algorithm
comes from, and under which licence.
"""
