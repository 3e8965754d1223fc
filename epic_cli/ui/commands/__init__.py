"""The commands of ``epic``, one file each."""
