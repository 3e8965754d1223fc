"""Rotations over time, as unit quaternions x, y, z, w, and angles between rotations.

q and -q are the same rotation; interpolation takes the shorter way (Shoemake, "Animating rotation
with quaternion curves", 1985). Angles are in degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.measure import Path, TurnPath, fill_rotations
from epic_cli.metrics.arrays import TIME, compute_lengths, compute_median, make_packet_table

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.metrics.arrays import Flags, Floats, Integers

#: Largest difference of spins that are used from those of the rotations, as a share.
SPIN_MISMATCH = 0.5

#: Turns of less than this (degrees) are the rounding of quantized rotations.
RESTING = 0.01


@dataclass(frozen=True)
class TurnTruth:
    """One entity's true rotations, interpolated between its ``states`` (m, 7) at ``times`` (m).

    A state is a rotation of length 1 and a spin (rad/s). Between two states the rotation follows
    the curve that matches both spins, as positions do. The truth is cut where the ``path`` is, at
    ``starts`` and ``ends``.
    """

    path: Path
    starts: Floats
    ends: Floats
    times: Floats
    states: Floats

    @cached_property
    def _turn_path(self) -> TurnPath:
        return TurnPath(self.times, self.states, _find_segments(self.path, self.times))

    def interpolate(self, times: Floats, shift: float = 0.0) -> Floats:
        """Return the rotations (n, 4) at ``times - shift``, NaN where unknown."""
        found = np.empty((len(times), 4))
        self._turn_path.read(times - shift, found)
        return found

    def square_distances(self, times: Floats, shown: Floats) -> Floats:
        """Return the squared angles (n) between ``shown`` (n, 4) and the truth at ``times``."""
        return np.asarray(measure_angles(shown, self.interpolate(times)) ** 2)

    def square_shifted_distances(
        self, times: Floats, shown: Floats, segments: Integers, shift: float
    ) -> Floats:
        """Return the squared angles (n) of ``shown`` (n, 4) to the truth at ``times - shift``.

        NaN where the shifted time is not in the row's segment (n).
        """
        count = len(times)
        found = np.empty(count, np.int32)
        self.path.read(times, shift, np.empty((count, 3)), np.empty((count, 3)), found)
        squares = self.square_distances(times - shift, shown)
        return np.where(found == segments, squares, np.nan)

    def sum_squares(
        self, times: Floats, shown: Floats, segments: Integers, shifts: Floats
    ) -> tuple[Floats, Integers]:
        """Return the sum of the squared angles for each shift, and the number of rows."""
        totals, counts = np.empty(len(shifts)), np.empty(len(shifts), np.int32)
        self._turn_path.sum_squared_angles(
            self.path, times, shown, segments, shifts, totals, counts
        )
        return np.degrees(np.degrees(totals)), counts

    def is_moving(self, times: Floats, resolution: float) -> bool:
        """Return True if the entity turns at all."""
        found = self.interpolate(times)
        found = found[~np.isnan(found[:, 0])]
        return bool((measure_angles(found, found[:1]) > max(resolution, RESTING)).any())


def make_turns(
    packets: PacketBlock,
    path: Path,
    starts: Floats,
    ends: Floats,
    rests: Floats,
    offset: float,
) -> TurnTruth | None:
    """Return the rotations of packets that move on the ``path``; None if fewer than two.

    ``offset`` (s) is added to the times. Of rotations with the same time the last counts. Spins
    that are missing, or that differ from the rotations' own differences by more than half, are
    replaced by the differences. Between the times of ``rests`` (n, 2; s) the entity does not turn.
    """
    found = np.empty((len(packets), 7))
    fill_rotations(packets, found)
    times = make_packet_table(packets)[TIME] + offset
    sizes = compute_lengths(found[:, :4])
    with np.errstate(invalid="ignore"):
        usable = np.isfinite(times) & (sizes > 1e-6) & (sizes < 1e6)
    order = np.flatnonzero(usable)[np.argsort(times[usable], kind="stable")]
    order = order[np.append(np.diff(times[order]) > 0, True)[: len(order)]]
    if len(order) < 2:
        return None
    states = found[order]
    states[:, :4] /= sizes[order, None]
    times = times[order]
    before = np.searchsorted(times, rests[:, 0] + 1e-9) - 1
    begun = before >= 0
    before, until = before[begun], rests[begun, 1]
    states, times = (
        np.insert(states, before + 1, states[before], 0),
        np.insert(times, before + 1, until),
    )
    still = before + np.arange(len(before))
    states[[*still, *(still + 1)], 4:] = 0.0
    segments = _find_segments(path, times)
    unbroken = (segments[1:] == segments[:-1]) & (segments[1:] >= 0)
    states[:, 4:] = _select_usable_spins(times, states, unbroken)
    states[[*still, *(still + 1)], 4:] = 0.0
    return TurnTruth(path, starts, ends, times, states)


def _find_segments(path: Path, times: Floats) -> Integers:
    """Return the segments (n) of a path at these times, -1 where unknown."""
    count = len(times)
    found = np.empty(count, np.int32)
    path.read(times, 0.0, np.empty((count, 3)), np.empty((count, 3)), found)
    return found


def _select_usable_spins(times: Floats, states: Floats, unbroken: Flags) -> Floats:
    """Return the spins (n, 3), or the rotations' own rates where the spins are wrong.

    ``unbroken`` marks the n - 1 intervals without a cut.
    """
    steps = np.diff(times)[:, None]
    sent = states[:, 4:]
    rates = (
        np.radians(compute_rotation_vectors(find_turns_between(states[:-1, :4], states[1:, :4])))
        / steps
    )
    if np.isfinite(sent).all() and sent.any():
        mean = (sent[1:] + sent[:-1])[unbroken] / 2
        # more than half a turn in a step looks like less, the other way
        ways = _add_whole_turns(rates[unbroken], mean, steps[unbroken])
        speed = compute_lengths(ways)
        moving = speed > 0
        if not moving.any():
            return sent
        mismatch = compute_median(compute_lengths(mean - ways)[moving])
        if mismatch <= SPIN_MISMATCH * compute_median(speed[moving]):
            return sent
    # the slope of the parabola through three states, at an end that to the one neighbor
    weight = np.where(unbroken[:, None], 1 / steps, 0.0)
    totals, sums = np.zeros((len(times), 1)), np.zeros((len(times), 3))
    for side in (slice(1, None), slice(None, -1)):
        totals[side] += weight
        sums[side] += weight * rates
    return sums / np.where(totals > 0, totals, 1.0)


def _add_whole_turns(rates: Floats, expected: Floats, steps: Floats) -> Floats:
    """Add whole turns per step (n, 1, s) to ``rates`` (n, 3, rad/s) where they are expected."""
    speeds = compute_lengths(rates)[:, None]
    turn = 2 * np.pi / steps
    along = np.einsum("ij,ij->i", rates, expected)[:, None] / np.where(speeds > 0, speeds, 1.0)
    turns = np.rint((along - speeds) / turn)
    return np.asarray(rates * (1 + turns * turn / np.where(speeds > 0, speeds, 1.0)))


@dataclass(frozen=True)
class SampledTurns:
    """A truth's rotations (n, 4) at n ticks, NaN where unknown.

    ``step_limit`` (n - 1) is the largest angle of a step around each step, ``usual_step`` the root
    mean square, in degrees.
    """

    turns: TurnTruth
    rotations: Floats
    step_limit: Floats
    usual_step: float


def align_signs(rotations: Floats) -> Floats:
    """Return the rotations (n, 4) with each sign chosen to be nearest to the rotation before."""
    dots = np.einsum("ij,ij->i", rotations[1:], rotations[:-1])
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0))
    return np.concatenate((rotations[:1], rotations[1:] * signs[:, None]))


def measure_angles(one: Floats, other: Floats) -> Floats:
    """Return the angles (n) between rotations, 0 to 180 degrees; exact near both ends (Kahan)."""
    apart, sum_ = compute_lengths(one - other), compute_lengths(one + other)
    return np.asarray(np.degrees(4 * np.arctan2(np.minimum(apart, sum_), np.maximum(apart, sum_))))


def find_turns_between(begin: Floats, end: Floats) -> Floats:
    """Return the quaternions (n, 4) that rotate ``begin`` to ``end``, about the world's axes."""
    x, y, z, w = begin.T
    a, b, c, d = end.T
    return np.stack(
        (
            a * w - d * x - b * z + c * y,
            b * w - d * y - c * x + a * z,
            c * w - d * z - a * y + b * x,
            d * w + a * x + b * y + c * z,
        ),
        axis=1,
    )


