"""Checks of a port: feed a program packets, and compare its rows with a case's rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from epic_cli.engine.keys import REQUESTS
from epic_cli.engine.replay.playback import CLOCKS, PACINGS, Timing
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.check.differences import (
    Difference,
    NotRows,
    compare,
    parse,
    recognize_format,
    select_drawn,
)
from epic_cli.jobs.check.drawing import draw, iterate_packets
from epic_cli.jobs.check.outcome import (
    CaseStatus,
    Circumstance,
    Occasion,
    Outcome,
    find_circumstances,
    find_occasion,
)
from epic_cli.jobs.check.spec import NUMBERS, BrokenCase, Case, CheckSpec, DrawSpec, Tolerances
from epic_cli.recordings import list_formats
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.writing import Changes, Conversion, Unwritable, write_number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
from epic_cli.jobs.check.port import Ending, Port, PortRun

#: Advice on the output of a program under test.
PRINT_ROWS = "print epic rows, CSV, TSV or JSON lines"

#: Most lines that a program may print above its rows.
_BANNER = 4


def check_port(case: Case, port: Port, spec: CheckSpec, stopped: Callable[[], bool]) -> Outcome:
    """Compare a program's output for the packets of a case with the expected rows.

    The expected rows are those that epic draws or, if another program printed those of the case,
    that program's. Only columns that the program prints are compared. Raises ``BrokenCase``,
    ``StrategyFailed``.
    """
    ours = draw(case.drawing.replace_fields(row_format="tsv")).rows
    run = run_port(case, port, spec.feed, ours, stopped)
    outcome = Outcome(case.name, case.file, CaseStatus.HOLDS, case, rows=ours.count(b"\n") - 1)
    if run.ending is not Ending.DONE:
        return outcome._replace(status=CaseStatus.PORT_FAILED, port=run)
    tolerances = spec.tolerances or case.tolerances
    try:
        if case.printed_by:
            difference, ignored = _compare_printed(
                _read_expected_rows(case), run.output, tolerances
            )
        else:
            difference, ignored = _compare_output(case, ours, run.output, tolerances)
    except NotRows as error:
        return outcome._replace(status=CaseStatus.PORT_FAILED, port=run, problem=str(error))
    if difference is None:
        return outcome._replace(ignored=ignored)
    outcome = _add_difference(outcome, difference, ignored)
    if case.printed_by:
        return outcome
    return outcome._replace(
        timing=_find_timing(case, run.output, tolerances), made_by=port.find_code_command()
    )


def check_printed(case: Case) -> Outcome:
    """Compare epic's rows with the expected rows that another program printed.

    Raises ``BrokenCase``, ``StrategyFailed``.
    """
    ours = draw(case.drawing.replace_fields(row_format="tsv")).rows
    outcome = Outcome(case.name, case.file, CaseStatus.HOLDS, case, rows=ours.count(b"\n") - 1)
    printed = _read_expected_rows(case)
    try:
        difference, ignored = _compare_output(case, ours, printed, case.tolerances)
    except NotRows as error:
        raise BrokenCase(f"{case.expected}:{error.line}", error.what) from error
    if difference is None:
        return outcome._replace(ignored=ignored)
    outcome = _add_difference(outcome, difference, ignored)
    return outcome._replace(timing=_find_timing(case, printed, case.tolerances))


def run_port(
    case: Case, port: Port, feed: str, ours: bytes, stopped: Callable[[], bool] = bool
) -> PortRun:
    """Run a program on the packets of a case; its output may be a few times as long as ``ours``."""
    given = make_feed(case.drawing, feed)
    return port.run(given, make_environment(case), 1_000_000 + 8 * len(ours), stopped)


def _read_expected_rows(case: Case) -> bytes:
    """Return the expected rows of a case; raise ``BrokenCase`` where they cannot be read."""
    assert case.expected is not None
    try:
        with open(case.expected, "rb") as stream:  # noqa: PTH123
            return stream.read()
    except OSError as error:
        raise BrokenCase.from_unreadable(case.expected, error) from error


def _add_difference(outcome: Outcome, difference: Difference, ignored: tuple[str, ...]) -> Outcome:
    """Return the outcome with its difference, and with the packet events before the wrong rows."""
    assert outcome.case is not None
    about, found = _find_circumstances(outcome.case, difference)
    return outcome._replace(
        status=CaseStatus.DIFFERS,
        difference=difference,
        ignored=ignored,
        circumstances=tuple(about),
        occasion=found,
    )


def _compare_printed(
    expected: bytes, output: bytes, tolerances: Tolerances
) -> tuple[Difference | None, tuple[str, ...]]:
    """Compare two outputs of programs as ``_compare_output`` does; raise ``NotRows``."""
    tables = []
    for text in (expected, output):
        rows, found = split_output(text)
        if found is None:
            raise NotRows(1, f"there are no rows: {PRINT_ROWS}")
        tables.append(select_drawn(parse(rows, found)))
    there, here = tables
    difference = compare(there, here, tolerances, literal=tolerances.exact)
    return difference, tuple(column for column in there.columns if column not in here.columns)


def _find_timing(case: Case, output: bytes, tolerances: Tolerances) -> Timing | None:
    """Return the pacing or clock with which the program's rows would be right; None if none is."""
    own = case.drawing.replay.timing.in_force(_begins_with_arrival(case.drawing))
    for pacing in PACINGS:
        for clock in CLOCKS:
            timing = case.drawing.replay.timing._replace(pacing=pacing, clock=clock)
            if (clock, pacing) == own:
                continue
            other = case._replace(drawing=case.drawing.replace_fields(timing=timing))
            rows = draw(other.drawing.replace_fields(row_format="tsv")).rows
            if _compare_output(other, rows, output, tolerances)[0] is None:
                return timing
    return None


