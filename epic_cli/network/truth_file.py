"""Recorded movement from a CSV file: ``entity,time,x,y,z`` and, where known, ``vx,vy,vz``."""

from __future__ import annotations

from typing import BinaryIO, Literal, NamedTuple

from epic_cli.engine.contract import Vector
from epic_cli.engine.refusals import Reason
from epic_cli.formats.csv_table import Row, Table
from epic_cli.network.movement import RecordedMovement, Track

Velocities = Literal["auto", "taken", "derived"]
VELOCITIES: tuple[Velocities, ...] = ("auto", "taken", "derived")

DEFAULT_MAX_GAP = 3.0

#: Seconds; no slope can be told from less.
SAME_TIME = 1e-9

_POSITION = ("time", "x", "y", "z")
_VELOCITY = ("vx", "vy", "vz")


class _Point(NamedTuple):
    time: float
    position: Vector
    velocity: Vector | None
    breaks: bool


def read_movement(
    stream: BinaryIO,
    *,
    velocities: Velocities = "auto",
    max_gap: float = DEFAULT_MAX_GAP,
    max_speed: float | None = None,
    entity: str | None = None,
) -> RecordedMovement:
    """Reads recorded movement; all of it is held in memory (about 80 bytes a row).

    Columns: ``time,x,y,z``; ``vx,vy,vz`` where known; ``entity``, of which there may be several,
    in any order; ``teleport`` (0 or 1), set where an entity was moved on purpose. The times of
    each entity rise; of two rows less than a nanosecond apart the later one counts.

    ``velocities``: ``taken`` from the file, ``derived`` from the positions, or ``auto``: taken
    if they are there. ``max_gap`` (seconds): nothing is known in a longer silence, and the
    entity begins again after it. ``max_speed`` (length units a second): a faster step is a
    teleport. ``entity``: read only this one.

    Raises ``RefusedLine`` for a line that cannot be used, ``ValueError`` where nothing is left.
    """
    taken = velocities == "taken"
    table = Table(stream, _POSITION + _VELOCITY if taken else _POSITION)
    if velocities == "auto":
        taken = all(name in table for name in _VELOCITY)
    builders: dict[str, _TrackBuilder] = {}
    for row in table:
        name = row.text("entity")
        if entity is not None and name != entity:
            continue
        if name not in builders:
            builders[name] = _TrackBuilder(max_gap, max_speed)
        builders[name].add(row, taken)
    if not builders:
        what = "no state" if entity is None else f"no state of the entity {entity!r}"
        raise ValueError(f"there is {what} in it")
    return RecordedMovement({name: one.finish() for name, one in builders.items()})


class _TrackBuilder:
    """Makes a track of rows as they come, one state behind: a slope needs both neighbours."""

    def __init__(self, max_gap: float, max_speed: float | None) -> None:
        self._max_gap = max_gap
        self._max_speed = max_speed
        self._track = Track(max_gap)
        self._before: _Point | None = None
        self._last: _Point | None = None

    def add(self, row: Row, taken: bool) -> None:
        time, x, y, z = (row.number(name) for name in _POSITION)
        velocity = None
        if taken:
            vx, vy, vz = (row.number(name) for name in _VELOCITY)
            velocity = (vx, vy, vz)
        point = _Point(time, (x, y, z), velocity, row.flag("teleport"))
        last = self._last
        if last is not None:
            if time < last.time:
                raise row.refuse("time", Reason.TIME_GOES_BACK, limit=last.time)
            if time - last.time < SAME_TIME:
                self._last = point._replace(breaks=point.breaks or self._last_breaks(point))
                return
            self._finish_last(point := point._replace(breaks=self._breaks(last, point)))
        self._before, self._last = last, point

    def finish(self) -> Track:
        self._finish_last(None)
        return self._track

    def _last_breaks(self, point: _Point) -> bool:
        return self._before is not None and self._breaks(self._before, point)

    def _breaks(self, last: _Point, point: _Point) -> bool:
        step = point.time - last.time
        if point.breaks or step > self._max_gap:
            return True
        if self._max_speed is None:
            return False
        reach = self._max_speed * step
        changes = zip(point.position, last.position, strict=True)
        return sum((b - a) * (b - a) for b, a in changes) > reach * reach

    def _finish_last(self, after: _Point | None) -> None:
        point = self._last
        if point is None:
            return
        velocity = point.velocity
        if velocity is None:
            velocity = _slope(
                None if point.breaks else self._before,
                point,
                None if after is None or after.breaks else after,
            )
        self._track.add(point.time, point.position, velocity, point.breaks)


def _slope(before: _Point | None, point: _Point, after: _Point | None) -> Vector:
    """The velocity from the neighbours: the slope of the parabola through the three points.

    At an end the straight line to the one neighbour, without any 0.
    """
    if before is None and after is None:
        return (0.0, 0.0, 0.0)
    if before is None or after is None:
        begin, end = (point, after) if after is not None else (before, point)
        assert begin is not None
        step = end.time - begin.time
        x, y, z = ((b - a) / step for a, b in zip(begin.position, end.position, strict=True))
        return (x, y, z)
    h0, h1 = point.time - before.time, after.time - point.time
    x, y, z = (
        ((p1 - p0) / h0 * h1 + (p2 - p1) / h1 * h0) / (h0 + h1)
        for p0, p1, p2 in zip(before.position, point.position, after.position, strict=True)
    )
    return (x, y, z)
