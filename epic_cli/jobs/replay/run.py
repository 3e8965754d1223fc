"""A replay: pass recordings through a strategy, and write rows to any stream of bytes.

It does without click, so that it can start before the command line's parser is loaded.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import ConnectionTimes, Groups, PacketBlock
from epic_cli.engine.replay.arrival_order import sort_by_arrival
from epic_cli.engine.replay.playback import SampleStream, has_need_of_estimates, is_listening
from epic_cli.engine.strategies import get_declaration
from epic_cli.recordings import Unreadable
from epic_cli.recordings.opening import check_entities, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from epic_cli.engine.text import RowWriter
    from epic_cli.jobs.replay.spec import ReplaySpec
    from epic_cli.recordings.opening import Logs, ReadingLog, RecordingSource, RowSink

    #: Is given a recording by its name, and of how many entities rows were waiting.
    Interrupted = Callable[[str, int], object]


class SecondEntity(Unreadable):
    """An error: a recording has a second entity (at ``place``), but rows have no entity column."""

    def __init__(self, place: str, entity: str) -> None:
        self.place = place
        self.what = f"a second entity, {entity!r}, for which the epic format has no column"
        super().__init__(f"{place}: {self.what}")


class Rows:
    """The output of rows; the first packets determine its columns.

    ``begin`` makes the writer, with rotations or without.
    """

    def __init__(self, sink: RowSink, begin: Callable[[bool], RowWriter]) -> None:
        self.sink = sink
        self._begin = begin
        self._writer: RowWriter | None = None
        self._name = ""

    def begin_recording(self, name: str) -> None:
        """Begin the rows of a new recording."""
        self._name = name
        if self._writer is not None:
            self._writer.begin_file(name)

    def begin(self, turns: bool = False) -> RowWriter:
        """Return the writer, with its header written."""
        if self._writer is None:
            self._writer = self._begin(turns)
            self.sink.write(self._writer.header())
            self._writer.begin_file(self._name)
        return self._writer


def run(
    spec: ReplaySpec,
    sources: Sequence[RecordingSource],
    rows: Rows,
    log: Logs,
    progress: Sequence[Callable[[int], None] | None] = (),
    interrupted: Interrupted | None = None,
) -> bool:
    """Draw recordings one after the other; return whether any line was refused.

    ``progress`` gets the bytes read of each. Raises what reading raises, ``SecondEntity``,
    ``StrategyFailed``, and what the log raises for a refused line.
    """
    refused = False
    for number, source in enumerate(sources):
        rows.begin_recording(source.name)
        with log(source.name) as reporter:
            on_read = progress[number] if progress else None
            replay(spec, source, rows, reporter, on_read, interrupted)
        refused |= reporter.refused
    rows.begin()  # a header, where no packet has come
    return refused


def replay(
    spec: ReplaySpec,
    source: RecordingSource,
    rows: Rows,
    log: ReadingLog,
    progress: Callable[[int], None] | None = None,
    interrupted: Interrupted | None = None,
) -> None:
    """Draw a recording; raise the errors of ``run``."""

    def close_replay(block: PacketBlock) -> None:
        rows.sink.flush()
        log.refuse(block.refusals)

    several = spec.entity is None and spec.row_format != "epic"
    stream = spec.make_stream(by_time=several and is_grouped(source))
    found = read_blocks(source, spec.read, log, progress)
    found = order_blocks(source, found, stream, spec.strategy.name, spec.strict)
    if is_listening(spec.strategy.make()):
        found = connect_blocks(found, stream, is_grouped(source))
    drawn = select_packets(spec, source.name, found, log)
    waiting = None if interrupted is None else lambda count: interrupted(source.name, count)
    try:
        for samples, block in stream.draw(drawn, close_replay, waiting):
            writer = rows.begin(block.turns())
            rows.sink.write(writer.view(samples, block.entities))
        rows.sink.flush()
    except StrategyFailed as failure:
        if failure.packet_line:
            failure.place = f"{source.name}:{failure.packet_line}"
        raise


def is_grouped(source: RecordingSource) -> bool | Callable[[str], bool]:
    """Return whether the first entity may be drawn before all others.

    An answer, or a test by name.
    """
    path = source.path or source.name
    if not source.kept or not (path == "-" or os.path.isfile(path)):  # noqa: PTH113
        return source.kept

    def is_first(name: str) -> bool:
        from epic_cli.recordings.reading import is_possibly_grouped  # needed with entities only

        return is_possibly_grouped(sys.stdin.fileno() if path == "-" else path, name)

    return is_first


def connect_blocks(
    found: Iterable[PacketBlock], stream: SampleStream, is_first: bool | Callable[[str], bool]
) -> Iterator[PacketBlock]:
    """Yield the blocks of a recording.

    First pass all arrivals to the stream if entities are grouped. Grouped entities are drawn one
    after the other, each beside packets that stand further down. ``is_first`` tells by name whether
    the first entity may be drawn before all others.
    """
    held: list[PacketBlock] = []
    groups = Groups()
    blocks = iter(found)
    error: Exception | None = None
    for block in blocks:
        held.append(block)
        name = block.first_name()
        if name and not (is_first(name) if callable(is_first) else is_first):
            break
        if len(block) and not name:
            break
        if name:
            try:
                held.extend(blocks)
            except Exception as failed:  # what was read before it is drawn
                error = failed
    whole = ConnectionTimes()
    if any(groups.next_group(block) < len(block) for block in held):
        for block in held:
            whole.note(block)
        stream.connection = whole
    yield from held
    if error is not None:
        raise error
    yield from blocks


def order_blocks(
    source: RecordingSource,
    found: Iterable[PacketBlock],
    stream: SampleStream,
    strategy: str,
    strict: bool = False,
) -> Iterator[PacketBlock]:
    """Yield the blocks of a recording in the order in which the stream draws them.

    A recording sorted by send time is sorted by arrival (``strict``: up to the first refused line),
    where arrivals count. Logs of the local player are prepared for the strategy that draws them.
    Raises ``Unreadable``.
    """
    if source.kept and stream.pacing != "demo":
        found = sort_by_arrival(found, strict)
    if not (strategy and get_declaration(strategy).own_player):
        yield from found
        return
    from epic_cli.engine.replay.corrections import (  # few recordings are such logs
        NoCommonStates,
        iterate_as_drawn,
    )

    try:
        yield from iterate_as_drawn(found)
    except NoCommonStates as error:
        raise Unreadable(f"{source.name}: {error}") from error


def select_packets(
    spec: ReplaySpec, name: str, found: Iterable[PacketBlock], log: ReadingLog | None = None
) -> Iterator[PacketBlock]:
    """Yield the blocks with only the packets to be drawn; raise ``SecondEntity``.

    Report the first packet without a velocity to ``log``, if velocities are estimated.
    """
    block, second, before = PacketBlock(), None, ConnectionTimes()
    for block in found:
        if log is not None and block.lacks_velocity():
            if has_need_of_estimates(spec.strategy.make()):
                log.report_estimated()
            log = None
        if spec.entity is not None:
            block.keep_entity(spec.entity, before)
        elif spec.row_format == "epic":
            second = block.cut_at_second_entity()
        if second is not None:
            line, entity = second
            block.refusals = [refusal for refusal in block.refusals if refusal.line < line]
            yield block
            raise SecondEntity(f"{name}:{line}", entity)
        yield block
    if spec.entity is not None:
        check_entities(name, [spec.entity], block.entities)
