"""Columns of unknown bytes that are stamps, names, positions, speeds or rotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log10

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.intp]

#: Nothing is said of fewer datagrams, or records.
LEAST = 16

#: Counts a second that a clock may have: ticks, and units of time. And how near it is to them.
_RATES = (1, 10, 12, 15, 20, 24, 25, 30, 32, 40, 48, 50, 60, 64, 66, 72, 75, 90, 100, 120, 125, 128,
          144, 180, 240, 1e3, 1e4, 1e6, 1e7, 1e9)  # fmt: skip
_NEAR = 0.004

#: The ratio of von Neumann (half the mean square of differences by the variance) is 1 for noise;
#: that of a path is below the first, that of its differences below the second.
_SMOOTH, _STEADY = 0.2, 0.7

_STAMPS = ("u32", "f64", "f32", "u64", "u16", "u8")
_PLACES = ("f64", "f32", "i32", "f16", "i16", "u16")


@dataclass(frozen=True)
class Column:
    """A number of so many bytes at a place; what it counts ``per`` second, for a stamp."""

    name: str
    kind: str
    at: int
    per: float = 1.0

    @property
    def bits(self) -> int:
        """Of its type."""
        return int(self.kind[1:])

    @property
    def places(self) -> set[int]:
        """Its bits, for one ``at`` a bit."""
        return set(range(self.at, self.at + self.bits))

    @property
    def span(self) -> set[int]:
        """Its bytes."""
        return set(range(self.at, self.at + size_of(self.kind)))

    @property
    def word(self) -> str:
        """As a layout has it."""
        return f"{self.name}:{self.kind}" + (f"/{self.per:g}" if self.per != 1 else "")


@dataclass(frozen=True)
class Proposal:
    """A layout, and how much speaks for it: the bytes that it explains, and how well.

    ``columns`` are those of the header and of the first record, by their places in a datagram.
    ``sure``: nothing else is as likely.
    """

    layout: str
    score: float
    columns: tuple[Column, ...] = ()
    sure: bool = False


@dataclass(frozen=True)
class Form:
    """Headers, and the records behind them, each with the number of its datagram."""

    header: Bytes
    records: Bytes
    owner: _Whole
    times: Floats
    count: Column | None
    big: bool


def size_of(kind: str) -> int:
    """The bytes of a type."""
    return int(kind[1:]) // 8


def columns_of(data: Bytes, kinds: Sequence[str], big: bool) -> Iterator[tuple[str, int, Floats]]:
    """The numbers of these types at each place: type, place, values."""
    for kind in kinds:
        size = size_of(kind)
        for at in range(data.shape[1] - size + 1):
            raw = np.ascontiguousarray(data[:, at : at + size])
            with np.errstate(all="ignore"):
                numbers = raw.view(f"{'>' if big else '<'}{kind[0]}{size}")[:, 0]
                yield kind, at, numbers.astype(float)


def beat_of(
    steps: Floats, times: Floats, most_back: float
) -> tuple[float, float, float, bool, bool] | None:
    """How what steps so goes with the arrivals (s); None: not at all.

    Spread (s), counts a second, the usual number next to that, whether it is near, and whether each
    step is 1. ``most_back`` is the share of steps that may be back.
    """
    series, span = np.concatenate([[0.0], np.cumsum(steps)]), np.ptp(times)
    rises = span > 0 and np.isfinite(series).all() and series[-1] > 0
    if not rises or np.mean(steps < 0) > most_back:
        return None
    times = times - times.mean()  # a line through dates is badly conditioned
    slope, base = np.polyfit(times, series, 1)
    spread = np.sqrt(np.mean((series - base - slope * times) ** 2)) / slope
    if not 0 <= spread < min(0.05 * span, 0.5):
        return None
    rate = min(_RATES, key=lambda one: abs(one / slope - 1))
    near = abs(rate / slope - 1) < _NEAR + 2 * spread / span
    return spread, slope, rate, bool(near), bool(np.mean(steps == 1) > 0.8)


def stamps_of(data: Bytes, times: Floats, big: bool) -> list[tuple[float, Column]]:
    """Columns that go with the arrivals, and how well; the best first."""
    found = []
    order = np.argsort(times, kind="stable")
    times = times[order]
    span = np.ptp(times) if len(times) else 0.0
    for kind, at, column in columns_of(data, _STAMPS if span else (), big):
        size = size_of(kind)
        steps = np.diff(column[order])
        if kind[0] == "u" and size < 8:  # it may start over
            steps = (steps + 2.0 ** (8 * size - 1)) % 2.0 ** (8 * size) - 2.0 ** (8 * size - 1)
        beat = beat_of(steps, times, 0.2)
        if beat is None:
            continue
        spread, slope, rate, near, each = beat
        lowest = kind[0] == "u" and (steps % 256 == 0).all()  # a byte that does not count
        near = near and (rate in (1, 1e3) if kind[0] == "f" else size == 8 or rate <= 1e6)
        if lowest or (not near and (not each or kind[0] == "f")):
            continue
        quality = 2.0 * near - 0.5 * log10(1 + spread * 1e4) - 0.02 * _STAMPS.index(kind)
        quality -= {1: 0.8, 2: 0.3}.get(size, 0.0) + 0.4 * each
        quality += 0.6 * (kind[0] == "f" or rate in (1e3, 1e6, 1e9))
        quality += 0.1 * (kind == "u64" and rate >= 1e6)
        quality -= 0.5 * (kind == "u64" and slope < 1e5 and not 1e12 < column[0] < 1e13)
        top = column // 65536  # of two numbers that stand one after the other
        quality -= 0.6 * (kind == "u32" and np.ptp(top) == 0 and top[0] >= 4096)
        per = float(rate) if near else float(f"{slope:.3g}")
        found.append((float(quality) + 1, Column("time", kind, at, per)))
    return sorted(found, key=lambda one: -one[0])


def _names(form: Form, busy: set[int]) -> Iterator[tuple[list[Column], _Whole]]:
    """What may tell entities apart, with the number of each record's entity; nothing at first."""
    yield [], np.zeros(len(form.records), np.intp)
    for kind, at, values in columns_of(form.records, ("u8", "u16", "u32"), form.big):
        different, codes = np.unique(values, return_inverse=True)
        column = Column("id", kind, at)
        if 1 < len(different) <= min(256, len(values) / 6) and not busy & column.span:
            yield [column], codes


