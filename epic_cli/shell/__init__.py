"""The command line, the session and the screens: where values become what a person reads."""
