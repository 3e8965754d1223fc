"""A reader of recorded movement: the states of a recording become the truth."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, get_args

from epic_cli.engine.contract import Packet, Rotation, Vector
from epic_cli.engine.packets import PacketBlock, turn_between
from epic_cli.engine.parameters import Choice, Number
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.network.movement import RecordedMovement, Snapshot, State, Track
from epic_cli.network.sender import DECIMALS
from epic_cli.recordings.reading import read
from epic_cli.recordings.tables import FARTHEST, TableRefusal
from epic_cli.recordings.wording import FrontEnd, word_refusal
from epic_cli.recordings.writing import Fault, Unwritable, check_name, write_csv_field, write_number

if TYPE_CHECKING:
    from epic_cli.recordings.read_spec import ReadSpec


Velocities = Literal["auto", "taken", "derived"]

#: Keys for reading a recording as the truth: arguments of ``read_movement``.
MOVEMENT = (
    Choice("velocity", "auto", "Take the recorded velocities and spins, or derive them from"
           " positions and rotations; auto takes them where there are any.", get_args(Velocities)),
    Number("max_gap", 3.0, "An entity is absent during a gap longer than this.", "s", 0.001, 1e9),
    Number("max_speed", None, "Treat a faster recorded step as a teleport.", "units/s", 1e-6, 1e12),
)  # fmt: skip
DEFAULT_MAX_GAP: float = MOVEMENT[1].default

#: Seconds; a shorter step gives no slope.
SAME_TIME = 1e-9

#: Error of the length of a rotation with six decimals.
ROUNDED = 1e-5

#: A longer recording is refused: it would be held in memory.
MOST_STATES = 5_000_000

_FIELDS = ("time", "x", "y", "z", "vx", "vy", "vz")


class _TrackPoint(NamedTuple):
    time: float
    position: Vector
    velocity: Vector | None
    breaks: bool
    rotation: Rotation | None
    spin: Vector | None


def read_movement(
    stream: BinaryIO,
    *,
    velocities: Velocities = "auto",
    max_gap: float = DEFAULT_MAX_GAP,
    max_speed: float | None = None,
    entity: str | None = None,
    spec: ReadSpec | None = None,
    on_read: Callable[[ReadSpec], object] | None = None,
    look: Callable[[PacketBlock], object] | None = None,
) -> RecordedMovement:
    """Read recorded movement; all of it is held in memory (about 80 bytes a state).

    Any recording is accepted (``recordings.reading.read``, also for ``spec`` and ``on_read``);
    ``look`` is called with the packets as they are read. Entities may be in any order. States of
    one entity in order of arrival are sorted if they are late by up to ``max_gap``; of two less
    than a nanosecond apart the last counts. ``teleport`` marks a deliberate move.

    ``velocities``: ``taken`` from the file, ``derived`` from the positions, or ``auto``: taken
    where they exist; likewise spins and rotations. ``max_gap`` (seconds): after a longer silence
    the entity restarts. ``max_speed`` (length units a second): a faster step is a teleport.
    ``entity``: read only this one.

    Raises ``TableRefusal`` for an unusable line, ``ValueError`` if nothing is left.
    """
    builders: dict[str, _TrackBuilder] = {}
    blocks = read(stream, spec, on_read)
    for state in _read_states(blocks, look):
        name = state.packet.entity
        if entity is not None and name != entity:
            continue
        if name not in builders:
            builders[name] = _TrackBuilder(max_gap, max_speed)
        builders[name].add(state, velocities)
    if not builders:
        what = "no state" if entity is None else f"no state of the entity {entity!r}"
        raise ValueError(f"the file has {what}")
    tracks = {name: builder.finish() for name, builder in builders.items()}
    found = [(builder.late, builder.repeated) for builder in builders.values()]
    return RecordedMovement(tracks, *map(sum, zip(*found, strict=True)))


class _RecordedState(NamedTuple):
    """A packet of a block, with its index in the block."""

    packet: Packet
    block: PacketBlock
    place: int

    def refuse(self, field: str, reason: Reason, limit: float = 0) -> TableRefusal:
        """Return the error to raise for a field in the packet's line."""
        text = self.block.line_text(self.place)
        caret = self.block.find_field(text, field) if self.block.find_field else 0
        return _make_refusal(
            Refusal(self.block.line(self.place), caret + 1, text, caret, reason, field, limit=limit)
        )