def place_of(form: Form, busy: set[int]) -> tuple[float, list[Column]] | None:
    """What speaks for the best position, and its columns, with name, speed and rotation."""
    best: tuple[float, list[Column]] | None = None
    columns = {
        (kind, at): values
        for kind, at, values in columns_of(form.records, _PLACES, form.big)
        if not busy & Column("", kind, at).span
    }
    turns = _turns(columns)
    for _, (name, codes) in zip(range(7), _names(form, busy), strict=False):
        used = set[int]().union(*(one.span for one in (*turns, *name)))
        order = np.argsort(codes, kind="stable")
        inside = np.diff(codes[order]) == 0
        marks = {
            (kind, at): _smooth(kind, values[order], inside)
            for (kind, at), values in columns.items()
            if not used & Column("", kind, at).span
        }
        for (kind, at), mark in marks.items():  # two numbers look like one of twice the size
            if kind == "f64" and marks.get(("f32", at + 4 * form.big), 0.0) > 0:
                marks[kind, at] = 0.0
            elif kind == "i32" and mark > 0:
                halves = (columns["u16", at + 2 * half][order] for half in (form.big, not form.big))
                low, high = (np.diff(one)[inside] for one in halves)
                if np.sum(np.abs(low[high != 0]) < 16384) > 0.6 * np.sum(high != 0):  # no carry
                    marks[kind, at] = 0.0
        run = _best_run(marks)
        if run is None:
            continue
        value, kind, at, axes = run
        value *= 0.85 if name else 1.0
        if best is None or value > best[0] * (1.02 if name else 1.0):
            place = [Column("xyz"[axis], kind, at + axis * size_of(kind)) for axis in range(axes)]
            times = form.times[form.owner][order]
            speeds = _speeds(place, columns, order, inside, times)
            best = value, [*place, *name, *speeds]
    if best is None or any(one.span & other.span for one in turns for other in best[1]):
        return best
    return best[0] + 2.0 * len(turns), [*best[1], *turns]


