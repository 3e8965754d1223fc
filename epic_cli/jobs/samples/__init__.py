"""The sample recordings that are installed with the program."""