def _make_refusal(refusal: Refusal) -> TableRefusal:
    return TableRefusal(word_refusal(refusal, FrontEnd.PYTHON), refusal)


def _read_states(
    blocks: Iterator[PacketBlock], look: Callable[[PacketBlock], object] | None
) -> Iterator[_RecordedState]:
    """Yield the states of the blocks in order; raise for the first refused line."""
    count = 0
    for block in blocks:
        if look is not None:
            look(block)
        first = block.refusals[0] if block.refusals else None
        for index in range(len(block)):
            if first is not None and block.line(index) > first.line:
                break
            state = _RecordedState(block[index], block, index)
            count += 1
            if count > MOST_STATES:
                raise state.refuse("time", Reason.TABLE_TOO_LONG, MOST_STATES)
            yield state
        if first is not None:
            raise _make_refusal(first)


class _TrackBuilder:
    """A builder of a track, which waits ``max_gap`` (s) to sort in late states.

    ``late`` counts these states, ``repeated`` the states that have the time of another.
    """

    def __init__(self, max_gap: float, max_speed: float | None) -> None:
        self._max_gap = max_gap
        self._max_speed = max_speed
        self._derives_spins = True
        self._track = Track(max_gap)
        self._waiting: deque[_TrackPoint] = deque()  # in order of time
        self.late = self.repeated = 0
        self._before: _TrackPoint | None = None
        self._last: _TrackPoint | None = None

    def add(self, state: _RecordedState, velocities: Velocities) -> None:
        packet = state.packet
        time, velocity = packet.time, None if velocities == "derived" else packet.velocity
        if velocities == "taken" and velocity is None:
            raise state.refuse("vx", Reason.FIELD_MISSING)
        values = (time, *packet.position, *(velocity or ()))
        for field, value in zip(_FIELDS, values, strict=False):
            if not math.isfinite(value):
                raise state.refuse(field, Reason.CELL_NOT_FINITE)
            if abs(value) > FARTHEST:
                raise state.refuse(field, Reason.CELL_OUT_OF_RANGE, FARTHEST)
        self._derives_spins = velocities != "taken"
        rotation, spin = packet.rotation, None if velocities == "derived" else packet.spin
        if rotation is not None and abs(math.hypot(*rotation) - 1) > ROUNDED:
            rotation, _ = turn_between((rotation, None), (rotation, None), 1.0, 0.0)  # of length 1
        point = _TrackPoint(time, packet.position, velocity, packet.teleport, rotation, spin)
        waiting = self._waiting
        earliest = waiting[-1].time - self._max_gap if waiting else time
        if time < earliest:  # no delay: another match, say
            raise state.refuse("time", Reason.TIME_GOES_BACK, earliest)
        place = len(waiting)
        while place and time < waiting[place - 1].time:
            place -= 1
        self.late += place < len(waiting)
        for near in (place - 1, place):
            if 0 <= near < len(waiting) and abs(waiting[near].time - time) < SAME_TIME:
                self.repeated += 1
                kept = point if near < place else waiting[near]
                waiting[near] = kept._replace(breaks=point.breaks or waiting[near].breaks)
                return
        waiting.insert(place, point)
        while waiting[0].time < waiting[-1].time - self._max_gap - SAME_TIME:
            self._append_state(waiting.popleft())

    def finish(self) -> Track:
        for point in self._waiting:
            self._append_state(point)
        self._finish_last_point(None)
        return self._track

    def _append_state(self, point: _TrackPoint) -> None:
        """Append the next state in order of time to the track."""
        last = self._last
        if last is not None:
            self._finish_last_point(point := point._replace(breaks=self._is_break(last, point)))
        self._before, self._last = last, point

    def _is_break(self, last: _TrackPoint, point: _TrackPoint) -> bool:
        step = point.time - last.time
        if point.breaks or step > self._max_gap:
            return True
        if self._max_speed is None:
            return False
        reach = self._max_speed * step
        changes = zip(point.position, last.position, strict=True)
        return sum((b - a) * (b - a) for b, a in changes) > reach * reach

    def _finish_last_point(self, after: _TrackPoint | None) -> None:
        point = self._last
        if point is None:
            return
        neighbors = (
            None if point.breaks else self._before,
            point,
            None if after is None or after.breaks else after,
        )
        velocity, spin = point.velocity, point.spin
        if velocity is None:
            velocity = _estimate_slope(*neighbors, _compute_velocity)
        if spin is None and point.rotation is not None and self._derives_spins:
            before, _, after = (none if none and none.rotation else None for none in neighbors)
            spin = _estimate_slope(before, point, after, _compute_spin)
        turn = point.rotation, spin
        self._track.add(point.time, point.position, velocity, point.breaks, *turn)


