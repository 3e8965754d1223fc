"""The frames that a game itself drew, as a participant of a comparison."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.contract import Packet, Sample
from epic_cli.engine.text.widths import some
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    TIME,
    find_resolution,
    make_packet_table,
)
from epic_cli.recordings import Unreadable

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Floats

#: Name of the game's own drawing in results.
LABEL = "drawn"

#: A pattern for rows as the demo prints them.
ROWS = (
    r"pos: (?P<x>[^, ]+),(?P<y>[^, ]+),(?P<z>[^, ]+)"
    r"  vel: (?P<vx>[^, ]+),(?P<vy>[^, ]+),(?P<vz>[^, ]+)  time: (?P<time>\S+)"
)

_ORIGIN = (0.0, 0.0, 0.0)

#: Frames for which each position stays, on average, if it is drawn at ticks; and the share that
#: stays for one of two neighboring numbers of frames.
REPEATED, REGULAR = 1.12, 0.93

#: An entity rests if its position stays for this many times as long as usual.
RESTS = 2.5

#: A tick waits for the next one by at most this many frames.
WAITS = 1.2

#: Fewest frames for an answer.
FEWEST_FRAMES = 20

#: Packets that lasted so much shorter or longer than the frames have another unit.
UNITS = 0.02, 50.0

#: Seconds after the last packet in which frames are examined.
AFTER = 2.0


class UnusableDrawing(Unreadable):
    """An error: a file of drawn frames cannot be used; the message continues the file's name."""


class DrawnPath(NamedTuple):
    """One entity's frames as the game drew them: ``times`` and ``positions``.

    ``times`` (n, rising) are seconds of the receiver's clock. ``positions`` (n, 3) are in the
    recording's unit, known to the nearest ``resolution`` (length).
    """

    times: Floats
    positions: Floats
    resolution: float

    @property
    def frame(self) -> float:
        """The usual time from one frame to the next, s."""
        return float(np.median(np.diff(self.times)))


def make_drawn_paths(
    rows: Mapping[str, PacketBlock], entities: Mapping[str, object], offset: float = 0.0,
    scale: float = 1.0,
) -> dict[str, DrawnPath]:  # fmt: skip
    """Return the game's frames by entity; ``offset`` (s) is added to their times.

    ``scale`` is the length of the file's own unit, in which its numbers are rounded.

    If recording and frames have one entity each, their names do not matter; if none is in both,
    ``sheep#1`` is 1. Of frames with the same
    time the last one counts; those that are not finite are left out. Raises ``UnusableDrawing``.
    """
    if not rows:
        raise UnusableDrawing("the file has no frames: it needs rows of time and position")
    if not entities:
        raise UnusableDrawing("there are no packets from which it can have been drawn")
    if len(rows) == len(entities) == 1:
        rows = dict(zip(entities, rows.values(), strict=True))
    if not any(name in rows for name in entities):
        rows = _rename_entities(rows, entities)
    shared = {name: rows[name] for name in entities if name in rows}
    if not shared:
        raise UnusableDrawing(
            f"none of its entities is in the recording: it has {_describe_entities(rows)}, the"
            f" recording has {_describe_entities(entities)}"
        )
    paths = {
        name: _make_path(name, make_packet_table(block), offset, scale)
        for name, block in shared.items()
    }
    found = {name: one for name, one in paths.items() if len(one.times) >= FEWEST_FRAMES}
    if not found:
        most = max(len(path.times) for path in paths.values())
        raise UnusableDrawing(
            f"it has {most} usable frame{'' if most == 1 else 's'} of an entity, and"
            f" {FEWEST_FRAMES} are needed"
        )
    return found


def _rename_entities(
    rows: Mapping[str, PacketBlock], entities: Mapping[str, object]
) -> Mapping[str, PacketBlock]:
    """Return the frames under the names of the entities that end in the same word or number."""
    ends = [
        {re.findall(r"[^\W\d_]+|\d+|$", name.lower())[-2:][0]: name for name in names}
        for names in (rows, entities)
    ]
    if any(len(end) < len(names) for end, names in zip(ends, (rows, entities), strict=True)):
        return rows  # several end alike
    return {ends[1].get(end, name): rows[name] for end, name in ends[0].items()}


def _describe_entities(named: Mapping[str, object]) -> str:
    names = sorted(repr(name) if name else "one without a name" for name in named)
    return some(names) or "none"


def _make_path(name: str, columns: Floats, offset: float, scale: float) -> DrawnPath:
    with np.errstate(invalid="ignore"):
        rows = columns[:, (np.abs(columns[:4]) < LARGEST).all(axis=0)]
    times = rows[TIME] + offset
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        before, after = times[back[0]] - offset, times[back[0] + 1] - offset
        whose = f" of {name!r}" if name else ""
        raise UnusableDrawing(
            f"its frames{whose} are not in the order of time: {after:.6g} s comes after"
            f" {before:.6g} s"
        )
    last = np.append(np.diff(times) > 0, True)[: len(times)]
    positions = rows[POSITION].T[last]
    return DrawnPath(times[last], positions, find_resolution(positions / scale) * scale)


