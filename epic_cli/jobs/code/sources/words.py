"""Types and functions that languages provide for the sources, and classes that sources share."""

from __future__ import annotations

from math import acos, cos, exp, floor, sin, sqrt
from typing import NamedTuple

__all__ = [
    "Clock",
    "Quat",
    "Rounding",
    "SendInterval",
    "Turning",
    "Vec3",
    "cos",
    "dot",
    "exp",
    "floor",
    "length",
    "sin",
    "sqrt",
]


# The sources whose strategies round, or measure intervals, have these.
ROUNDING: float
ROUNDING_BY: str
INTERVAL_COUNT: int
INTERVAL_SHARE: float
INTERVAL_LATE: float
INTERVAL_LEAST: float
INTERVAL_MOST: float
LIMITS_INTERVAL: bool


class Vec3(NamedTuple):
    """A position or a velocity."""

    x: float
    y: float
    z: float

    def __add__(self, other: Vec3) -> Vec3:  # type: ignore[override]
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor: float) -> Vec3:  # type: ignore[override]
        return Vec3(self.x * factor, self.y * factor, self.z * factor)


def dot(a: Vec3, b: Vec3) -> float:
    """Return the scalar product."""
    return a.x * b.x + a.y * b.y + a.z * b.z


def length(a: Vec3) -> float:
    """Return the length of a vector."""
    return sqrt(dot(a, a))


class Quat(NamedTuple):
    """A rotation, as a unit quaternion."""

    x: float
    y: float
    z: float
    w: float


class Turning:
    """The rotation of what is drawn."""

    rotation: Quat  # what is drawn

    def slerp(self, a: Quat, b: Quat, u: float) -> Quat:
        """Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985)."""
        cosine: float = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
        angle: float = acos(min(abs(cosine), 1.0))
        p: float = 1.0 - u
        q: float = u
        if angle > 1e-6:
            p = sin((1.0 - u) * angle) / sin(angle)
            q = sin(u * angle) / sin(angle)
        if cosine < 0.0:
            q = -q
        return Quat(a.x * p + b.x * q, a.y * p + b.y * q, a.z * p + b.z * q, a.w * p + b.w * q)


WINDOW: int = 32  # how many of the last differences count
USUAL_PART: int = 3  # the usual difference is at this part of their order
USUAL_PARTS: int = 8  # out of this many
NEAR: float = 1.5  # how many times as long, or as short, is near the usual one


TIMES: str


class Clock:
    """The receiver's clock."""

    def whole(self, time: float) -> float:
        """Return the time in whole milliseconds, and seconds."""
        return floor(time * 1000.0 + 1e-6) / 1000.0


class SendInterval:
    """A measurement of the typical time between two packets."""

    interval: float  # between two packets (s)
    mean: float  # of the measured intervals (s)
    differences: list[float]  # between the last timestamps
    sizes: list[float]  # the same by size

    def typical(self, difference: float) -> None:
        """Update the mean of those of the last differences that are near the usual one."""
        self.differences.append(difference)
        i: int = len(self.sizes)
        while i > 0 and self.sizes[i - 1] > difference:
            i -= 1
        self.sizes.insert(i, difference)
        if len(self.differences) > WINDOW:
            self.sizes.remove(self.differences[0])
            self.differences.pop(0)
        usual: float = self.sizes[(len(self.sizes) - 1) * USUAL_PART // USUAL_PARTS]
        total: float = 0.0
        near: int = 0
        for j in range(len(self.sizes)):
            if usual < NEAR * self.sizes[j] and NEAR * self.sizes[j] < NEAR * NEAR * usual:
                total += self.sizes[j] - usual
                near += 1
        self.interval = usual + total / float(near)

    def measure(self, difference: float) -> None:
        """Update the last interval, or the mean of the last ones."""
        if INTERVAL_LATE > 0.0:
            if difference <= 0.0:
                difference = INTERVAL_LATE
        self.interval = difference
        if INTERVAL_COUNT > 1:
            self.differences.append(difference)
            if len(self.differences) > INTERVAL_COUNT:
                self.differences.pop(0)
            self.interval = 0.0
            for i in range(len(self.differences)):
                self.interval += self.differences[i]
            self.interval = self.interval / float(len(self.differences))
        if INTERVAL_SHARE < 1.0:
            if self.mean > INTERVAL_LEAST:
                self.mean += (difference - self.mean) * INTERVAL_SHARE
            else:
                self.mean = difference
            self.interval = self.mean
        self.interval = max(self.interval, INTERVAL_LEAST)
        if LIMITS_INTERVAL:
            self.interval = min(self.interval, INTERVAL_MOST)


class Rounding:
    """The rounding of what is drawn."""

    def nearest(self, x: float) -> float:
        """Return the multiple of ROUNDING to which x is rounded."""
        # of the nearest two, a half goes up
        steps: float = floor(x / ROUNDING) if ROUNDING_BY == "down" else floor(x / ROUNDING + 0.5)
        return steps * ROUNDING

    def rounded(self, a: Vec3) -> Vec3:
        """Return the position of which each coordinate is such a multiple."""
        return Vec3(self.nearest(a.x), self.nearest(a.y), self.nearest(a.z))
