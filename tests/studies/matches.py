"""Recorded movement to be sent again: retimed, and cut into matches.

Half of the matches are for tuning, the others for judging. Which files there are, and where they
are from, is in ``recordings.py``, which has them as they were recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli.network.movement import RecordedMovement, Track
from epic_cli.network.truth_file import read_movement
from studies.recordings import Floats

#: Of a retimed stamp so much is taken from the recorded one, the rest from the movement.
GAIN = 0.05

#: A time (s) that the movement says is no further off the stamps'; after a hit it says nothing.
LIKELY = 0.06


class Kind(NamedTuple):
    """A kind of recording: files, entities, and how they are read and cut.

    Files are cut into ``pieces``, of which the middle ``seconds`` count. With ``retimed``, stamps
    follow the movement (``follow``). ``unit`` is the file's length in meters. Rotations are read
    for ``turns``; their lag takes most of the time, so few cells have them.
    """

    name: str
    files: str
    entities: str = ""
    seconds: float = 20.0
    pieces: int = 1
    turns: bool = False
    max_gap: float = 0.5
    max_speed: float | None = None
    retimed: bool = False
    unit: float = 1.0


_LEAGUE = Kind("Rocket League car", "rocketleague/*.parquet", "car-1", 12, retimed=True, unit=0.01)
KINDS = (
    _LEAGUE,
    _LEAGUE._replace(name="Rocket League car with rotation", turns=True),
    _LEAGUE._replace(name="Rocket League ball", entities="ball"),
    Kind("QuakeWorld", "quakeworld_duel.csv", pieces=14, max_speed=100),
    Kind("Melee", "slippi_melee_60hz.csv", pieces=12, max_speed=100),
    Kind("road car", "comma2k19_car.csv", pieces=10),
    Kind("airliner", "adsb_flight.csv", pieces=10, max_gap=3, retimed=True),
)


def matches(kind: Kind, folder: Path, retime: bool = True) -> list[RecordedMovement]:
    """Return the pieces of this kind's recordings, in their order, none without movement."""
    found = []
    for path in sorted(folder.glob(kind.files)):
        with path.open("rb") as file:
            whole = read_movement(file, max_gap=kind.max_gap, max_speed=kind.max_speed)
        tracks = {n: t for n, t in whole.tracks.items() if n.startswith(kind.entities)}
        start = min(track.times[0] for track in tracks.values())
        length = (max(track.times[-1] for track in tracks.values()) - start) / kind.pieces
        for number in range(kind.pieces):
            middle, reach = start + (number + 0.5) * length, min(length, kind.seconds) / 2
            cut = {
                name: piece(track, middle - reach, middle + reach, kind, retime)
                for name, track in tracks.items()
            }
            cut = {name: track for name, track in cut.items() if len(track) > 2}
            if cut:
                found.append(RecordedMovement(cut))
    return found


def piece(track: Track, begin: float, end: float, kind: Kind, retime: bool) -> Track:
    """Return the states of a track from one time to another."""
    times = np.array(track.times)
    rows = np.flatnonzero((times >= begin) & (times <= end))
    states = [track.get_state(int(row)) for row in rows]
    stamps = times[rows]
    breaks = np.diff(
        [state.teleports for state in states], prepend=states[0].teleports if states else 0
    )
    if retime and kind.retimed and len(states) > 2:
        given = [(state.position, state.velocity) for state in states]
        stamps = follow(
            stamps, np.array(given), (np.diff(stamps) > kind.max_gap) | (breaks[1:] > 0)
        )
    cut = Track(kind.max_gap)
    for stamp, one, broken in zip(stamps.tolist(), states, breaks, strict=True):
        turned = (one.rotation, one.spin) if kind.turns else (None, None)
        cut.add(stamp, one.position, one.velocity, bool(broken), *turned)
    return cut


def follow(stamps: Floats, states: Floats, cuts: Iterable[bool]) -> Floats:
    """Return stamps (n) that fit the positions and velocities ``states`` (n, 2, 3).

    Recorders stamp a state with the time of a frame, or of its arrival: 12 to 40 ms off, which as a
    movement would be acceleration that never was. From one state to the next it takes dp^2 / (dp .
    mean velocity); their sum is drawn to the recorded stamps, by ``GAIN`` of what is between them
    at each step, forward and backward.
    """
    steps, intervals = np.diff(states[:, 0], axis=0), np.diff(stamps)
    along = np.einsum("ij,ij->i", steps, (states[1:, 1] + states[:-1, 1]) / 2)
    took = np.einsum("ij,ij->i", steps, steps) / np.where(along > 0, along, np.inf)
    likely = np.abs(took - intervals) < LIKELY
    took = np.where(likely & (along > 0), took, intervals)
    cut = np.asarray(list(cuts))

    def one_way(times: Floats, took: Floats, cut: NDArray[np.bool_]) -> Floats:
        out = times.copy()
        for i in range(len(took)):
            if not cut[i]:
                out[i + 1] = out[i] + took[i]
                out[i + 1] += GAIN * (times[i + 1] - out[i + 1])
        return out

    forward = one_way(stamps, took, cut)
    backward = -one_way(-stamps[::-1], took[::-1], cut[::-1])[::-1]
    found = (forward + backward) / 2
    for i in range(1, len(found)):  # after a break the clock begins anew
        found[i] = max(found[i], found[i - 1] + 1e-3)
    return np.asarray(found)
