"""The rows of a case, byte for byte those of ``epic replay``, and its packets."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay.arrival_order import by_arrival
from epic_cli.engine.replay.corrections import as_drawn
from epic_cli.engine.replay.playback import SampleStream
from epic_cli.engine.text import RowWriter
from epic_cli.engine.text.widths import some
from epic_cli.jobs.check.case import BrokenCase, DrawSpec, Recording
from epic_cli.recordings import Unreadable
from epic_cli.recordings.recordings import BINARY, read
from epic_cli.recordings.sources import BLOCK_SIZE

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.recordings.watch import Watch

#: The column that names the strategy, where there are several.
STRATEGY_COLUMN = "strategy"

#: More than so many bytes of rows are no test.
MOST_ROWS = 200_000_000


class Drawn(NamedTuple):
    """Rows as they are written, and how many lines of the recording were refused."""

    rows: bytes
    refused: int


def draw(drawing: DrawSpec) -> Drawn:
    """The rows of all strategies for all recordings.

    Raises ``BrokenCase``, and ``StrategyFailed`` where a strategy's own code failed.
    """
    column = STRATEGY_COLUMN if drawing.several else drawing.file_column
    rows = _Rows(drawing.row_format, column)
    refused = 0
    for candidate in drawing.candidates:
        for recording in drawing.recordings:
            rows.file = candidate.label if drawing.several else recording.name
            refused += _draw(drawing, candidate, recording, rows)
    rows.write(SampleBlock(), PacketBlock())  # a header, where no packet has come
    return Drawn(rows.out.getvalue(), refused)


class _Rows:
    """The rows of a case; its first packets decide which columns there are."""

    def __init__(self, row_format: str, file_column: str | None) -> None:
        self.out = io.BytesIO()
        self.file = ""
        self._make = partial(RowWriter, row_format, file_column=file_column)
        self._writer: RowWriter | None = None

    def write(self, samples: SampleBlock, block: PacketBlock) -> None:
        """Adds the rows of a block."""
        if self._writer is None:
            self._writer = self._make(turns=block.turns())
            self.out.write(self._writer.header())
        self._writer.begin_file(self.file)
        self.out.write(self._writer.rows(samples, block.entities))


def _draw(drawing: DrawSpec, candidate: StrategySpec, recording: Recording, rows: _Rows) -> int:
    stream = SampleStream(candidate.make, drawing.timing, drawing.strict, by_time=True)
    refused = 0
    block = None
    try:
        found = packets(drawing, recording)
        if drawing.timing.pacing != "demo":
            found = by_arrival(found, drawing.strict)
        for block in as_drawn(candidate.name, found):
            for samples in stream.feed(block):
                rows.write(samples, block)
                if rows.out.tell() > MOST_ROWS:
                    raise BrokenCase(
                        recording.name,
                        f"more than {MOST_ROWS:,} bytes of rows: choose a longer tick",
                    )
            refused += _refused(drawing, recording, block)
        if block is not None:
            for samples in stream.finish():
                rows.write(samples, block)
    finally:
        stream.close()
    return refused


def _refused(drawing: DrawSpec, recording: Recording, block: PacketBlock) -> int:
    """How many lines were refused; with ``strict`` none may be."""
    if drawing.strict and block.refusals:
        from epic_cli.recordings.wording import FrontEnd, in_words

        first = in_words(block.refusals[0], FrontEnd.COMMAND_LINE)
        place = f"{recording.name}:{first.line}:{first.column}"
        raise BrokenCase(place, f"{first.what}; expected {first.expected}")
    return len(block.refusals)


def packets(
    drawing: DrawSpec, recording: Recording, watch: Watch | None = None
) -> Iterator[PacketBlock]:
    """The packets that are drawn, of all that ``watch`` observes; raises ``BrokenCase``."""
    entities: set[str] = set()
    with _open(drawing, recording, watch) as blocks:
        for block in blocks:
            if watch is not None:
                watch.observe(block)
            entities.update(block.entities.name(one) for one in range(len(block.entities)))
            if drawing.entity is not None:
                block.keep_entity(drawing.entity)
            elif drawing.row_format == "epic":
                second = block.cut_at_second_entity()
                if second is not None:
                    raise BrokenCase(
                        f"{recording.name}:{second[0]}",
                        f"a second entity, {second[1]!r}, for which the epic format has no column:"
                        " give entity, or another format",
                    )
            yield block
    if drawing.entity is not None and drawing.entity not in entities:
        there = some(map(repr, sorted(entities))) or "none"
        raise BrokenCase(
            recording.name, f"no packet of entity {drawing.entity!r}; there are {there}"
        )


@contextmanager
def _open(
    drawing: DrawSpec, recording: Recording, watch: Watch | None
) -> Iterator[Iterator[PacketBlock]]:
    if watch is not None:
        watch.requested(drawing.layout)
    given = drawing.input_format, drawing.layout
    try:
        if recording.path is None:
            content = io.BytesIO(recording.content)
            some = lambda: content.read(BLOCK_SIZE)  # noqa: E731
            yield read(some, *given, watch=watch)
            return
        descriptor = os.open(recording.path, os.O_RDONLY | BINARY)
        try:
            yield read(descriptor, *given, watch=watch)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise BrokenCase.unreadable(recording.name, error) from error
    except Unreadable as error:
        raise BrokenCase(recording.name, str(error)) from error
