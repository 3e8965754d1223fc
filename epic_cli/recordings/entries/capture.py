"""Captures of a network: not recordings yet, since they do not say which datagrams are packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.recordings import Format, Unreadable

if TYPE_CHECKING:
    from epic_cli.recordings import Source
    from epic_cli.recordings.read_spec import ReadSpec

#: pcap in either order of bytes, with microseconds or nanoseconds, and pcapng.
CAPTURE_MAGICS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)


class IsCapture(Unreadable):
    """What is in it has to be chosen first."""

    def __init__(self) -> None:
        super().__init__(
            "it is a capture of a network: first epic convert CAPTURE --port PORT -o FILE.csv"
        )


class Capture(Format):
    """Recognised, and refused with what to do first."""

    name = "capture"
    magic = CAPTURE_MAGICS
    by_name = False
    unpacked = "auto"

    def unpack(self, source: Source, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Raises ``IsCapture``."""
        raise IsCapture


FORMATS = (Capture(),)
