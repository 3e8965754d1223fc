"""Causes in the packets that are sent, and in their drawing."""