def _best_run(marks: dict[tuple[str, int], float]) -> tuple[float, str, int, int] | None:
    """What speaks for the best two or three columns in a row, their type, place and number.

    Of those as good as the best, the first in the record: speeds stand behind positions.
    """
    runs = []
    for kind, at in marks:
        size = size_of(kind)
        for axes in (3, 2):
            some = [marks.get((kind, at + size * axis), 0.0) for axis in range(axes)]
            still = [axis for axis in range(axes) if some[axis] < 0]
            if all(some) and axes - len(still) >= 2 and still in ([], [1], [2][: kind[0] == "f"]):
                value = sum(size * (0.7 + min(one, 3) / 10) if one > 0 else 0.3 for one in some)
                runs.append((value * (0.9 if kind == "f16" else 1.0), kind, at, axes))
    if not runs:
        return None
    best = max(runs, key=lambda one: one[0])
    alike = [one for one in runs if (one[1], one[3]) == (best[1], best[3])]
    return min((one for one in alike if one[0] > 0.8 * best[0]), key=lambda one: one[2])


def _smooth(kind: str, series: Floats, inside: npt.NDArray[np.bool_]) -> float:
    """How smoothly a column moves (digits below noise); -1: it stands still; 0: it is none.

    ``inside``: whether a difference is one of the same entity.
    """
    real = kind[0] == "f"
    size = np.abs(series)
    odd = np.mean((size > 1e7) | ((size > 0) & (size < 1e-6))) if real else 0.0
    if not size.max() < 1e10 or odd > 0.03:
        return 0.0
    span = np.ptp(series)
    if span == 0:
        return -1.0 if real or series[0] == 0 else 0.0
    return smoothness(series, inside)


def smoothness(series: Floats, inside: npt.NDArray[np.bool_]) -> float:
    """By how many digits a path's steps are below those of noise; 0: it is none."""
    steps = np.diff(series)[inside]
    if (
        np.ptp(series) < 24 * (series == series.round()).all()
        or len(np.unique(series)) < 8
        or len(steps) < LEAST
    ):
        return 0.0
    group = np.concatenate([[0], np.cumsum(~inside)])
    middle = np.bincount(group, series) / np.bincount(group)
    moving = np.mean(steps**2)
    eta = moving / (2 * np.mean((series - middle[group]) ** 2) or 1.0)
    second = np.diff(np.diff(series))[inside[1:] & inside[:-1]]
    steady = np.mean(second**2) / (2 * moving) if moving > 0 and len(second) else 1.0
    if not 0 < eta <= _SMOOTH or (steady > _STEADY and eta > 0.02):
        return 0.0
    return float(max(0.1, -log10(max(eta, 1e-6)) / 2 - log10(max(steady, 1e-3)) / 2))


def _speeds(
    place: list[Column],
    columns: dict[tuple[str, int], Floats],
    order: _Whole,
    inside: npt.NDArray[np.bool_],
    times: Floats,
) -> list[Column]:
    """Columns that are the position's differences by time, next to each other."""
    kind, size = place[0].kind, size_of(place[0].kind)
    steps = np.diff(times)
    some = inside & (steps > 0)
    taken = set[int]().union(*(one.span for one in place))
    for at in [at for other, at in columns if other == kind and some.sum() >= LEAST]:
        found = [Column(f"v{one.name}", kind, at + axis * size) for axis, one in enumerate(place)]
        if taken & set(range(at, at + size * len(place))) or any(
            (kind, one.at) not in columns for one in found
        ):
            continue
        pairs = []
        for one, speed in zip(place, found, strict=True):
            moved = np.diff(columns[kind, one.at][order])[some] / np.median(steps[some])
            values = columns[kind, speed.at][order]
            with np.errstate(all="ignore"):
                pairs.append((moved, ((values[1:] + values[:-1]) / 2)[some]))
        if all(_go_together(a, b) for a, b in pairs):
            return found
    return []


def _go_together(a: Floats, b: Floats) -> bool:
    if not np.abs(b).max() < 1e10 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return bool(np.ptp(a) == 0 and np.ptp(b) == 0)
    with np.errstate(all="ignore"):  # what hardly varies
        return bool(np.corrcoef(a, b)[0, 1] > 0.7)


def _turns(columns: dict[tuple[str, int], Floats]) -> list[Column]:
    """Four fractions in a row whose squares have the sum 1."""
    for kind, at in columns:
        places = [(kind, at + size_of(kind) * part) for part in range(4)]
        if kind in ("f32", "f64") and all(one in columns for one in places):
            four = np.array([columns[one] for one in places])
            with np.errstate(all="ignore"):
                unit = np.abs(np.square(four).sum(axis=0) - 1) < 1e-3
            if unit.all() and np.ptp(four, axis=1).any():
                names = ("qx", "qy", "qz", "qw")
                return [Column(name, kind, one[1]) for name, one in zip(names, places, strict=True)]
    return []
