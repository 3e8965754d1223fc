"""A log of each datagram's fate, as CSV that ``simulate --trace`` reads."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from epic_cli.live.recording import WholeFile
from epic_cli.network.link_spec import Way
from epic_cli.recordings.writing import csv_field

COLUMNS = (
    "send_time", "recv_time", "lost", "direction", "flow", "client", "bytes", "fate", "asked_ms",
    "again",
)  # fmt: skip


class Fate(Enum):
    """A datagram's fate; ``FLYING``: still in flight when the proxy ended."""

    PASSED = "passed"
    LOST = "lost"
    DROPPED = "dropped"
    CORRUPTED = "corrupted"
    BLACKOUT = "blackout"
    OVERFLOWED = "overflowed"
    UNSENT = "unsent"
    FLYING = "flying"


@dataclass(slots=True)
class Entry:
    """A datagram that arrived at ``time``; ``left``: when its copies were sent on (seconds).

    ``client`` are the cells of its flow and its client, ``arrivals`` when the link lets its copies
    arrive, of which so many are ``flying``. ``fate`` is set if no copy is to arrive.
    """

    time: float
    way: Way
    client: str
    data: bytes
    arrivals: tuple[float, ...]
    fate: Fate
    flying: int
    left: list[float] = field(default_factory=list)


def client_cells(number: int, address: str) -> str:
    """The cells of a client's lines that are the same in all of them."""
    return f"{number},{csv_field(address)}"


class TrafficLog:
    """Writes a line for each datagram, in the order of arrival.

    ``recv_time`` is when the first copy really left, ``again`` when the second one did, and
    ``asked_ms`` the delay that the link has given the first. ``flow`` is the client's number. With
    ``payload`` it includes the data in hexadecimal. Datagrams in flight, and later ones, are in
    memory. Raises ``OSError``; a non-empty file is not overwritten.
    """

    def __init__(self, path: str, payload: bool = False) -> None:
        columns = (*COLUMNS, "payload") if payload else COLUMNS
        header = (",".join(columns) + "\n").encode()
        self.file = WholeFile(path, header)
        self._payload = payload
        self._entries: deque[Entry] = deque()

    def add(self, entry: Entry) -> None:
        """A datagram that came in."""
        self._entries.append(entry)

    def __len__(self) -> int:
        """How many are not written yet."""
        return len(self._entries)

    def write(self, most: int = 1000) -> None:
        """Writes so many lines, up to the first datagram still in flight."""
        entries: deque[Entry] = self._entries
        rows: list[str] = []
        while entries and not entries[0].flying and len(rows) < most:
            rows.append(self._row(entries.popleft()))
        if rows:
            self.file.write("".join(rows).encode(), len(rows))

    def end(self) -> None:
        """Ends the datagrams still in flight, which will not arrive."""
        for entry in self._entries:
            entry.flying = 0
            if entry.arrivals and not entry.left:
                entry.fate = Fate.FLYING
        self.write(len(self._entries))

    def close(self) -> None:
        """Nothing more comes."""
        self.file.close()

    def _row(self, entry: Entry) -> str:
        fate, left, again, asked = entry.fate, "", "", ""
        if entry.arrivals:
            asked = f"{1000 * (entry.arrivals[0] - entry.time):.4f}"
            if entry.left:
                fate, left = Fate.PASSED, f"{entry.left[0]:.6f}"
            elif fate is not Fate.FLYING:
                fate = Fate.UNSENT
            if len(entry.left) > 1:
                again = f"{entry.left[1]:.6f}"
        more = f",{entry.data.hex()}" if self._payload else ""
        return (
            f"{entry.time:.6f},{left},{0 if left else 1},{entry.way},{entry.client},"
            f"{len(entry.data)},{fate.value},{asked},{again}{more}\n"
        )
