"""The sample recordings that travel with the program."""
