"""Conversion of packets and rows to NumPy arrays, and fast operations on vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from epic_cli.engine.measure import fill_packet_table, fill_rotations, sort_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay import Trace

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.intp]

_Value = TypeVar("_Value", bound=np.generic)

#: Columns of a table: times in seconds; NaN is unknown; teleports are 0 or 1.
TIME, ARRIVAL, SEQUENCE, TELEPORT = 0, 7, 8, 9
POSITION, VELOCITY = slice(1, 4), slice(4, 7)
COLUMNS = 10

#: Rows below those of a table with rotations: x, y, z, w and the spin (rad/s).
TURN = slice(10, 17)

#: Larger numbers cannot be squared; they count as not finite.
LARGEST = 1e100

#: A resolution is no more than this share of the usual step from one state to the next.
ROUNDED_STEP = 0.05

#: The type of a trace's rows, once there was one.
_ROW: list[np.dtype[Any]] = []


def make_packet_table(packets: PacketBlock) -> NDArray[np.float64]:
    """Return the packets, in their order, as an array (``COLUMNS``, n)."""
    columns = np.empty((COLUMNS, len(packets)))
    fill_packet_table(packets, columns)
    return columns


def make_turning_table(packets: PacketBlock) -> NDArray[np.float64]:
    """Return packets as an array of columns, with the rows of ``TURN`` if any has a rotation."""
    columns = make_packet_table(packets)
    if not packets.turns():
        return columns
    turns = np.empty((len(packets), 7))
    fill_rotations(packets, turns)
    return np.concatenate((columns, turns.T))


def collect_rows(trace: Trace) -> NDArray[Any]:
    """Return the rows of a trace as a structured array.

    Numpy parses their format more slowly than it draws a few rows, so the format is kept.
    """
    if not _ROW:
        _ROW.append(np.asarray(trace).dtype)
    return np.ndarray(len(trace), _ROW[0], memoryview(trace))


def compute_median(values: Floats) -> float:
    """Return numpy's median, bit for bit; ten times as fast for few values. NaN without values."""
    count = len(values)
    if not count:
        return math.nan
    ordered = np.partition(values, ((count - 1) // 2, count // 2, count - 1))
    low, high, last = ordered[(count - 1) // 2], ordered[count // 2], ordered[-1]
    return float(last if math.isnan(last) else (low + high) / 2)


def compute_positive_median(values: Floats, otherwise: float = math.nan) -> float:
    """Return the median of the values above 0; ``otherwise`` if there are none."""
    positive = values[values > 0]
    return compute_median(positive) if len(positive) else otherwise


def list_distinct(values: NDArray[_Value]) -> NDArray[_Value]:
    """Return the distinct values, sorted, without loading numpy's masked arrays.

    NaN is not allowed.
    """
    ordered = np.sort(values)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def sort(distances: Floats) -> Floats:
    """Return a sorted copy of distances, several times as fast as numpy; no NaN is allowed."""
    ordered = distances.copy()
    sort_distances(ordered)
    return ordered


def compute_quantile(values: Floats, share: float) -> float:
    """Return numpy's quantile, bit for bit, but ten times as fast for few values."""
    place = (len(values) - 1) * share
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    ordered = np.partition(values, (low, high, len(values) - 1))
    below, above, last = float(ordered[low]), float(ordered[high]), ordered[-1]
    if math.isnan(last):
        return math.nan
    part = place - low
    return below + (above - below) * part if part < 0.5 else above - (above - below) * (1 - part)


def find_resolution(positions: Floats) -> float:
    """Return the smallest meaningful difference between finite positions (n, 3).

    It is half a unit of the last decimal that rounded positions are written with; else the spacing
    of single precision, in which some strategies compute.
    """
    rounding = float(np.abs(positions).max(initial=0.0)) * 2.0**-23
    some = positions[:4096]
    thirds = compute_lengths(np.diff(some, 3, axis=0))
    steps = compute_lengths(np.diff(some, axis=0))
    moving = steps[steps > rounding]
    # states that lie exactly on a line or a parabola were not rounded, however few digits they have
    if not len(moving) or 2 * np.count_nonzero(thirds > 8 * rounding) < len(thirds):
        return rounding
    for decimals in range(7):
        unit = 10.0**-decimals
        if (np.abs(some - np.rint(some / unit) * unit) <= rounding).all():
            return max(min(unit / 2, ROUNDED_STEP * compute_median(moving)), rounding)
    return rounding


def mark_all_three(flags: Flags) -> Flags:
    """Mark the rows (n, 3) whose three values are all true, several times as fast as ``all``."""
    return np.asarray(flags[:, 0] & flags[:, 1] & flags[:, 2])


def find_edges(flags: Flags) -> tuple[Places, Places]:
    """Return the start of each run of true values, and the index after its end."""
    padded = np.concatenate(([False], flags, [False]))
    both = np.flatnonzero(padded[1:] != padded[:-1])
    return both[::2], both[1::2]


def choose_places(count: int, most: int) -> Places:
    """Choose about ``most`` of ``count`` indices: a random one from each of ``most`` equal parts.

    All indices are chosen if there are no more. Every n-th index would fall in step with packets.
    The choice for the same numbers is always the same.
    """
    return np.arange(count) if count <= most else _choose_places(count, most)


@lru_cache(maxsize=16)
def _choose_places(count: int, most: int) -> Places:
    # raw bits: only these are promised to stay the same in later versions of numpy
    shares = (np.random.PCG64(count).random_raw(most) >> np.uint64(11)) / 2.0**53
    bounds = np.arange(most + 1) * count // most
    return np.asarray(bounds[:-1] + (shares * np.diff(bounds)).astype(np.intp))


def compute_lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors (n, 3) or quaternions (n, 4), much faster than numpy."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))


def compute_rms(values: Floats) -> float:
    """Return the root mean square of the values; 0 without values."""
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0


_GOLDEN = (math.sqrt(5) - 1) / 2


def find_minimum(
    of: Callable[[float], float], low: float, high: float, steps: int = 14
) -> tuple[float, float]:
    """Find the minimum of a function with a single minimum between ``low`` and ``high``.

    Return the place and the value. Golden section search: each of the ``steps`` leaves 0.618 of the
    range. J. Kiefer, "Sequential Minimax Search for a Maximum", Proc. AMS 4 (3), 1953.
    """
    one, other = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    here, there = of(one), of(other)
    for _ in range(steps):
        if here <= there:
            high, other, there = other, one, here
            one = high - _GOLDEN * (high - low)
            here = of(one)
        else:
            low, one, here = one, other, there
            other = low + _GOLDEN * (high - low)
            there = of(other)
    return (one, here) if here <= there else (other, there)
