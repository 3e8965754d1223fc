"""What every reader of lines keeps to; a module of its own, since packet text must start fast."""

#: Bytes of a line with its end; a longer one is refused. Packet text has the demo's own limit.
LONGEST_LINE = 65536

#: As much, of a JSON object: one may have some thousand entities.
LONGEST_OBJECT = 1 << 20

#: What Windows programs put in front of UTF-8 text: it is passed over.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: What may separate a table's columns: the first of these that its first line has, outside quotes.
DELIMITERS = "\t;|,"


class Unreadable(ValueError):
    """A recording that cannot be read in this way, whatever its packets are."""


class NeedsFile(Unreadable):
    """Parquet comes in a stream, which has no end to begin with."""

    def __init__(self) -> None:
        super().__init__(
            "Parquet is read from a file, not from a stream: first"
            " epic convert FILE.parquet -o FILE.csv"
        )


#: What a capture of a network begins with: pcap in either order of bytes, with microseconds or
#: nanoseconds, and pcapng.
CAPTURE_MAGICS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)


class IsCapture(Unreadable):
    """A capture of a network, which is no recording yet."""

    def __init__(self) -> None:
        super().__init__(
            "it is a capture of a network: first epic convert CAPTURE --port PORT -o FILE.csv"
        )


def delimiter_of(line: str) -> str:
    """What separates a table's columns, by its first line; blanks where there is nothing else."""
    bare = line.strip("\r\n")
    if '"' in bare:
        bare = "".join(bare.split('"')[::2])
    return next((one for one in DELIMITERS if one in bare), "," if '"' in line else " ")


def is_packet(line: bytes) -> bool:
    """Whether a line, without blanks before it, is meant to be packet text.

    All that the demo could read is: a number, two commas, a slash. So is anything with the commas
    and slashes of packet text, which deserves to be told what is wrong with it.
    """
    position, *others = line.split(b"/")
    if not others or position.count(b",") != 2:
        return False
    begins = position[:1] in b"0123456789+-." or position[:3].lower() in (b"nan", b"inf")
    return begins or (len(others) > 1 and others[0].count(b",") == 2)
