"""Strategies written as one source file in a programming language, for use in games."""
