"""Captures of a network, as Wireshark and tcpdump write them: read, and written."""
