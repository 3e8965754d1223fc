"""The command line, the session and the screens, which turn values into text for people."""
