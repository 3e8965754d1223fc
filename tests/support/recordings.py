"""Helpers for tests of the engine: recordings in; samples, rows and problems out."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pytest
from hypothesis import settings

from epic_cli import Packet, Sample
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay.playback import SampleStream, Timing
from epic_cli.engine.strategies import create
from epic_cli.engine.text import RowWriter, TextScanner
from epic_cli.recordings.wording import FrontEnd, Problem, word_refusal
from support.movements import Heedless
from support.oracle import Vector

if TYPE_CHECKING:
    from epic_cli.recordings import Reader

DEFAULT_TIMING = Timing()

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., None])

#: Whether a test tries all that it could, however long it takes.
EXHAUSTIVE = os.environ.get("EPIC_TESTS") == "exhaustive"


def examples(count: int) -> settings:
    """Return the settings of a hypothesis test with this many examples, without a time limit.

    An eighth of them, and twenty, are run unless EPIC_TESTS=exhaustive is in the environment.
    """
    if not EXHAUSTIVE:
        count = max(count // 8, 20)
    return settings(max_examples=count, deadline=None)


def seeds(many: int, few: int) -> range:
    """Return the seeds of random cases: ``few``, or ``many`` with EPIC_TESTS=exhaustive."""
    return range(many if EXHAUSTIVE else few)


def few_of(cases: Iterable[Case], few: int) -> list[Case]:
    """Return the first of the cases, which tell most; every one with EPIC_TESTS=exhaustive."""
    every = list(cases)
    return every if EXHAUSTIVE else every[:few]


def few_rows(few: int) -> Callable[[Test], Test]:
    """Return a decorator above ``parametrize`` that keeps ``few_of`` its rows."""

    def cut_table(test: Test) -> Test:
        *others, table = test.pytestmark  # type: ignore[attr-defined]
        names, rows = table.args
        kept = pytest.mark.parametrize(names, few_of(rows, few), **table.kwargs).mark
        test.pytestmark = [*others, kept]  # type: ignore[attr-defined]
        return test

    return cut_table


#: For a long search of which other tests, and programs of ``endurance``, have the kind.
weekly = pytest.mark.skipif(not EXHAUSTIVE, reason="runs with EPIC_TESTS=exhaustive, each week")


def cut(data: bytes, size: int) -> Iterator[bytes]:
    """Yield pieces of this many bytes."""
    for begin in range(0, len(data), size):
        yield data[begin : begin + size]


class Drawn(NamedTuple):
    """The result of a replay: rows in a format, and the refused lines."""

    rows: bytes
    problems: list[Problem]


def draw(
    pieces: bytes | Iterable[bytes],
    row_format: str = "epic",
    *,
    reader: "Reader | None" = None,
    timing: Timing = DEFAULT_TIMING,
    **values: Any,
) -> Drawn:
    """Replay a recording (packet text by default) that arrives in pieces."""
    reader = TextScanner() if reader is None else reader
    writer = RowWriter(row_format)
    problems: list[Problem] = []
    rows = [
        writer.rows(samples, reader.entities)
        for samples in _replay(reader, pieces, timing, values, problems)
    ]
    return Drawn(b"".join(rows), problems)


def draw_samples(
    pieces: bytes | Iterable[bytes],
    *,
    reader: "Reader | None" = None,
    timing: Timing = DEFAULT_TIMING,
    **values: Any,
) -> list[Sample]:
    """Replay a recording without wrong lines; return the samples."""
    reader = TextScanner() if reader is None else reader
    problems: list[Problem] = []
    found = [
        sample
        for samples in _replay(reader, pieces, timing, values, problems)
        for sample in samples.samples(reader.entities)
    ]
    assert not problems, problems
    return found


def _replay(
    reader: "Reader",
    pieces: bytes | Iterable[bytes],
    timing: Timing,
    values: dict[str, Any],
    problems: list[Problem],
) -> Iterator[SampleBlock]:
    stream = SampleStream(lambda: create("epic", values), timing)
    for block in scan_all(reader, pieces):
        yield from stream.feed(block)
        problems += problems_of(block)
    yield from stream.finish()


def scan_all(reader: "Reader", pieces: bytes | Iterable[bytes]) -> Iterator[PacketBlock]:
    """Return the blocks that a reader makes of a recording, and its end separately."""
    for piece in (pieces,) if isinstance(pieces, bytes) else pieces:
        yield reader.scan(piece)
    yield reader.scan(b"", final=True)


def scan_packets(reader: "Reader", pieces: bytes | Iterable[bytes]) -> list[Packet]:
    """Return all packets of a recording."""
    return [block[index] for block in scan_all(reader, pieces) for index in range(len(block))]


def scan_problems(reader: "Reader", pieces: bytes | Iterable[bytes]) -> list[Problem]:
    """Return all refused lines of a recording, in words."""
    return [problem for block in scan_all(reader, pieces) for problem in problems_of(block)]


def problems_of(block: PacketBlock) -> list[Problem]:
    """Return the refused lines of a block, in the words of the command line."""
    return [word_refusal(refusal, FrontEnd.COMMAND_LINE) for refusal in block.refusals]


def count_samples(stream: SampleStream, packet: Packet) -> tuple[int, float]:
    """Return the number of samples that packets make, and the time of the last (NaN if none).

    Millions of samples are only counted; the last one is in the block that is not full.
    """
    block = PacketBlock()
    block.append(packet)
    count, last = 0, math.nan
    for samples in chain(stream.feed(block), stream.finish()):
        count += len(samples)
        if len(samples) < samples.capacity:
            last = samples.samples(block.entities)[-1].time
    return count, last


class Puppet(Heedless):
    """A strategy that shows given positions one after the other, finite or not."""

    declaration = Declaration(name="puppet", summary="", family="", takes_any_number=True)

    def __init__(self, shown: Iterable[tuple[Vector, Vector]]) -> None:
        self.shown = iter(shown)

    def read(self, at: float) -> Sample:
        """Return the next position."""
        position, velocity = next(self.shown)
        return Sample(at, position, velocity, "interpolated")
