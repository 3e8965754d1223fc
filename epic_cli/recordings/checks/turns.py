"""What makes the rotations of a recording doubtful."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from epic_cli.recordings.checks.apart import unread
from epic_cli.recordings.findings import Finding
from epic_cli.recordings.names.turns import ANGLES, proposals
from epic_cli.recordings.watch import LEAST

if TYPE_CHECKING:
    from epic_cli.engine.packets import Track, Turning
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.watch import Watch

#: A w taken for x is at least this, and the x taken for w at most that.
_FIRST, _NEVER = 0.8, 0.6

#: What turns all the way round is sometimes so far from how it was at first, in radians.
_ROUND = 3.0

#: Angles in radians: at most a turn, and at least one of them between the greatest and the least.
_TURN, _RADIAN = 6.2832, 1.0

#: Angles in degrees: a turn, a leap from its end to its begin, and what nobody does in radians a
#: second for long.
_CIRCLE, _LEAP, _FASTEST = 360.0, 300.0, 20.0

#: The least side of the box of what turns, as a share of the greatest.
_ABOUT = 0.3

#: Spins agree with rotations so well; another unit is so far off.
_SAME_WAY, _EXACT, _FACTOR = 0.9, 0.98, 2.0

_STILL = 1e-9

_NO_SPIN = {"wx": "", "wy": "", "wz": ""}


def turn_findings(watch: Watch, turns: list[Turning], tracks: list[Track]) -> Iterator[Finding]:
    """What is found in the rotations; what is only worth knowing, where all packets are counted."""
    layout = _layout(watch)
    places = layout.places if layout is not None else {}
    totals = watch.census.totals
    if totals.zero_turns:
        yield Finding("E509", {"packets": totals.zero_turns}, (totals.zero_line,))
    if not turns:
        yield from _not_read(watch)
        return
    judged = [one for one in turns if one.packets >= LEAST]
    uneven = [one for one in turns if one.uneven]
    if uneven:
        line = min(one.uneven_line for one in uneven)
        yield Finding("E501", {"packets": sum(one.uneven for one in uneven)}, (line,))
    turning = any(one.angle > _STILL for one in judged)
    about = {one.entity for one in tracks if _goes_about(one)}
    upright = all(one.x >= _FIRST and one.w <= _NEVER for one in judged)
    rolls = all(  # about z alone becomes a roll, whose yaw never changes; a pitch's would past 90
        one.entity in about and one.angle >= _ROUND and one.yaw_high - one.yaw_low <= _STILL
        for one in judged
    )
    if turning and (upright or rolls):
        yield Finding("E502", read=_w_first(watch, places))
    if places.get("yaw") and layout is not None and layout.angles is None:
        yaws = [one for one in judged if one.entity in about]
        small = all(one.yaw_low >= -_TURN and one.yaw_high <= _TURN for one in turns)
        if yaws and small and any(one.yaw_high - one.yaw_low > _RADIAN for one in yaws):
            yield Finding("E504", read=watch.read_with({"angles": "rad"}))
    elif places.get("yaw") and layout is not None and layout.angles == "rad":
        yield from _degrees(watch, places["yaw"])
    yield from _spins(watch, [one for one in turns if one.spins >= LEAST], places)
    if watch.thorough:
        flips = sum(one.flips for one in turns)
        written = "qx" in places or any(b"rotation=" in text for text in watch.texts)
        if flips and written:  # of angles each turn beyond 180 degrees is one
            yield Finding("E507", {"times": "once" if flips == 1 else f"{flips:,} times"})
        moving = {one.entity for one in tracks if one.moves}
        still = [one for one in judged if one.angle <= _STILL and one.entity in moving]
        if still:
            more = f" and of {len(still) - 1:,} more" if len(still) > 1 else ""
            yield Finding("E508", {"entities": (still[0].entity or "the entity") + more})


def _layout(watch: Watch) -> ReadSpec | None:
    return watch.reader.layout if watch.reader is not None else watch.layout or watch.given


def _goes_about(track: Track) -> bool:
    sides = sorted(high - low for low, high in zip(track.low, track.high, strict=True))
    return sides[-1] > 0 and sides[-2] > _ABOUT * sides[-1]


def _degrees(watch: Watch, column: str) -> Iterator[Finding]:
    """Whether the yaw of an entity, in radians, leaps by whole turns or turns at an absurd rate."""
    found: dict[str, list[tuple[float, float]]] = {}
    for block, reader in watch.samples:
        if reader is None:
            return
        for index in range(len(block)):
            cell = reader.cells_of(block.line_text(index)).get(column, "").replace(",", ".")
            with suppress(ValueError):
                state = block[index].time, float(cell)
                found.setdefault(block[index].entity, []).append(state)
    for states in found.values():
        low, high = (pick(yaw for _, yaw in states) for pick in (min, max))
        if len(states) < LEAST or high - low < _TURN or max(-low, high) > _CIRCLE:
            continue
        steps = [(abs(b - a), t - s) for (s, a), (t, b) in pairwise(states) if b != a and t > s]
        leaps = any(way >= _LEAP for way, _ in steps)
        if leaps or (steps and median(way / took for way, took in steps) > _FASTEST):
            facts = {"low": low, "high": high, "how": "leaps back" if leaps else "changes fast"}
            yield Finding("E510", facts, read=watch.read_with({"angles": "deg"}))
            return


def _w_first(watch: Watch, places: dict[str, str]) -> str:
    columns = [places.get(one, "") for one in ("qx", "qy", "qz", "qw")]
    if not all(columns):
        return ""
    return watch.read_with(dict(zip(("qw", "qx", "qy", "qz"), columns, strict=True)))


def _spins(watch: Watch, turns: list[Turning], places: dict[str, str]) -> Iterator[Finding]:
    without = watch.read_with(_NO_SPIN)
    for one in turns:
        if one.body >= _EXACT and one.world < _SAME_WAY:
            yield Finding("E506", read=without)
            return
        if one.world >= _SAME_WAY and not 1 / _FACTOR <= one.ratio <= _FACTOR:
            degrees = math.degrees(1) / _FACTOR <= one.ratio <= math.degrees(1) * _FACTOR
            angles = any(places.get(angle) for angle in ANGLES)
            known = _layout(watch)
            given = known is not None and known.angles == "rad" and angles
            mends = degrees and not given
            read = watch.read_with({"angles": "deg"}) if mends else without
            yield Finding("E505", {"ratio": one.ratio}, read=read)
            return


def _not_read(watch: Watch) -> Iterator[Finding]:
    """Columns that look like a rotation, of which it is not clear what they are."""
    reader = watch.reader
    if reader is None or not watch.samples or not len(watch.samples[0].block):
        return
    cells = unread(reader, watch.samples[0].block.line_text(0))
    found = proposals(dict(reader.layout.columns or ()), cells)
    if found:
        ways = "one way" if len(found) == 1 else f"{len(found)} ways; this is one"
        yield Finding("E503", {"ways": ways}, read=watch.read_with(found[0]))
