"""What every reader of lines keeps to; a module of its own, since packet text must start fast."""

#: Bytes of a line with its end; a longer one is refused. Packet text has the demo's own limit.
LONGEST_LINE = 65536

#: What Windows programs put in front of UTF-8 text: it is passed over.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: What may separate a table's columns: the first of these that its first line has, outside quotes.
DELIMITERS = "\t;|,"


def delimiter_of(line: str) -> str:
    """What separates a table's columns, by its first line; blanks where there is nothing else."""
    bare = line.strip("\r\n")
    if '"' in bare:
        bare = "".join(bare.split('"')[::2])
    return next((one for one in DELIMITERS if one in bare), "," if '"' in line else " ")
