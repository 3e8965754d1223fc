"""What every reader of lines keeps to; a module of its own, since packet text must start fast."""

#: Bytes of a line with its end; a longer one is refused. Packet text has the demo's own limit.
LONGEST_LINE = 65536

#: What Windows programs put in front of UTF-8 text: it is passed over.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def delimiter_of(header: str) -> str:
    """What separates a table's columns: tabs if there is one in the header, or else commas."""
    return "\t" if "\t" in header else ","