def compute_rotation_vectors(rotations: Floats) -> Floats:
    """Return the rotation vectors (n, 3) in degrees, at most 180 long."""
    part = rotations[:, :3] * np.where(rotations[:, 3:] < 0, -1.0, 1.0)
    sine = compute_lengths(part)
    angle = np.degrees(2 * np.arctan2(sine, np.abs(rotations[:, 3])))
    return np.asarray(part * np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 0.0)[:, None])


def compute_euler_angles(rotations: Floats) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return yaw, pitch and roll in degrees (n each), by the name of the axis that is up.

    "z": z up, x forward; "y": y up, z forward. The angles are about the body's own axes in the
    order z, y, x, or y, x, z.
    """
    x, y, z, w = rotations.T
    return {"z": _compute_euler_angles(x, y, z, w), "y": _compute_euler_angles(z, x, y, w)}


def _compute_euler_angles(
    x: Floats, y: Floats, z: Floats, w: Floats
) -> tuple[Floats, Floats, Floats]:
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    pitch = np.arcsin((2 * (w * y - x * z)).clip(-1, 1))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return np.degrees(yaw), np.degrees(pitch), np.degrees(roll)


def compute_forward(rotations: Floats) -> Floats:
    """Return the unit vectors (n, 3) that the rotations point to: the rotated x axis."""
    x, y, z, w = rotations.T
    return np.stack((1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)), axis=1)


def project_headings(rotations: Floats, plane: tuple[int, int]) -> Floats:
    """Return the forward directions projected on a plane of two axes (n, 2).

    The length is 0 along the third axis. On the plane of x and y, the direction is the yaw.
    """
    return compute_forward(rotations)[:, plane]


def compute_yaws(rotations: Floats, plane: tuple[int, int]) -> Floats:
    """Return the angles (n, degrees) of the headings, from the plane's first axis to the second."""
    across, up = project_headings(rotations, plane).T
    return np.asarray(np.degrees(np.arctan2(up, across)))


def mark_known(rotations: Floats) -> Flags:
    """Mark the rows (n, 4) that have a rotation."""
    return ~np.isnan(rotations[:, 0])
