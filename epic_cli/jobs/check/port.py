"""A port, another implementation: a program that reads packets and prints rows, on a leash.

It may crash, hang, never read, never stop writing, or leave children behind: whatever it does, it
is over after the time limit, and no more than a bound of its output is kept.
"""

from __future__ import annotations

import contextlib
import enum
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.replay.playback import CLOCKS, PACINGS, Timing
from epic_cli.engine.strategies import declaration
from epic_cli.jobs.check.differences import (
    Difference,
    NotRows,
    compare,
    drawn_rows,
    format_of,
    parse,
)
from epic_cli.jobs.check.run import draw, packets
from epic_cli.jobs.check.spec import (
    NUMBERS,
    BrokenCase,
    Case,
    CaseStatus,
    CheckSpec,
    Circumstance,
    DrawSpec,
    Outcome,
    Tolerances,
    circumstances,
)
from epic_cli.recordings import formats
from epic_cli.recordings.conversion import Changes, Conversion
from epic_cli.recordings.recordings import make_writer
from epic_cli.recordings.writing import Unwritable, number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


#: What is kept of what it says on stderr.
_SAID = 2000

_PIECE = 65536

#: How long its output is waited for when it has ended: another process may hold the pipe (s).
_GRACE = 0.3


class Ending(enum.Enum):
    """How it ended."""

    DONE = enum.auto()
    FAILED = enum.auto()  # with a status other than 0, or by a signal
    TIMEOUT = enum.auto()
    TOO_MUCH = enum.auto()
    NOT_STARTED = enum.auto()


class PortRun(NamedTuple):
    """What came of it: its output, the end of what it said, its status (below 0: a signal)."""

    ending: Ending
    output: bytes = b""
    said: bytes = b""
    status: int = 0


class Port(NamedTuple):
    """How it is started, and how many seconds a run may take."""

    command: tuple[str, ...]
    timeout: float = 10.0

    def run(
        self,
        given: bytes,
        variables: Mapping[str, str],
        most: int,
        stopped: Callable[[], bool] = bool,
    ) -> PortRun:
        """Gives it packets and takes what it prints, ``most`` bytes of that; until ``stopped``."""
        try:
            process = _start(self.command, {**os.environ, **variables})
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return PortRun(Ending.NOT_STARTED, said=(reason or str(error)).encode())
        deadline = time.monotonic() + self.timeout
        return _Leash(process, given, most, deadline, stopped).run()


