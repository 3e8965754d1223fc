"""Watch a recording as it is read, for anything that makes its meaning doubtful.

Readers pass the packets block by block, and report the findings. Watching costs almost nothing: the
first packets are examined closely, then one block in sixteen is counted. The checks are loaded only
if there may be something to find.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from epic_cli.engine.packets import Census, PacketBlock
from epic_cli.engine.text import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from epic_cli.engine.contract import Packet
    from epic_cli.recordings import Reader
    from epic_cli.recordings.findings import RecordingFinding
    from epic_cli.recordings.lines import LineReader
    from epic_cli.recordings.read_spec import ReadSpec

#: Packets that are looked at closely: the first few give a live recording its findings early.
_SOON, _MOST = 64, 2048

#: With fewer packets only what is certain is reported.
LEAST = 12

#: This many entities are looked at one by one; and where every packet is counted.
_WATCHED, _COUNTED = 4096, 100_000

#: This many blocks are counted, and then one in this many.
_ALL, _EVERY = 16, 16


class UnreadCells:
    """A packet with the cells of its line, by column, that no field is read from."""

    __slots__ = ("cells", "line", "packet")

    def __init__(self, packet: Packet, line: int, cells: dict[str, str]) -> None:
        self.packet = packet
        self.line = line
        self.cells = cells


class WatchedBlock:
    """A block of packets that are examined closely, with their text.

    ``unread`` are its first packets, as far as they have been asked for: several checks ask.
    """

    def __init__(self, block: PacketBlock, reader: LineReader | None) -> None:
        self.block: PacketBlock = block
        self.reader: LineReader | None = reader
        self.unread: list[UnreadCells] = []


class RecordingMonitor:
    """The findings on one recording; each finding is reported once.

    ``thorough``: every packet is counted. ``name`` is the name of the recording's file.
    """

    def __init__(self, thorough: bool = False, name: str = "") -> None:
        self.name = name
        self.findings: list[RecordingFinding] = []
        self.census = Census(_COUNTED if thorough else _WATCHED)
        self.samples: list[WatchedBlock] = []
        self.given: ReadSpec | None = None
        self.layout: ReadSpec | None = None
        self.format = self.unpacked_from = ""
        self.junk = 0
        self.junk_line: tuple[int, bytes] = (0, b"")
        self.texts: list[bytes] = []
        #: Refused lines that lack a field.
        self.partial = 0
        #: Findings of whoever does something about what was found.
        self.noted: list[RecordingFinding] = []
        self.reader: LineReader | None = None
        self.thorough = thorough
        #: Whether the last packet has come.
        self.ended = False
        self.packets = 0
        self._blocks = 0
        self._shown: set[tuple[object, ...]] = set()

    def note_requested(self, layout: ReadSpec | None) -> None:
        """Note the user's layout, which is not doubted."""
        self.given = layout

    def note_reader(self, reader: Reader, name: str) -> None:
        """Note the reader and its format's name; the name of a packed format takes precedence."""
        self.format, self.unpacked_from = self.unpacked_from or name, ""
        self.reader = getattr(reader, "watched", None)

    def note_inferred(self, layout: ReadSpec) -> None:
        """Note the inferred layout."""
        self.layout = layout

    @property
    def current_layout(self) -> ReadSpec | None:
        """The layout by which the recording is read, inferred or given; None if there is none."""
        return self.reader.layout if self.reader is not None else self.layout or self.given

    @property
    def unit(self) -> str:
        """The unit of the recording's lengths."""
        from epic_cli.recordings import LENGTHS, METERS, list_formats

        layout = self.layout or self.given
        if layout is not None and (layout.geo or layout.factors is not None):
            return METERS
        known = list_formats().get(self.format)
        return LENGTHS if known is None or (layout and layout.scale is not None) else known.unit

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of findings that make all computed values doubtful."""
        if not self.findings:
            return ()
        from epic_cli.recordings.findings import list_doubts

        return list_doubts(self.findings)

    def observe(self, block: PacketBlock) -> bool:
        """Take the next packets as they were read.

        Return True if it is time to look for findings.
        """
        if block.junk:
            if not self.junk:
                at = next(at for at in range(len(block)) if block.line(at) == block.junk_line)
                self.junk_line = block.junk_line, block.line_text(at)
            self.junk += block.junk
        if block.refusals:
            from epic_cli.engine.refusals import Reason  # most recordings have nothing refused

            missing = Reason.FIELD_MISSING, Reason.KEY_MISSING
            self.partial += sum(
                refusal.reason in missing and self._has_any_number(refusal.text)
                for refusal in block.refusals
            )
        count = len(block)
        if not count:
            return False
        self._blocks += 1
        before, self.packets = self.packets, self.packets + count
        if before < _MOST:
            self._keep_sample(block, _MOST - before)
            if block.find_field is None and b"=" in block.text:
                self.texts.append(block.text)
        if not (self.thorough or self._blocks <= _ALL or self._blocks % _EVERY == 0):
            self.census.skip()
            return False
        self.census.observe(block)
        soon = before < _SOON <= self.packets or before < _MOST <= self.packets
        return soon and not self.thorough

    def _has_any_number(self, line: bytes) -> bool:
        """Return True if a refused line has a number for an axis of a position or velocity."""
        layout = self.reader.layout if self.reader is not None else None
        places = layout.places if layout is not None else {}
        if layout is None or not places or "*" in "".join(places.values()):
            return True
        cells = self.reader.split_cells(line) if self.reader is not None else {}
        for field in FIELDS[:-1]:
            try:
                number = float(cells.get(places.get(field, ""), "").replace(",", "."))
            except ValueError:
                continue
            if isfinite(number) and number != layout.missing:
                return True
        return False

    def _keep_sample(self, block: PacketBlock, most: int) -> None:
        """Keep the first ``most`` packets of a block for the checks, however long blocks are."""
        block.hold_text()
        part = block.part(0, most)
        part.text, part.extra_source = block.text, block.extra_source
        self.samples.append(WatchedBlock(part, self.reader))

    def read_with(self, entries: Mapping[str, str]) -> str:
        """Return the given description with these entries; empty if there is no layout."""
        from epic_cli.recordings.read_spec import INFERRED  # packet text starts without it

        if not any(sample.reader for sample in self.samples):
            return ""
        return (self.given or INFERRED).add_entries(entries)

    def end(self) -> bool:
        """Take the end of the recording; return True if there may be more findings."""
        self.ended = True
        if self.packets >= LEAST or self.junk or self.texts or self.noted or self.partial:
            return True
        return self.census.doubtful

    def take_fresh(self, findings: Iterable[RecordingFinding]) -> list[RecordingFinding]:
        """Return the findings that have not been returned before."""
        new = {finding.key: finding for finding in findings if finding.key not in self._shown}
        self._shown.update(new)
        self.findings += new.values()
        return list(new.values())
