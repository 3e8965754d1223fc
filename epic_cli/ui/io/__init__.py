"""What the commands and the session share: errors, colour, output files, parameter types."""
