"""Rotating recordings, and the rotation faults of real senders, made with SciPy.

A recording is its ``packet_table`` and seven more rows: the rotation x, y, z, w, then the spin
(rad/s, about the world's axes; NaN: none).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.spatial.transform import Rotation, Slerp

from epic_cli.metrics.arrays import POSITION, TIME, VELOCITY

if TYPE_CHECKING:
    from support.faulty_traffic import Case

Floats = NDArray[np.float64]

#: Ticks (Hz) of what turns.
FINE = 240

#: How it turns: along its way, looking about, all around, freely.
KINDS = ("heading", "look", "around", "tumble")


class Attitude(NamedTuple):
    """A rotation at each tick (n)."""

    times: Floats
    turns: Rotation

    def at(self, times: Floats) -> Rotation:
        return Slerp(self.times, self.turns)(np.clip(times, self.times[0], self.times[-1]))

    def spin(self, times: Floats) -> Floats:
        """Return the angular velocity in world axes, rad/s."""
        steps = (self.turns[1:] * self.turns[:-1].inv()).as_rotvec() * FINE
        middles = (self.times[1:] + self.times[:-1]) / 2
        return np.stack([np.interp(times, middles, axis) for axis in steps.T])


def _waves(random: np.random.Generator, times: Floats, low: float, high: float) -> Floats:
    """Return sums of three sines with these largest amplitudes."""
    found = np.zeros(len(times))
    for _ in range(3):
        rate, phase = random.uniform(0.1, 0.6), random.uniform(0, 2 * np.pi)
        found += random.uniform(low, high) * np.sin(2 * np.pi * rate * times + phase)
    return found


def attitude(kind: str, case: Case) -> Attitude:
    """Return the rotation of a movement, without any fault."""
    rows, random = case.rows, case.random
    times = np.arange(rows[TIME].min() - 1, rows[TIME].max() + 1, 1 / FINE)
    if kind == "heading":
        ways = [np.interp(times, rows[TIME], row) for row in rows[VELOCITY][:2]]
        x, y = (uniform_filter1d(way, 2 * (FINE // 10) + 1) for way in ways)
        angles = np.stack([np.unwrap(np.arctan2(y, x)), 0 * x, 0 * x], axis=1)
    elif kind == "tumble":
        spins = np.stack([_waves(random, times, 0.3, 1.2) for _ in range(3)], axis=1)
        found = [random.normal(size=4)]
        x, y, z, w = found[0] / np.linalg.norm(found[0])
        for a, b, c in np.sin(spins / FINE / 2):
            x, y, z, w = (
                x + a * w + b * z - c * y,
                y + b * w + c * x - a * z,
                z + c * w + a * y - b * x,
                w - a * x - b * y - c * z,
            )
            size = np.sqrt(x * x + y * y + z * z + w * w)
            x, y, z, w = x / size, y / size, z / size, w / size
            found.append(np.array([x, y, z, w]))
        return Attitude(times, Rotation.from_quat(np.array(found[1:])))
    else:
        yaw = random.uniform(-np.pi, np.pi) + np.radians(_waves(random, times, 15, 45))
        if kind == "around":
            yaw += random.choice([-1, 1]) * random.uniform(0.3, 1.5) * times
        pitch, roll = (np.radians(_waves(random, times, 3, 12)) for _ in range(2))
        angles = np.stack([yaw, pitch, roll], axis=1)
    return Attitude(times, Rotation.from_euler("ZYX", angles))


def recorded(case: Case, shown: Attitude, spins: Attitude | None) -> Floats:
    """Return the recording with rotations of random signs."""
    times = case.rows[TIME]
    spin = np.full((3, len(times)), np.nan) if spins is None else spins.spin(times)
    rows = np.concatenate((case.rows, shown.at(times).as_quat().T, spin))
    # in half of them y is up and z forward
    return y_up(rows) if case.random.random() < 0.5 else rows


def y_up(rows: Floats) -> Floats:
    rows = rows.copy()
    for begin in (POSITION.start, VELOCITY.start, 10, 14):
        rows[begin : begin + 3] = rows[[begin + 1, begin + 2, begin]]
    return rows


def turning(kind: str, case: Case) -> Floats:
    """Return a recording with rotations and without faults; half of them have spins."""
    true = attitude(kind, case)
    return recorded(case, true, true if case.random.random() < 0.5 else None)


def half_turns(case: Case) -> Floats:
    """Smooth the yaw as a plain number, or draw straight lines between updates."""
    random = case.random
    true = attitude("around", case)
    angles = true.turns.as_euler("ZYX")
    yaw = angles[:, 0] if random.random() < 0.5 else angles[:, 0] % (2 * np.pi)
    if random.random() < 0.5:
        share = -np.expm1(-1 / FINE / (random.uniform(0.05, 0.15) * case.strength))
        for k in range(1, len(yaw)):
            yaw[k] = yaw[k - 1] + share * (yaw[k] - yaw[k - 1])
    else:
        ticks = np.arange(0, len(yaw), round(FINE * random.uniform(0.1, 0.25) * case.strength))
        yaw = np.interp(np.arange(len(yaw)), ticks, yaw[ticks])
    shown = Attitude(true.times, Rotation.from_euler("ZYX", np.stack([yaw, *angles.T[1:]], axis=1)))
    return recorded(case, shown, true if random.random() < 0.3 else None)


def coarse_angles(case: Case) -> Floats:
    """Round angles to bytes, or rotations to the smallest three components in few bits."""
    random = case.random
    true = attitude(random.choice(KINDS), case)
    rows = recorded(case, true, true if random.random() < 0.3 else None)
    turns = Rotation.from_quat(rows[10:14].T)
    bits = 8 - round(np.log2(case.strength))
    if random.random() < 0.7:
        order = random.choice(["ZYX", "YXZ"])
        step = 2 * np.pi / 2**bits
        angles = np.round(turns.as_euler(order) / step) * step
        rows[10:14] = Rotation.from_euler(order, angles).as_quat().T
        return rows
    quaternions = turns.as_quat()
    largest = np.abs(quaternions).argmax(axis=1)
    quaternions *= np.sign(np.take_along_axis(quaternions, largest[:, None], 1))
    steps = 2**bits - 1
    packed = np.round((quaternions * np.sqrt(2) + 1) / 2 * steps)
    found = (packed / steps * 2 - 1) / np.sqrt(2)
    np.put_along_axis(found, largest[:, None], 0.0, 1)
    rest = np.sqrt(np.maximum(0, 1 - (found**2).sum(axis=1)))
    np.put_along_axis(found, largest[:, None], rest[:, None], 1)
    rows[10:14] = found.T
    return rows


def late_turns(case: Case) -> Floats:
    """Delay rotations by some time or some packets; positions and spins stay."""
    random = case.random
    by_spin = random.random() < 0.5
    true = attitude(random.choice(["look", "around", "tumble"]) if by_spin else "heading", case)
    if random.random() < 0.5:
        late = true._replace(times=true.times + random.uniform(0.1, 0.25) * case.strength)
        return recorded(case, late, true if by_spin else None)
    rows = recorded(case, true, true if by_spin else None)
    count = max(1, round(random.uniform(0.1, 0.25) / case.period * case.strength))
    rows[10:14, count:] = rows[10:14, :-count]
    return rows


def wrong_spins(case: Case) -> Floats:
    """Write spins about the body's axes, in degrees or turns a second, or per tick."""
    random = case.random
    true = attitude(random.choice(["look", "around", "tumble"]), case)
    rows = recorded(case, true, true)
    fault = random.integers(4)
    if fault == 0:
        rows[14:] = Rotation.from_quat(rows[10:14].T).inv().apply(rows[14:].T).T
    else:
        tick = 1 / random.choice([20, 30, 60, 128])
        rows[14:] *= (np.degrees(1), 1 / (2 * np.pi), tick)[fault - 1]
    return rows
