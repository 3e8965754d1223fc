"""The commands that read and write, one thin file each; ``options`` holds what they share."""
