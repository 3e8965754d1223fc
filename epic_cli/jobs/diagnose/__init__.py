"""Causes of jitter that a recording's traffic shows, each with evidence and a cure."""