def _find_circumstances(
    case: Case, difference: Difference
) -> tuple[list[Circumstance], Occasion | None]:
    """Return the packet events in the frame of the first wrong row, and before most wrong rows."""
    if case.drawing.replay.timing.in_force(_begins_with_arrival(case.drawing))[1] == "demo":
        return [], None
    group, index = difference.first
    before = group.pairs[index - 1].time if index else -math.inf
    names = [column for column in difference.columns if column not in (*NUMBERS, "status")]
    entity = group.names[names.index("entity")] if "entity" in names else None
    mine = [
        _set_arrival(packet, case.drawing.replay.timing.latency)
        for block in iterate_packets(case.drawing, case.drawing.recordings[0])
        for packet in map(block.__getitem__, range(len(block)))
        if entity is None or packet.entity == entity
    ]
    times = [pair.time for pair in group.pairs]
    wrong = [pair.differs for pair in group.pairs]
    return find_circumstances(mine, before, times[index]), find_occasion(mine, times, wrong)


def _begins_with_arrival(drawing: DrawSpec) -> bool:
    """Return True if the first packet of the case's only recording has an arrival time."""
    for block in iterate_packets(drawing, drawing.recordings[0]):
        if len(block):
            return block.begins_with_arrival()
    return False


def _compare_output(
    case: Case, ours: bytes, output: bytes, tolerances: Tolerances
) -> tuple[Difference | None, tuple[str, ...]]:
    """Compare a program's output with our rows; return the difference and the columns left out.

    Rows in which nothing is drawn may be missing. Raises ``NotRows``.
    """
    output, found = split_output(output)
    if found is None:
        if output.strip():
            first = output.lstrip()[:60].partition(b"\n")[0].decode("utf-8", "backslashreplace")
            raise NotRows(1, f"{first!r} is not a row: {PRINT_ROWS}")
        found = "tsv"
        output = ours.partition(b"\n")[0] + b"\n"
    theirs = parse(output, found)
    if found == "epic":
        epic = draw(case.drawing.replace_fields(row_format="epic")).rows
        return compare(parse(epic, "epic"), theirs, tolerances, literal=True), ()
    table, theirs = select_drawn(parse(ours, "tsv")), select_drawn(theirs)
    difference = compare(table, theirs, tolerances)
    ignored = tuple(column for column in table.columns if column not in theirs.columns)
    return difference, ignored


def split_output(output: bytes) -> tuple[bytes, str | None]:
    """Split a program's output into its rows and their format.

    Drop lines that an engine prints first. Return all of an output without rows, and None.
    """
    rest = output
    for _ in range(_BANNER):
        if (found := recognize_format(rest)) is not None:
            return rest if rest.endswith(b"\n") else rest + b"\n", found
        rest = rest.partition(b"\n")[2].lstrip(b" \r\n")
    return output, None


# ---------------------------------------------------------------- what it is given


def make_feed(drawing: DrawSpec, packet_format: str) -> bytes:
    """Return the packets of the case's only recording, as the program reads them.

    Packet text gets the velocities that strategies get, if the recording has none, and a
    ``latency`` becomes arrival times. Raises ``BrokenCase``.
    """
    (recording,) = drawing.recordings
    taken = list(iterate_packets(drawing, recording))
    turns = any(block.turns() for block in taken)
    writer = make_writer(packet_format, REQUESTS if turns else ("delta",))
    conversion = Conversion(Changes(fill_velocities=list_formats()[packet_format].needs_velocity))
    parts = [writer.header]
    for block in taken:
        for index, packet in conversion.iterate_packets(block):
            try:
                parts.append(writer.format_row(_set_arrival(packet, drawing.replay.timing.latency)))
            except Unwritable as error:
                place = f"{recording.name}:{block.line(index)}"
                raise BrokenCase(place, f"{error}; choose another --feed") from error
    parts.append(writer.end())
    return b"".join(parts)


def _set_arrival(packet: Packet, latency: float | None) -> Packet:
    if latency is None or packet.arrival is not None:
        return packet
    return packet._replace(arrival=packet.time + latency)


def make_environment(case: Case) -> dict[str, str]:
    """Return the environment variables that tell a port what to draw.

    They have the names of epic's options. ``EPIC_SETTINGS`` has every setting of the strategy,
    defaults too.
    """
    (candidate,) = case.drawing.candidates
    timing = case.drawing.replay.timing
    clock, pacing = timing.in_force(_begins_with_arrival(case.drawing))
    values = get_declaration(candidate.name).values(candidate.settings)
    settings = [f"{key}={_write_value(value)}" for key, value in values.items()]
    return {
        "EPIC_CASE": case.name,
        "EPIC_STRATEGY": "+".join([candidate.name, *settings]),
        "EPIC_SETTINGS": " ".join(settings),
        "EPIC_TICK": f"{timing.tick[0]}/{timing.tick[1]}",
        "EPIC_CLOCK": clock,
        "EPIC_PACING": pacing,
    }


def _write_value(value: object) -> str:
    return write_number(value) if isinstance(value, float) else str(value).lower()