def _estimate_slope(
    before: _TrackPoint | None,
    point: _TrackPoint,
    after: _TrackPoint | None,
    between: Callable[[_TrackPoint, _TrackPoint], Vector],
) -> Vector:
    """Estimate a point's velocity from its neighbors.

    The slope of the parabola through three points. At an end, it is the slope to the one neighbor,
    from ``between``; without neighbors 0.
    """
    if before is None and after is None:
        return (0.0, 0.0, 0.0)
    if before is None or after is None:
        begin, end = (point, after) if after is not None else (before, point)
        assert begin is not None
        return between(begin, end)
    h0, h1 = point.time - before.time, after.time - point.time
    x, y, z = (
        (to * h1 + on * h0) / (h0 + h1)
        for to, on in zip(between(before, point), between(point, after), strict=True)
    )
    return (x, y, z)


def _compute_velocity(begin: _TrackPoint, end: _TrackPoint) -> Vector:
    step = end.time - begin.time
    x, y, z = ((b - a) / step for a, b in zip(begin.position, end.position, strict=True))
    return (x, y, z)


def _compute_spin(begin: _TrackPoint, end: _TrackPoint) -> Vector:
    assert begin.rotation is not None
    assert end.rotation is not None
    return turn_between((begin.rotation, None), (end.rotation, None), end.time - begin.time, 0.0)[1]


class TruthWriter:
    """A writer of true movement as CSV, with numbers rounded to 1e-6.

    ``teleport`` is 1 in an entity's first row after a teleport; with ``turns``, qx to qw precede
    it.
    """

    def __init__(self, turns: bool = False) -> None:
        self._turns = turns
        self.header = b"entity,time,x,y,z,vx,vy,vz,%steleport\n" % (b"qx,qy,qz,qw," * turns)
        self._teleports: dict[str, int] = {}

    def format_rows(self, snapshot: Snapshot) -> bytes:
        """Return the CSV lines of all entities in a snapshot; raise ``Unwritable`` for a name."""
        return "".join(self._make_row(snapshot.time, *state) for state in snapshot.states).encode()

    def _make_row(self, time: float, entity: str, state: State) -> str:
        check_name(entity)
        if entity != entity.strip():
            raise Unwritable(Fault.OUTER_BLANK, "entity", entity)
        values = (time, *state.position, *state.velocity, *(state.rotation or ()))
        # adding 0 makes -0 a 0
        numbers = ",".join(write_number(round(value, DECIMALS) + 0.0) for value in values)
        if self._turns and state.rotation is None:
            numbers += "," * 4
        teleport = self._teleports.get(entity, state.teleports) != state.teleports
        self._teleports[entity] = state.teleports
        return f"{write_csv_field(entity)},{numbers},{teleport:d}\n"
