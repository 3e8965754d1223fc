"""What sources are written with; each language has its own."""

from __future__ import annotations

from math import cos, exp, sqrt
from typing import NamedTuple

__all__ = ["Vec3", "cos", "dot", "exp", "length", "sqrt"]


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
    """The scalar product."""
    return a.x * b.x + a.y * b.y + a.z * b.z


def length(a: Vec3) -> float:
    """How long a vector is."""
    return sqrt(dot(a, a))
