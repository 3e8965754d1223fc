"""Inference of which column, or name in an object, holds which field."""
