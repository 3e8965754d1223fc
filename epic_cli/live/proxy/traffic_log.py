"""What became of each datagram, as CSV that ``simulate --trace`` reads."""

from __future__ import annotations

from collections import deque
from enum import Enum

from epic_cli.formats.writing import csv_field, number
from epic_cli.live.whole_files import WholeFile
from epic_cli.network.two_ways import Way

COLUMNS = (
    "send_time", "recv_time", "lost", "direction", "flow", "client", "bytes", "fate", "asked_ms",
    "again",
)  # fmt: skip


class Fate(Enum):
    """What became of a datagram; ``FLYING`` was on its way when the proxy ended."""

    PASSED = "passed"
    LOST = "lost"
    DROPPED = "dropped"
    CORRUPTED = "corrupted"
    BLACKOUT = "blackout"
    OVERFLOWED = "overflowed"
    UNSENT = "unsent"
    FLYING = "flying"


class Entry:
    """A datagram that came in at ``time``; ``left``: when its copies went on (seconds).

    ``fate`` is that of a datagram of which no copy was to arrive.
    """

    __slots__ = ("asked", "client", "data", "fate", "flow", "flying", "left", "time", "way")

    def __init__(
        self,
        time: float,
        way: Way,
        flow: int,
        client: str,
        data: bytes,
        arrivals: tuple[float, ...],
        fate: Fate,
    ) -> None:
        self.time = time
        self.way = way
        self.flow = flow
        self.client = client
        self.data = data
        self.asked = arrivals
        self.flying = len(arrivals)
        self.left: list[float] = []
        self.fate = fate


class TrafficLog:
    """Writes a line for each datagram, in the order in which they came.

    ``recv_time`` is when the first copy really left, ``again`` when the second one did, and
    ``asked_ms`` the delay that the link has given the first. ``flow`` is the client's number. With
    ``payload`` what was in it is there in hexadecimal digits. What is on its way is in memory, and
    what came after that. Raises ``OSError``; a file with something in it is not written over.
    """

    def __init__(self, path: str, payload: bool = False) -> None:
        columns = (*COLUMNS, "payload") if payload else COLUMNS
        header = (",".join(columns) + "\n").encode()
        self._file = WholeFile(path, header, lambda data, most: data.rfind(b"\n", 0, most) + 1)
        self._payload = payload
        self._entries: deque[Entry] = deque()
        self.written = 0

    def add(self, entry: Entry) -> None:
        """A datagram that came in."""
        self._entries.append(entry)

    def write(self) -> None:
        """Writes the lines of those whose fate is known, up to the first one still on its way."""
        entries, rows = self._entries, []
        while entries and not entries[0].flying:
            rows.append(self._row(entries.popleft()))
        if rows:
            self._file.write("".join(rows).encode())
            self.written += len(rows)

    def end(self) -> None:
        """What is still on its way will not arrive."""
        for entry in self._entries:
            entry.flying = 0
            if entry.asked and not entry.left:
                entry.fate = Fate.FLYING
        self.write()

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()

    def _row(self, entry: Entry) -> str:
        left = [number(round(time, 6)) for time in entry.left]
        fate = entry.fate
        if left:
            fate = Fate.PASSED
        elif entry.asked and fate is not Fate.FLYING:
            fate = Fate.UNSENT
        asked = number(round(1000 * (entry.asked[0] - entry.time), 6)) if entry.asked else ""
        cells = [
            number(round(entry.time, 6)),
            left[0] if left else "",
            "0" if left else "1",
            entry.way,
            str(entry.flow),
            csv_field(entry.client),
            str(len(entry.data)),
            fate.value,
            asked,
            left[1] if len(left) > 1 else "",
        ]
        if self._payload:
            cells.append(entry.data.hex())
        return ",".join(cells) + "\n"
