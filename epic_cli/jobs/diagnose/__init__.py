"""Causes of jitter that a recording's packets show, each with evidence and a remedy."""
