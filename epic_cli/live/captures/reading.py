"""The packets of a game in a capture, with the time of the capture as their arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from epic_cli.engine.packets import PacketBlock
from epic_cli.live.addresses import ReceivedDatagram
from epic_cli.live.captures.carried import Lost, carried
from epic_cli.live.captures.frames import Broken, frames
from epic_cli.live.counts import Refused, count_words
from epic_cli.live.ingest import Ingest

#: Datagrams that are decoded together.
_AT_ONCE = 512


class Capture:
    """Reads a capture; ``port``: only datagrams from it or to it. ``lost`` counts the others.

    ``broken`` says why the capture could not be read to its end; None: it was.
    """

    def __init__(self, ingest: Ingest, port: int | None = None) -> None:
        self._ingest = ingest
        self._port = port
        self.lost: Counter[Lost] = Counter()
        self.frames = 0
        self.broken: str | None = None

    def blocks(self, more: Callable[[int], bytes]) -> Iterator[PacketBlock]:
        """The packets of a capture; ``more`` reads so many bytes, and fewer only at the end."""
        waiting: list[ReceivedDatagram] = []
        first: int | None = None
        try:
            for frame in frames(more):
                self.frames += 1
                found = carried(frame)
                if isinstance(found, Lost):
                    self.lost[found] += 1
                    continue
                if self._port is not None and self._port not in (found.source[1], found.target[1]):
                    self.lost[Lost.OTHER] += 1
                    continue
                assert frame.time is not None
                first = frame.time if first is None else first
                seconds = (frame.time - first) / 1e9
                waiting.append(ReceivedDatagram(found.data, found.source, seconds))
                if len(waiting) == _AT_ONCE:
                    yield self._ingest.take(waiting)
                    waiting = []
        except Broken as broken:
            self.broken = str(broken)
        yield self._ingest.take(waiting)

    @property
    def refused(self) -> Counter[Refused]:
        """What was rejected in the datagrams that were read."""
        return self._ingest.counts.refused

    def words(self) -> str:
        """A summary of what was read and what was skipped, in lines."""
        counts = self._ingest.counts
        lines = f"{counts.packets:,} packets in {counts.datagrams:,} datagrams of {self.frames:,}"
        lines += " frames\n"
        lost = [f"{self.lost[one]:,} {one.value}" for one in Lost if self.lost[one]]
        if lost:
            lines += f"frames skipped: {', '.join(lost)}\n"
        words = count_words(counts.refused)
        lines += f"{words}\n" if words else ""
        return lines + (
            f"the capture is unreadable past here: {self.broken}\n" if self.broken else ""
        )