def _start(command: Sequence[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    if sys.platform == "win32":
        raise OSError("ports need pipes that can be waited for: run epic in WSL")
    pipe = subprocess.PIPE
    return subprocess.Popen(  # noqa: S603 - the user's own command
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,
        env=dict(variables),
        start_new_session=True,  # so that its children end with it
    )


class _Leash:
    """One run: all three pipes at once, so that none can block another."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        given: bytes,
        most: int,
        deadline: float,
        stopped: Callable[[], bool],
    ) -> None:
        self._process = process
        self._given = memoryview(given)
        self._most = most
        self._deadline = deadline
        self._stopped = stopped
        self._output = bytearray()
        self._said = bytearray()
        self._heard = 0.0

    def run(self) -> PortRun:
        process = self._process
        ending: Ending | None = None
        try:
            with selectors.DefaultSelector() as pipes:
                for stream, event in (
                    (process.stdin, selectors.EVENT_WRITE),
                    (process.stdout, selectors.EVENT_READ),
                    (process.stderr, selectors.EVENT_READ),
                ):
                    assert stream is not None
                    if sys.platform != "win32":
                        os.set_blocking(stream.fileno(), False)
                    pipes.register(stream, event)
                ending = self._serve(pipes)
            if ending is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(self._deadline - time.monotonic(), 0.001))
                ending = self._ending()
        finally:
            if ending not in (Ending.DONE, Ending.FAILED):
                self._kill_children()
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        return PortRun(ending, bytes(self._output), bytes(self._said), process.returncode or 0)

    def _ending(self) -> Ending:
        status = self._process.returncode
        if status is None:
            return Ending.TIMEOUT
        return Ending.FAILED if status else Ending.DONE

    def _serve(self, pipes: selectors.BaseSelector) -> Ending | None:
        """Until its output has ended, or it has to be ended; None: it has ended by itself."""
        ended = 0.0
        while any(key.fileobj is not self._process.stdin for key in pipes.get_map().values()):
            now = time.monotonic()
            if now >= self._deadline or self._stopped():
                return Ending.TIMEOUT
            if self._process.poll() is not None and not pipes.select(0):
                ended = ended or now
                if now - max(ended, self._heard) > _GRACE:
                    self._kill_children()
                    return None
            for key, _ in pipes.select(min(self._deadline - now, 0.1)):
                if key.fileobj is self._process.stdin:
                    self._write(pipes)
                else:
                    self._read(pipes, key)
            if len(self._output) > self._most:
                return Ending.TOO_MUCH
        return None

    def _write(self, pipes: selectors.BaseSelector) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            written = os.write(stream.fileno(), self._given[:_PIECE])
            self._given = self._given[written:]
        except BlockingIOError:
            return
        except OSError:  # it reads no more, which it may
            self._given = self._given[:0]
        if not self._given:
            pipes.unregister(stream)
            with contextlib.suppress(OSError):
                stream.close()

    def _read(self, pipes: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        try:
            piece = os.read(key.fd, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        self._heard = time.monotonic()
        if not piece:
            pipes.unregister(key.fileobj)
        elif key.fileobj is self._process.stdout:
            self._output += piece
        else:
            self._said += piece
            del self._said[:-_SAID]

    def _kill_children(self) -> None:
        """All that is left of its session, which no other process is in."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL)


def check_port(case: Case, port: Port, spec: CheckSpec, stopped: Callable[[], bool]) -> Outcome:
    """Gives the program the case's packets; ours are the expected rows.

    The columns that it prints are compared. Raises ``BrokenCase``, ``StrategyFailed``.
    """
    ours = draw(case.drawing._replace(row_format="tsv"))
    given = feed_of(case.drawing, spec.feed)
    most = 1_000_000 + 8 * len(ours.rows)
    run = port.run(given, environment_of(case), most, stopped)
    outcome = Outcome(case.name, case.file, CaseStatus.HOLDS, case, rows=ours.rows.count(b"\n") - 1)
    if run.ending is not Ending.DONE:
        return outcome._replace(status=CaseStatus.PORT_FAILED, port=run)
    tolerances = spec.tolerances or case.tolerances
    try:
        difference, ignored = _held_against(case, ours.rows, run.output, tolerances)
    except NotRows as error:
        return outcome._replace(status=CaseStatus.PORT_FAILED, port=run, problem=str(error))
    if difference is None:
        return outcome._replace(ignored=ignored)
    return outcome._replace(
        status=CaseStatus.DIFFERS,
        difference=difference,
        ignored=ignored,
        timing=_timing_that_holds(case, run.output, tolerances),
        circumstances=tuple(_circumstances(case, difference)),
    )


def _timing_that_holds(case: Case, output: bytes, tolerances: Tolerances) -> Timing | None:
    """Another pacing or clock with which these would be the expected rows."""
    own = case.drawing.timing.in_force(_begins_with_arrival(case.drawing))
    for pacing in PACINGS:
        for clock in CLOCKS:
            timing = case.drawing.timing._replace(pacing=pacing, clock=clock)
            if (clock, pacing) == own:
                continue
            other = case._replace(drawing=case.drawing._replace(timing=timing))
            rows = draw(other.drawing._replace(row_format="tsv")).rows
            if _held_against(other, rows, output, tolerances)[0] is None:
                return timing
    return None


def _circumstances(case: Case, difference: Difference) -> list[Circumstance]:
    """What the packets did in the frame of the first row that differs."""
    if case.drawing.timing.in_force(_begins_with_arrival(case.drawing))[1] == "demo":
        return []
    group, index = difference.first
    before = group.pairs[index - 1].time if index else -math.inf
    names = [one for one in difference.columns if one not in (*NUMBERS, "status")]
    entity = group.names[names.index("entity")] if "entity" in names else None
    mine = [
        _arriving(packet, case.drawing.timing.latency)
        for block in packets(case.drawing, case.drawing.recordings[0])
        for packet in map(block.__getitem__, range(len(block)))
        if entity is None or packet.entity == entity
    ]
    return circumstances(mine, before, group.pairs[index].time)


def _begins_with_arrival(drawing: DrawSpec) -> bool:
    """Whether the first packet of the only recording has an arrival time."""
    for block in packets(drawing, drawing.recordings[0]):
        if len(block):
            return block.begins_with_arrival()
    return False


def _held_against(
    case: Case, ours: bytes, output: bytes, tolerances: Tolerances
) -> tuple[Difference | None, tuple[str, ...]]:
    """What differs, and which columns were not compared; raises ``NotRows``.

    Rows in which nothing is drawn need not be there.
    """
    found = format_of(output)
    if found is None:
        if output.strip():
            first = output.lstrip()[:60].partition(b"\n")[0].decode("utf-8", "backslashreplace")
            raise NotRows(1, f"{first!r} is not a row: print epic rows, CSV, TSV or JSON lines")
        found = "tsv"
        output = ours.partition(b"\n")[0] + b"\n"
    if output and not output.endswith(b"\n"):
        output += b"\n"
    theirs = parse(output, found)
    if found == "epic":
        epic = draw(case.drawing._replace(row_format="epic")).rows
        return compare(parse(epic, "epic"), theirs, tolerances, literal=True), ()
    table, theirs = drawn_rows(parse(ours, "tsv")), drawn_rows(theirs)
    difference = compare(table, theirs, tolerances)
    ignored = tuple(one for one in table.columns if one not in theirs.columns)
    return difference, ignored


# ---------------------------------------------------------------- what it is given


def feed_of(drawing: DrawSpec, packet_format: str) -> bytes:
    """The packets of the drawing's only recording, as they are drawn.

    Packet text has the velocities that strategies are given where the recording has none, and
    a ``latency`` has become arrival times. Raises ``BrokenCase``.
    """
    (recording,) = drawing.recordings
    taken = list(packets(drawing, recording))
    turns = any(block.turns() for block in taken)
    writer = make_writer(packet_format, delta=True, turns=turns)
    conversion = Conversion(Changes(fill_velocities=formats()[packet_format].needs_velocity))
    parts = [writer.header]
    for block in taken:
        for index, packet in conversion.packets(block):
            try:
                parts.append(writer.row(_arriving(packet, drawing.timing.latency)))
            except Unwritable as error:
                place = f"{recording.name}:{block.line(index)}"
                raise BrokenCase(place, f"{error}; choose another --feed") from error
    parts.append(writer.end())
    return b"".join(parts)


def _arriving(packet: Packet, latency: float | None) -> Packet:
    if latency is None or packet.arrival is not None:
        return packet
    return packet._replace(arrival=packet.time + latency)


def environment_of(case: Case) -> dict[str, str]:
    """The variables that say what is to be drawn, under the names of the options of ``epic``.

    ``EPIC_SETTINGS`` has every setting of the strategy, also those that are as they are by default.
    """
    (candidate,) = case.drawing.candidates
    timing = case.drawing.timing
    clock, pacing = timing.in_force(_begins_with_arrival(case.drawing))
    values = declaration(candidate.name).values(candidate.settings)
    settings = [f"{key}={_word(value)}" for key, value in values.items()]
    return {
        "EPIC_CASE": case.name,
        "EPIC_STRATEGY": "+".join([candidate.name, *settings]),
        "EPIC_SETTINGS": " ".join(settings),
        "EPIC_TICK": f"{timing.tick[0]}/{timing.tick[1]}",
        "EPIC_CLOCK": clock,
        "EPIC_PACING": pacing,
    }


def _word(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value).lower()