def check_times(
    paths: Mapping[str, DrawnPath], packets: Mapping[str, PacketBlock], moved: str = ""
) -> None:
    """Raise ``UnusableDrawing`` if no entity has frames while its packets came.

    ``moved`` is the option with which they are on the packets' clock, if known.
    """
    errors = []
    for name, path in paths.items():
        columns = make_packet_table(packets[name])
        known = columns[ARRIVAL] if np.isfinite(columns[ARRIVAL]).any() else columns[TIME]
        try:
            select_frames(path, float(np.nanmin(known)), float(np.nanmax(known)), moved)
        except UnusableDrawing as error:
            errors.append(error)
    if len(errors) == len(paths):
        raise errors[0]


def select_frames(path: DrawnPath, begins: float, ends: float, moved: str = "") -> DrawnPath:
    """Return the frames while packets came, from ``begins`` to ``ends`` (s), and shortly after.

    Raises ``UnusableDrawing`` if there are too few; ``moved`` is the option that mends it, if
    known.
    """
    there = (path.times >= begins) & (path.times <= ends + AFTER)
    if there.sum() < FEWEST_FRAMES:
        lasted = float(path.times[-1] - path.times[0])
        units = UNITS[0] < (ends - begins) / lasted < UNITS[1] if lasted > 0 else True
        remedy = (
            (f"use {moved}" if moved else "offset=SECONDS moves the frames")
            if units or moved
            else "--read unit=, arrival_unit= and frame.unit= name their units"
        )
        raise UnusableDrawing(
            f"the frames are from {path.times[0]:.6g} to {path.times[-1]:.6g} s, the packets"
            f" from {begins:.6g} to {ends:.6g} s: {remedy}"
        )
    return path._replace(times=path.times[there], positions=path.positions[there])


def find_drawn_ticks(path: DrawnPath) -> DrawnPath | None:
    """Return the path at the game's ticks, where positions change less often than frames are drawn.

    While the entity moves, each position stays for one of two neighboring numbers of frames. Ticks
    are the latest regular times of which none is later than the first frame that shows it. None if
    positions change in every frame, or irregularly.
    """
    steps = np.linalg.norm(np.diff(path.positions, axis=0), axis=1)
    frame = path.frame
    around = np.ones(2 * max(round(0.15 / frame), 1) + 1)
    pace = np.convolve(steps, around / len(around), "same")
    starts = np.flatnonzero(steps > 0) + 1
    held = np.diff(starts)
    # what rests, or hardly moves, changes when it likes
    moving = np.minimum(pace[starts[:-1] - 1], pace[starts[1:] - 1]) > 4 * path.resolution
    if int(moving.sum()) < FEWEST_FRAMES:
        return None
    moving &= held <= RESTS * np.median(held[moving])
    ratio = float(held[moving].mean())
    one = np.isin(held, (math.floor(ratio), math.floor(ratio) + 1))
    if ratio < REPEATED or float(one[moving].mean()) < REGULAR:
        return None
    tick = ratio * frame
    for _ in range(3):  # the more ticks are counted right, the better is their length known
        passed = np.where(one, 1.0, np.maximum(np.round(held * frame / tick), 1.0))
        numbers = np.cumsum(np.append(0, passed))
        tick = float(np.polyfit(numbers, path.times[starts], 1)[0])
    late = path.times[starts] - tick * numbers
    if np.ptp(np.quantile(late, (0.05, 0.95))) > WAITS * frame:  # what stays now and then
        return None
    begin = float(late.min())
    numbers, kept = np.unique(numbers, return_index=True)
    return path._replace(times=begin + tick * numbers, positions=path.positions[starts[kept]])


class DrawnPathStrategy:
    """A strategy that draws the game's own positions, interpolated linearly between frames.

    Packets only say which entity is drawn. Before the first frame, and after the last one, nothing
    is drawn.
    """

    def __init__(self, paths: Mapping[str, DrawnPath]) -> None:
        self._paths = paths
        self.reset()

    def reset(self) -> None:
        """Forget which entity is drawn."""
        self._path: DrawnPath | None = None

    def update(self, packet: Packet, now: float) -> bool:
        """Accept the packet, and take its entity's name."""
        del now
        self._path = self._paths.get(packet.entity)
        return True

    def read(self, at: float) -> Sample:
        """Return the position that the game drew at the time ``at``."""
        path = self._path
        if path is None or not path.times[0] <= at <= path.times[-1]:
            return Sample(at, _ORIGIN, _ORIGIN, "none")
        after = min(max(bisect_right(path.times, at), 1), len(path.times) - 1)
        begin, end = path.times[after - 1 : after + 1]
        one, other = path.positions[after - 1 : after + 1]
        velocity = (other - one) / (end - begin)
        position = one + velocity * (at - begin)
        x, y, z = position.tolist()
        u, v, w = velocity.tolist()
        return Sample(at, (x, y, z), (u, v, w), "interpolated")


class DrawnCandidate(NamedTuple):
    """The game's own drawn path as a participant of a comparison."""

    paths: Mapping[str, DrawnPath]
    label: str = LABEL

    def make(self) -> DrawnPathStrategy:
        """Return a new strategy that draws the game's own positions."""
        return DrawnPathStrategy(self.paths)
