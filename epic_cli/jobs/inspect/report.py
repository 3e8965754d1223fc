"""An inspection as a report, and findings of recordings as all reports show them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.packets import Track, angles
from epic_cli.jobs.inspect.run import HELD
from epic_cli.metrics.arrays import LARGEST
from epic_cli.metrics.digits import format_count, format_number, format_seconds, replace_unknown
from epic_cli.network.link import are_clocks_apart
from epic_cli.recordings.findings import RecordingFinding, Severity
from epic_cli.recordings.wording import FrontEnd
from epic_cli.show import report as model

if TYPE_CHECKING:
    from rich.text import Text

    from epic_cli.jobs.inspect.run import Inspection
    from epic_cli.metrics.arrays import Floats

#: A gap is named if it is this many times as long as nearly all (95 %) others.
GAP = 1.5

#: Most entities with a line of their own.
_ENTITIES = 12

#: Columns and lines of a picture.
_ACROSS, _DOWN = 48, 10

#: Description of how the facts are found.
METHOD = (
    f"Facts of time and speed are of the first {HELD:,} packets, entity by entity: 'sent' is the"
    " median time between packets, even where 9 of 10 are within 10 % of it; 'speed' is that of the"
    " positions from packet to packet, without teleports.",
    "Findings are of all packets; 'epic explain CODE' explains one.",
)

#: Words in front of a finding that is no error.
_WEIGHTS = {Severity.WARNING: "warning ", Severity.NOTE: "note "}


def report(found: Inspection, command: str = "epic inspect") -> model.Report:
    """Return the report of an inspection.

    Verdict, facts, first packets, and findings, worst first.
    """
    parts: list[model.Part] = [model.ReportFinding("", "", list(_list_facts(found)))]
    if found.entities:
        parts.append(_make_entity_table(found.entities, found.all_entities))
    if found.head:
        parts.append(_make_head_table(found))
    if any(len(path) > 1 for path in found.paths.values()):
        parts.append(draw_picture(found.paths))
    parts += [describe_finding(row, command, found.name) for row in found.findings]
    grave = ", ".join(found.doubts)
    warnings = sum(row.severity is Severity.WARNING for row in found.findings)
    verdict = f"{format_count(warnings, 'warning')}, below." if warnings else "Nothing looks wrong."
    if found.findings and not warnings:
        verdict = f"Nothing looks wrong; {format_count(len(found.findings), 'note')}, below."
    verdict = f"In doubt: {grave}." if grave else verdict
    return model.Report(
        title=f"{found.name}: {format_count(found.packets, 'packet')}",
        verdict=[verdict if found.packets else "No packet could be read."],
        parts=parts,
        method=METHOD,
        data=model.Data(records=lambda: [record(found)]),
    )


def describe_finding(one: RecordingFinding, command: str, name: str) -> model.ReportFinding:
    """Return a finding of a recording, with the command line that corrects it."""
    from shlex import quote

    cure = one.write_cure(FrontEnd.COMMAND_LINE)
    ready = f"{command} {cure} {quote(name)}" if one.read else one.facts.get("command", "")
    lines = ", ".join(map(str, one.lines))
    looked = "line" if len(one.lines) == 1 else "lines"
    terms = [(looked, lines), ("try" if ready else "cure", ready or cure)]
    title = f"{_WEIGHTS.get(one.severity, '')}{one.code} {one.title}"
    what = f"{one.what[:1].upper()}{one.what[1:]}."
    method = [("means", one.kind.explanation)]
    return model.ReportFinding(title, what, [term for term in terms if term[1]], method=method)


def _list_facts(found: Inspection) -> Iterator[tuple[str, str]]:
    begin, end = found.span
    how = found.read or ("as packet text" if found.format == "text" else "by its own names")
    yield "read as", f"{found.format}, {how}"
    if found.layout is not None and found.layout.conversions:
        yield "units", found.layout.conversions
    if not found.packets:
        return
    yield "time", f"{begin:.6g} to {end:.6g} s; {_describe_clocks(found)}"
    if found.step is not None:
        step, interval = found.step, found.interval or found.step.middle
        rate = f"{1 / interval:.3g} Hz, a packet every {format_seconds(interval)}"
        spread = f"{format_seconds(step.low)} to {format_seconds(step.high)}"
        pace = f"uneven, {spread}" if found.interval is None else "even"
        gap, usual = found.longest_gap or 0.0, found.interval or step.high
        longest = f"; longest gap {format_seconds(gap)}" if gap > GAP * usual else ""
        yield "sent", f"{rate}, {pace}{longest}"
    if found.speeds is not None:
        words = (
            f"median {format_number(found.speeds.middle)}, at most"
            f" {format_number(found.speeds.high)} a second"
        )
        if found.given is not None:
            words += (
                f" by the positions; {format_number(found.given.middle)} and"
                f" {format_number(found.given.high)} by the velocities"
            )
        else:
            words += "; no velocities are given"
        yield "speed", words
    if found.turns:
        yield "rotation", _describe_rotation(found)
    if found.all_entities > len(found.entities):
        of = f"{found.all_entities:,} entities"
        yield "judged", f"the {len(found.entities):,} with most packets of {of}"
    yield "arrival", _describe_arrivals(found)
    teleports, numbers = (
        sum(getattr(row, name) for row in found.entities) for name in ("teleports", "sequences")
    )
    marks = [format_count(teleports, "teleport")] if teleports else []
    marks += [format_count(numbers, "sequence number")] if numbers else []
    yield "marks", ", ".join(marks) or "no teleports, no sequence numbers"
    names = ", ".join(name for name, _ in found.unread)
    yield "carried", names or "no other key or column"
    if found.first_refused is not None:
        first = found.first_refused.line
        yield "refused", f"{format_count(found.refused, 'line')}, the first is line {first}"


def _describe_rotation(found: Inspection) -> str:
    places = found.layout.places if found.layout is not None else {}
    kinds = {"qx": "a quaternion", "m00": "a matrix", "rx": "a rotation vector", "yaw": "angles"}
    kind = next((words for field, words in kinds.items() if field in places), "")
    if kind == "angles" and found.layout is not None:
        units = {"rad": "radians"}.get(found.layout.angles or "", "degrees")
        kind = f"angles in {units}, {found.layout.euler or 'zyx'}"
    low = min(turn.yaw_low for turn in found.turns)
    high = max(turn.yaw_high for turn in found.turns)
    rate = math.degrees(max(turn.rate for turn in found.turns))
    count = sum(turn.packets for turn in found.turns)
    some = "" if count == found.packets else f"{count:,} packets have one"
    spins = [turn for turn in found.turns if turn.spins]
    given = "no spins are given"
    if spins:
        ratio = sum(spin.ratio * spin.spins for spin in spins) / sum(spin.spins for spin in spins)
        given = f"spins are {ratio:.3g} times as fast as it turns"
    words = (kind, some, f"yaw {low:.4g} to {high:.4g}°", f"at most {rate:.4g}°/s", given)
    return "; ".join(filter(None, words))


def _describe_clocks(found: Inspection) -> str:
    layout, (begin, _) = found.layout, found.span
    unit = (layout.time_unit if layout is not None else None) or "s"
    if any(entity.restarts for entity in found.entities):
        kind = "it starts over"
    elif layout is not None and layout.time_origin == "first":
        kind = "dates" if unit == "iso" else "Unix time"
        begins = "begin with the first arrival" if layout.arrival_apart else "begin at 0"
        kind = f"{kind}, moved to {begins}"
    elif 9e8 < begin < 5e9:
        kind = "Unix time"
    else:
        kind = "from 0" if abs(begin) < 1 else "a clock of its own"
    return kind if unit in ("s", "iso") else f"{kind}, read in {unit}"


def _describe_arrivals(found: Inspection) -> str:
    if not found.arrivals:
        return "no arrival times"
    delays = [entity.delays for entity in found.entities if entity.arrivals]
    low, high = min(low for low, _ in delays), max(high for _, high in delays)
    clock = "another clock than the times" if are_clocks_apart(low) else "one clock"
    some = "" if found.arrivals == found.packets else f"{found.arrivals:,} packets have one: "
    return f"{some}{format_seconds(low)} to {format_seconds(high)} after the times: {clock}"


def _make_entity_table(tracks: tuple[Track, ...], count: int) -> model.Table:
    shown = tracks[:_ENTITIES]
    rest = max(count, len(tracks)) - len(shown)
    size = [
        " x ".join(format_number(high - low) for low, high in zip(row.low, row.high, strict=True))
        for row in shown
    ]
    columns = [
        model.Column("entity", [row.entity or "(one)" for row in shown], text=True),
        model.Column("packets", [f"{row.packets:,}" for row in shown], 4, right=True),
        model.Column("from", [f"{row.first:.6g}" for row in shown], 1, right=True),
        model.Column("to", [f"{row.last:.6g} s" for row in shown], 3, right=True),
        model.Column("size", size, 2, right=True),
    ]
    if not all(row.moves for row in shown):
        columns.append(model.Column("", ["" if row.moves else "never moves" for row in shown]))
    if rest:
        extra = [f"and {rest:,} more", *[""] * (len(columns) - 1)]
        columns = [
            replace(one, cells=[*one.cells, cell]) for one, cell in zip(columns, extra, strict=True)
        ]
    return model.Table(columns)


#: Weights of the columns of the first packets that may be left out.
_IMPORTANCE = {
    name: weight
    for weight, name in enumerate(
        ("roll", "pitch", "yaw", "vz", "vy", "vx", "arrival", "entity", "z"), start=1
    )
}


def _make_head_table(found: Inspection) -> model.Table:
    packets = found.head
    turns = [() if packet.rotation is None else angles(packet.rotation) for packet in packets]
    fields = {
        "time": [_write_time(packet.time) for packet in packets],
        **{axis: [f"{row.position[at]:.6g}" for row in packets] for at, axis in enumerate("xyz")},
        **{
            f"v{axis}": [
                "" if row.velocity is None else f"{row.velocity[at]:.6g}" for row in packets
            ]
            for at, axis in enumerate("xyz")
        },
        **{
            name: [f"{turn[at]:.6g}" if turn else "" for turn in turns]
            for at, name in enumerate(("yaw", "pitch", "roll"))
        },
        "arrival": ["" if row.arrival is None else _write_time(row.arrival) for row in packets],
        "entity": [packet.entity for packet in packets],
    }
    return model.Table(
        [
            model.Column(name, cells, _IMPORTANCE.get(name, model.KEPT), right=name != "entity")
            for name, cells in fields.items()
            if any(cells)
        ]
    )


def _write_time(time: float) -> str:
    """Return a time (s) with its milliseconds, however large it is."""
    return f"{time:.6g}" if abs(time) < 1000 else f"{round(time, 4):.15g}"


def draw_picture(paths: dict[str, Floats]) -> model.Figure:
    """Return a chart of the entities' paths, seen along the shortest axis."""

    def draw() -> Text | None:
        from rich.text import Text

        from epic_cli.show.chart import Canvas, ChartLine

        drawn = [path[(np.abs(path) < LARGEST).all(axis=1)] for path in paths.values()]
        known = np.concatenate(drawn)
        if not len(known):
            return None
        low, size = known.min(axis=0), np.ptp(known, axis=0)
        first, second = sorted(int(axis) for axis in np.argsort(-size, kind="stable")[:2])
        scale = max(size[first], size[second] * _ACROSS / (2 * _DOWN)) or 1.0
        canvas = Canvas(_ACROSS, _DOWN, braille=True)
        for number_, path in enumerate(drawn):
            across = (path[:, first] - low[first]) / scale
            up = (path[:, second] - low[second]) / scale * _ACROSS / (2 * _DOWN)
            # colors are those of strategies
            style = "bright_black" if number_ % 2 else "bold"
            canvas.draw(across, up, ChartLine("", across, up, style, "*"))
        return Text("\n").join(line for line in canvas.render_lines() if line.plain.strip())

    return model.Figure("The paths from above.", draw, lambda _: "")


def record(found: Inspection) -> dict[str, Any]:
    """Return an inspection as a record for programs."""
    begin, end = found.span
    return {
        "recording": found.name,
        "format": found.format,
        "read": found.read,
        "packets": found.packets,
        "refused": found.refused,
        "begin": begin,
        "end": end,
        "interval": found.interval,
        "step": found.step and found.step._asdict(),
        "longest_gap": found.longest_gap,
        "speed": found.speeds and found.speeds._asdict(),
        "given_speed": found.given and found.given._asdict(),
        "clock": _describe_clocks(found),
        "turns": [turn._asdict() for turn in found.turns],
        "entities": [
            {
                "entity": entity.entity,
                "packets": entity.packets,
                "begin": entity.first,
                "end": entity.last,
                "moves": entity.moves > 0,
                "low": list(entity.low),
                "high": list(entity.high),
                "arrivals": entity.arrivals,
                "delays": [replace_unknown(value) for value in entity.delays],
                "teleports": entity.teleports,
                "sequences": entity.sequences,
            }
            for entity in found.entities
        ],
        "unread": dict(found.unread),
        "head": [row._asdict() for row in found.head],
        "findings": [row.record() for row in found.findings],
        "doubts": list(found.doubts),
    }
