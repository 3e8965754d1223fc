"""Strategies that ``epic code`` can write, each written once and translated (see ``translate``).

A source has the constants that its settings become (``constants``), and says where its algorithm
comes from, and under which license.
"""
