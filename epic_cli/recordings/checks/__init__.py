"""What makes the meaning of a recording doubtful, judged by what was seen while it was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epic_cli.engine.measure import Survey, survey
from epic_cli.engine.packets import PacketBlock, Totals, Track
from epic_cli.engine.replay.arrival_order import WINDOW
from epic_cli.recordings.checks.sorting import sort_command
from epic_cli.recordings.checks.text import junk, misspelt
from epic_cli.recordings.findings import Finding
from epic_cli.recordings.read_spec import VELOCITY
from epic_cli.recordings.watch import LEAST

if TYPE_CHECKING:
    from epic_cli.recordings.watch import Watch

#: Stretches that have to agree before velocities are doubted, and packets where there are none.
_STRETCHES, _PACKETS = 5, 12

#: Velocities are the slope of the positions to about a tenth where they can be judged (``survey``
#: leaves out what bends too much): five times that is beyond noise and rounding.
_FACTOR, _SAME_WAY, _OTHER_WAY = 2.0, 0.9, 0.5

#: Another order of axes has to fit as a velocity does that is right.
_EXACT = 0.98

_UNITS = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_UNIT_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

#: Whole-numbered times with such steps are no seconds, but for the usual rates of slow loggers.
_LONG_STEP, _LOGGERS = 5, (5, 10, 15, 30, 60)

#: Unix times from 1998 to 2128, in seconds.
_UNIX = (9e8, 5e9)

#: The orders of axes that ``Survey.cosines`` is about, after their own.
_ORDERS = ("xzy", "yxz", "zyx", "yzx", "zxy")

#: Of an entity's packets so many share the time of the one before where entities are mixed; of
#: those whose times are too coarse, more.
_MIXED, _COARSE = 0.1, 0.25

#: Smooth movement goes twice as far in two steps as in one; what leaps back and forth, hardly.
_SMOOTH, _LEAPS, _SURELY = 1.4, 0.5, 0.1

#: So many packets of an entity show that its time goes down, or that its rows are shuffled.
_DOWN, _SHUFFLED = 0.9, 0.4

#: So many packets that are not whole, beside those that are, show that they need not be.
_PARTIAL, _FEW = 0.1, 3

#: So many numbers out of range are no accident.
_ODD = 0.1


def new_findings(watch: Watch) -> list[Finding]:
    """What is found in what has been watched so far, and has not been returned before.

    Nothing that was given is doubted.
    """
    return watch.fresh(_all(watch))


def _partial(watch: Watch, totals: Totals) -> Iterator[Finding]:
    """Packets that carry only what changed."""
    delta = watch.given is not None and watch.given.partial
    if not delta and totals.packets and watch.partial >= max(_FEW, _PARTIAL * totals.packets):
        yield Finding("E107", {"partial": watch.partial}, read="partial=on")


def _all(watch: Watch) -> list[Finding]:
    tracks, totals = watch.census.tracks, watch.census.totals
    found = [*watch.noted, *misspelt(watch.texts), *junk(watch)]
    found += _partial(watch, totals)
    found += _order(watch, tracks, totals)
    found += _time(tracks, totals)
    if totals.packets >= LEAST and not any(one.code in ("E101", "E102", "E204") for one in found):
        figures = survey(_sample(watch))
        found += _unit(figures, watch)
        found += _unix(figures, watch)
        found += _velocity(figures, watch)
    turns = watch.census.turns
    if turns or totals.zero_turns or watch.thorough:
        from epic_cli.recordings.checks.turns import turn_findings

        found += turn_findings(watch, turns, tracks)
    return found


def _sample(watch: Watch) -> PacketBlock:
    first, *others = (one.block for one in watch.samples)
    block = first.part(0, len(first))
    for one in others:
        block.extend(one)
    return block


# ------------------------------------------------------------------------- entities and their order


def _order(watch: Watch, tracks: list[Track], totals: Totals) -> Iterator[Finding]:
    """What the order of the packets, and of their places, shows."""
    if watch.ended and watch.packets >= LEAST and totals.entities == watch.packets:
        # before the end they may be the first packets of very many
        column = (watch.layout.places if watch.layout else {}).get("entity", "entity")
        facts = {"column": column, "packets": watch.packets}
        yield Finding("E102", facts, read=watch.read_with({"entity": ""}))
        return
    down = [one for one in tracks if one.downs > _DOWN * (one.packets - 1) and one.packets > 3]
    mixed = [one for one in tracks if one.downs > _SHUFFLED * one.packets and not one.arrivals]
    if down:
        yield _unsorted(watch, "down from packet to packet", down[0].line)
    elif mixed and mixed[0].packets >= LEAST:
        yield _unsorted(watch, "up and down, in no order", mixed[0].line)
    else:
        yield from _restarts(watch, tracks)
    if totals.overlaps and totals.runs == totals.entities > 1:
        done = "each is drawn by itself; rows come by time, or of a pipe in this order"
        yield Finding("E105", {"entities": totals.entities, "done": done}, (totals.overlap_line,))
    overtaken = sum(one.overtaken for one in tracks if one.arrivals == one.packets)
    if overtaken:
        beyond = max(one.late for one in tracks) > WINDOW
        command = sort_command(watch, "arrival") if beyond and watch.samples else ""
        yield Finding("E106", {"packets": overtaken, "command": command})
    yield from _mixed(watch, tracks)


def _unsorted(watch: Watch, how: str, line: int) -> Finding:
    command = sort_command(watch, "time") if watch.samples else ""
    return Finding("E104", {"how": how, "command": command}, (line,))


def _restarts(watch: Watch, tracks: list[Track]) -> Iterator[Finding]:
    again = [one for one in tracks if one.restarts]
    if not again:
        return
    from epic_cli.recordings.checks.apart import changed_at

    first = min(again, key=lambda one: one.restart_line)
    times = max(one.restarts for one in again)
    column = changed_at(watch.samples, first.restart_line)
    words = "" if column is None else f", where {column} changes"
    facts = {"times": "once" if times == 1 else f"{times} times", "column": words}
    read = "" if column is None else _joined(watch, column)
    yield Finding("E103", facts, (first.restart_line,), read)


def _mixed(watch: Watch, tracks: list[Track]) -> Iterator[Finding]:
    """Entities that are not told apart, or times with too few digits."""
    for one in tracks:
        moving = one.steps > 0 and one.packets > 3
        smooth = one.doubles > _SMOOTH * one.steps
        shared = one.same > max(1, _MIXED * one.packets)
        if moving and shared and smooth and one.same > _COARSE * one.packets:
            if one.first < one.last:
                yield Finding("E203", {"share": one.same / one.packets}, (one.same_line,))
            return
        slow = not one.velocities or one.driven < _LEAPS * one.steps
        leaps = slow and one.doubles < _LEAPS * one.steps and one.moves >= LEAST
        if not smooth and (shared or leaps) and one.moves > 1:
            from epic_cli.recordings.checks.apart import telling_apart

            columns = telling_apart(watch.samples, one.entity)
            seen = (
                f"{one.same:,} packets have the time of the one before, at another place"
                if shared
                else "the path leaps back and forth between two places"
            )
            names = " and ".join(columns)
            told = f"{names} tell{'s' if len(columns) == 1 else ''} them apart"
            facts = {"seen": seen, "column": told if columns else "no column tells them apart"}
            lines = (one.same_line - 1, one.same_line) if shared else ()
            read = _joined(watch, *columns) if columns else ""
            surely = leaps and one.doubles < _SURELY * one.steps
            if columns or one.same > _COARSE * one.packets or surely:
                yield Finding("E101", facts, lines, read)
            return


def _joined(watch: Watch, *columns: str) -> str:
    """The description that makes these columns part of the name of an entity."""
    layout = watch.layout or watch.given
    known = layout.places.get("entity") if layout is not None else None
    names = "+".join([*columns, *([known] if known else [])])
    return watch.read_with({"entity": names})


# -------------------------------------------------------------------------------- times and numbers


def _time(tracks: list[Track], totals: Totals) -> Iterator[Finding]:
    if totals.odd > max(2, _ODD * totals.packets):
        facts = {"packets": totals.odd, "shown": f"in line {totals.odd_line}"}
        yield Finding("E205", facts, (totals.odd_line,))
    begins = min((one.first for one in tracks), default=0.0)
    ends = max((one.last for one in tracks), default=0.0)
    most = max((one.packets for one in tracks), default=0)
    if begins == ends and most > 3 and any(one.moves for one in tracks):
        likely = ": a whole number that is read as a float?" if 0 < abs(begins) < 1e-30 else ""
        facts = {"packets": totals.packets, "time": begins, "likely": likely}
        yield Finding("E204", facts)


def _unit(figures: Survey, watch: Watch) -> Iterator[Finding]:
    """Times in a smaller unit: by the velocities, or else by the steps."""
    known = [one for one in (watch.given, watch.layout) if one is not None]
    if any(one.time_format or one.time_unit not in (None, "s") for one in known):
        return
    if watch.given is not None and watch.given.time_unit:
        return
    for name, size in _UNITS.items():
        if _judged(figures):
            fits = figures.cosines[0] >= _SAME_WAY and _near(figures.ratio, size)
        else:
            fits = (
                figures.packets >= _PACKETS
                and figures.moves > 0
                and figures.velocities == figures.zeros
                and figures.whole
                and _LONG_STEP <= figures.step < _LONG_STEP * size
                and figures.step not in _LOGGERS
            )
        if fits:
            facts = {"name": name, "unit": _UNIT_NAMES[name], "step": figures.step, "size": size}
            yield Finding("E201", facts, read=watch.read_with({"unit": name}))
            return


def _unix(figures: Survey, watch: Watch) -> Iterator[Finding]:
    unix = figures.packets > 0 and _UNIX[0] <= figures.latest <= _UNIX[1]
    if unix and (watch.given is None or watch.given.time_origin is None):
        yield Finding("E202", read=watch.read_with({"origin": "first"}))


def _velocity(figures: Survey, watch: Watch) -> Iterator[Finding]:
    without = watch.read_with(dict.fromkeys(VELOCITY, ""))
    if figures.zeros == figures.velocities >= _PACKETS and figures.moves >= _PACKETS - 2:
        yield Finding("E301", read=without)
        return
    if not _judged(figures):
        return
    own, *others = figures.cosines
    if own >= _SAME_WAY:
        if not any(_near(figures.ratio, size) for size in (1, *_UNITS.values())):
            yield Finding("E302", {"ratio": figures.ratio, "inverse": 1 / figures.ratio})
        return
    best = max(others)
    if best >= _EXACT and _near(figures.ratio, 1):
        order = _ORDERS[others.index(best)]
        yield Finding("E303", {"name": order, "axes": ", ".join(order)})
    elif own < _OTHER_WAY:
        yield Finding("E304", read=without)


def _judged(figures: Survey) -> bool:
    return figures.stretches >= _STRETCHES


def _near(ratio: float, size: float) -> bool:
    return size / _FACTOR <= ratio <= size * _FACTOR
