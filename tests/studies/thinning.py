"""Recorded movement of which every k-th update is sent, drawn by `epic`, judged at the others.

For the study of ``hermite``: what is sent, what is drawn, its errors, and the sizes of which the
closed form is made.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from epic_cli import Packet, strategy
from studies.recordings import Floats, Run, Track

#: Sends a second; those of the airliner, which is heard twice a second.
RATES, SLOW_RATES = (5, 7.5, 10, 15, 20, 30, 60), (0.5, 1)
#: How far from them a k-th of a recording's own rate may be.
NEAR = 1.2
#: What is sent as velocity: the recorded one; with Gaussian noise of a share of the speed in each
#: component; in so many bits a component over the recording's range; none, so that `epic` takes
#: the difference to the packet before, as Source does; the slope from the packet before to the
#: one after (Catmull-Rom), which has to wait for that.
VELOCITIES = ("recorded", "noise 3 %", "noise 10 %", "noise 30 %", "8 bits", "6 bits", "4 bits",
              "differences", "Catmull-Rom")  # fmt: skip
MEASURES = ("full", "across", "turn", "speed")
#: Matches whose stamps are less than 5 ms off.
EXACT = ("rl-08", "rl-18", "rl-20")
NEARLY_EXACT = ", stamps within 5 ms"
#: Across the movement counts where something moves by more than this share of its usual speed.
MOVES = 0.1
BLOCK = 10.0


def kind_of(track: Track) -> str:
    """Return an entity's kind, and whether its stamps are nearly exact."""
    return track.thing + (NEARLY_EXACT if track.recording in EXACT else "")


class Way(NamedTuple):
    """A strategy's drawing: arrays (n, 3), (n, 3), (n, 4)."""

    position: Floats
    velocity: Floats
    rotation: Floats | None


