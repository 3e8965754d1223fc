"""Causes that the sent states show, or the drawn frames."""
