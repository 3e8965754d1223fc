"""The server: the only simulation that counts, rewind, and its weapons."""