class Cell:
    """Sums over one entity, sent at one rate with one kind of velocities."""

    def __init__(self, track: Track, rate: float, velocities: str, stamp: float) -> None:
        self.thing, self.recording = kind_of(track), track.recording
        self.rate, self.velocities, self.stamp = rate, velocities, stamp
        #: By block: squares of Hermite's errors, of the line's, how many; for each measure.
        self.blocks: dict[float, Floats] = {}
        #: Squares of A T, S T and V, how many; for the first three measures.
        self.sizes = np.zeros((4, 3))

    def add(self, times: Floats, hermite: Floats, line: Floats, sizes: Floats) -> None:
        """Add squared errors (n, 4) at these times, and squared sizes (3, m, 3)."""
        for block in np.unique(times // BLOCK).tolist():
            at = times // BLOCK == block
            counts = np.isfinite(line[at]).sum(0)
            sums = np.stack([np.nansum(hermite[at], 0), np.nansum(line[at], 0), counts])
            self.blocks[block] = self.blocks.get(block, 0) + sums
        known = np.isfinite(sizes).all(0)
        self.sizes[:3] += np.where(known, sizes, 0).sum(1)
        self.sizes[3] += known.sum(0)

    def ratio(self, measure: int) -> float:
        """Return Hermite's RMS error divided by the line's."""
        hermite, line, _ = np.sum(list(self.blocks.values()), axis=0)
        return float(np.sqrt(hermite[measure] / line[measure]))

    def size(self, measure: int) -> Floats:
        """Return A T, S T and V t."""
        sizes = np.sqrt(np.maximum(self.sizes[:3, measure], 0) / self.sizes[3, measure])
        return np.asarray(sizes * [1, 1, 0 if MEASURES[measure] == "across" else self.stamp])


def drawn(
    name: str, sent: Run, velocity: Floats | None, spin: Floats | None, at: Floats, **delay: float
) -> Way:
    """Return a strategy's drawing of packets at these sender's times, a delay later."""

    def rows(values: Floats | None) -> list[Any]:
        return [None] * len(sent.time) if values is None else values.tolist()

    columns = map(rows, (sent.position, velocity, sent.time, sent.rotation, spin))
    packets = [
        Packet(position, speed, time, rotation=about, spin=rate)
        for position, speed, time, about, rate in zip(*columns, strict=True)
    ]
    made, samples, fed, behind = strategy(name, **delay), [], 0, max(delay.values())
    for time in at.tolist():
        while fed < len(packets) and packets[fed].time <= time + behind:
            made.update(packets[fed], packets[fed].time)
            fed += 1
        samples.append(made.read(time + behind))
    if {str(sample.status) for sample in samples} - {"interpolated"}:
        raise RuntimeError(f"{name} did not interpolate everywhere")
    rotation = None if sent.rotation is None else np.array([sample.rotation for sample in samples])
    position, speeds = (
        [getattr(sample, key) for sample in samples] for key in ("position", "velocity")
    )
    return Way(np.array(position), np.array(speeds), rotation)


def by_line(sent: Run, at: Floats) -> Way:
    """Draw as ``snapshot`` does: a line and a slerp."""
    steps = np.diff(sent.time)
    delay = {"interpolation_time": 2 * float(steps.max()), "step": float(steps.min()) / 4}
    return drawn("snapshot", sent, sent.velocity, sent.spin, at, **delay)


def by_hermite(sent: Run, velocity: Floats | None, spin: Floats | None, at: Floats) -> Way:
    """Draw as ``hermite`` does; without velocities it takes differences."""
    delay = 2 * float(np.diff(sent.time).max())
    settings = {"playout_delay": delay, "send_interval": delay, "latency": 0.0}
    return drawn("hermite", sent, velocity, spin, at, **settings)


def turn(before: Floats, after: Floats) -> Floats:
    """Return rotation vectors (rad) from quaternions to others, the shorter way."""
    return np.asarray((Rotation.from_quat(after) * Rotation.from_quat(before).inv()).as_rotvec())


def slopes(sent: Run, gap: int) -> tuple[Floats, Floats | None]:
    """Return slopes (n, 3) of positions and rotations over ``gap`` intervals.

    Ends without two neighbors repeat the nearest slope.
    """
    gaps = (sent.time[gap:] - sent.time[:-gap])[:, None]
    own = [(sent.position[gap:] - sent.position[:-gap]) / gaps]
    if sent.rotation is not None:
        own.append(turn(sent.rotation[:-gap], sent.rotation[gap:]) / gaps)
    ends = (1, 0) if gap == 1 else (1, 1)
    padded = [np.pad(values, (ends, (0, 0)), "edge") for values in own]
    return padded[0], padded[1] if len(padded) > 1 else None


def sent_as(
    kind: str, sent: Run, largest: tuple[float, float], dice: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Return velocities and spins of this kind: differences, recorded, noisy or rounded."""
    if kind in ("differences", "Catmull-Rom"):
        return slopes(sent, 1 if kind == "differences" else 2)

    def one(values: Floats, most: float) -> Floats:
        number = int(kind.removeprefix("noise ").split()[0]) if kind != "recorded" else 0
        if kind.startswith("noise"):
            speed = np.linalg.norm(values, axis=1, keepdims=True)
            return np.asarray(values + number / 100 * speed * dice.normal(size=values.shape))
        step = most / (2 ** (number - 1) - 1) if number else 0
        return np.asarray(np.round(values / step) * step if step else values)

    return one(sent.velocity, largest[0]), None if sent.spin is None else one(sent.spin, largest[1])


def without(vectors: Floats, along: Floats, least: float) -> Floats:
    """Return the squared components of vectors across others.

    NaN where these are shorter than ``least``.
    """
    length = np.linalg.norm(along, axis=1)
    part = np.einsum("ij,ij->i", vectors, along) / np.maximum(length, 1e-9)
    return np.asarray(np.where(length > least, np.sum(vectors**2, axis=1) - part**2, np.nan))


def errors(way: Way, truth: Run, least: float) -> Floats:
    """Return the squared errors (n, 4) of each measure: m, m, degrees, m/s."""
    off = way.position - truth.position
    angle = np.full(off.shape, np.nan)
    if way.rotation is not None and truth.rotation is not None:
        angle = np.degrees(turn(truth.rotation, way.rotation))
    squares = [np.sum(values**2, axis=1) for values in (off, angle, way.velocity - truth.velocity)]
    return np.stack([squares[0], without(off, truth.velocity, least), *squares[1:]], 1)


def sizes(sent: Run, velocity: Floats, spin: Floats | None, least: float) -> Floats:
    """Return the squares (3, n - 1, 3) of A T, S T and V, for full, across and turn."""
    steps = np.diff(sent.time)[:, None]
    middle = (sent.velocity[1:] + sent.velocity[:-1]) / 2
    parts = [np.diff(sent.velocity, axis=0) * steps, (velocity - sent.velocity)[1:] * steps, middle]
    turns = [np.full_like(part, np.nan) for part in parts]
    if sent.spin is not None and spin is not None:
        turns = [np.diff(sent.spin, axis=0) * steps, (spin - sent.spin)[1:] * steps, sent.spin[1:]]
    return np.stack([
        np.stack([np.sum(a**2, axis=1), without(a, middle, least), np.sum(b**2, axis=1)], 1)
        for a, b in zip(parts, turns, strict=True)
    ])  # fmt: skip


def stamp_error(track: Track) -> float:
    """Return the error of stamps (s): the excess of steps over the velocities, along them."""
    found = []
    for run in track.runs:
        mean = (run.velocity[1:] + run.velocity[:-1]) / 2
        square = np.sum(mean**2, axis=1)
        more = np.diff(run.position, axis=0) - mean * np.diff(run.time)[:, None]
        moves = square > 0.1 * square.mean()
        found.append(np.einsum("ij,ij->i", more, mean)[moves] / square[moves])
    return float(np.sqrt(np.mean(np.concatenate(found) ** 2) / 2))


def sendings(track: Track) -> Iterator[tuple[float, int]]:
    """Yield the rates at which a track can be sent and judged, and the number of updates per sent
    one.
    """
    for rate in SLOW_RATES if track.thing == "airliner" else RATES:
        k = round(1 / (rate * track.interval))
        if k > 1 and 1 / NEAR < 1 / (k * track.interval * rate) < NEAR:
            yield rate, k


def thinned(run: Run, k: int) -> tuple[Run, NDArray[np.intp]]:
    """Return the sent updates and the judged ones, which have two packets on either side."""
    every = np.arange(len(run.time))
    judged = every[(every % k > 0) & (every > k) & (every < (len(every) - 1) // k * k - k)]
    return run.part(slice(None, None, k)), judged


def cells(track: Track) -> Iterator[Cell]:
    """Yield a cell for each rate with each kind of velocities."""
    stamp = stamp_error(track)
    speeds = np.concatenate([run.velocity for run in track.runs])
    spins = [run.spin for run in track.runs if run.spin is not None]
    least = MOVES * float(np.sqrt(np.mean(np.sum(speeds**2, axis=1))))
    largest = float(abs(speeds).max()), float(abs(np.concatenate(spins)).max()) if spins else 0.0
    for rate, k in sendings(track):
        made = [Cell(track, rate, kind, stamp) for kind in VELOCITIES]
        dice = np.random.default_rng(zlib.crc32(f"{track.recording} {track.thing} {k}".encode()))
        for run in track.runs:
            sent, judged = thinned(run, k)
            if not len(judged):
                continue
            truth = run.part(judged)
            line = errors(by_line(sent, truth.time), truth, least)
            for cell in made:
                velocity, spin = sent_as(cell.velocities, sent, largest, dice)
                none = cell.velocities == "differences"  # which `epic` then takes itself
                way = by_hermite(
                    sent, None if none else velocity, None if none else spin, truth.time
                )
                bent = sizes(sent, velocity, spin, least)
                cell.add(truth.time, errors(way, truth, least), line, bent)
        yield from made
