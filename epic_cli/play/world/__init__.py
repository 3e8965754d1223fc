"""The game itself, which server and clients share: its rules, its times, what happens in it."""
