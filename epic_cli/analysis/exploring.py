"""What unknown binary datagrams hold: stamps, counters, names and positions, as layouts to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import gcd, log10

import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]
_Floats = npt.NDArray[np.float64]
_Whole = npt.NDArray[np.intp]

#: So many datagrams, records and forms are looked at; none with fewer than the least.
_MOST, _FORMS, LEAST = 1500, 16, 16

#: Bytes of a header, at most.
_HEADER = 40

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
    def span(self) -> set[int]:
        """Its bytes."""
        return set(range(self.at, self.at + _size(self.kind)))

    @property
    def word(self) -> str:
        """As a layout has it."""
        return f"{self.name}:{self.kind}" + (f"/{self.per:g}" if self.per != 1 else "")


@dataclass(frozen=True)
class Proposal:
    """A layout, and how much speaks for it: the bytes that it explains, and how well.

    ``columns`` are those of the header and of the first record, by their places in a datagram.
    """

    layout: str
    score: float
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class _Form:
    """Headers, and the records behind them, each with the number of its datagram."""

    header: _Bytes
    records: _Bytes
    owner: _Whole
    times: _Floats
    count: Column | None
    big: bool


def _size(kind: str) -> int:
    return int(kind[1:]) // 8


def proposals(datagrams: Sequence[bytes], times: Sequence[float]) -> list[Proposal]:
    """Layouts of datagrams with their arrivals (s), the best first; none where nothing is found.

    Each has a stamp that goes with the arrivals, and positions that move smoothly.
    """
    pairs = [(a, b) for a, b in zip(datagrams, times, strict=True) if a][:_MOST]
    found = list(_of_one_type(pairs))
    for at in range(0 if found else min(8, min((len(a) for a, _ in pairs), default=0))):
        kinds = sorted({a[at] for a, _ in pairs})
        changes = sum(a[at] != b[at] for (a, _), (b, _) in pairwise(pairs))
        if not 2 <= len(kinds) <= 8 or changes < 3 * len(kinds):
            continue
        parts: list[str] = []
        columns: tuple[Column, ...] = ()
        score = 0.0
        for kind in kinds:
            some = [(a[at + 1 :], b) for a, b in pairs if a[at] == kind]
            one = max(_of_one_type(some), key=lambda one: one.score, default=None)
            if one is not None:
                order = "" if one.layout.startswith("big ") or not parts else "little "
                parts.append(f"kind={kind}{{{order}{one.layout}}}")
                score += one.score * len(some) / len(pairs)
                columns = columns or tuple(replace(c, at=c.at + at + 1) for c in one.columns)
        if parts:
            skip = f"_:{at} " if at else ""
            score -= 0.15 * at
            found.append(Proposal(f"{skip}kind:u8 {' '.join(parts)} else{{...}}", score, columns))
    return sorted(found, key=lambda one: -one.score)


def _of_one_type(pairs: list[tuple[bytes, float]]) -> Iterator[Proposal]:
    if len(pairs) >= LEAST:
        for form in _forms([a for a, _ in pairs], np.array([b for _, b in pairs])):
            found = _proposal(form)
            if found is not None:
                yield found


# --------------------------------------------------------------------------- a header and records


def _forms(data: list[bytes], times: _Floats) -> Iterator[_Form]:
    """How datagrams may be made up of a header and records."""
    sizes = np.array([len(one) for one in data])
    least = int(sizes.min())
    head = np.array([list(one[: min(least, _HEADER)]) for one in data], np.uint8)
    step = reduce(gcd, (int(one) for one in np.unique(sizes - least)))
    shapes: list[tuple[int, int, Column | None, bool]] = []  # bytes of both, the count, its order
    if step >= 6:
        shapes += [(least % step + more * step, step, None, False) for more in (0, 1)]
    elif not step:
        shapes += [(first, size, None, False) for first, size in [(0, least), *_repeats(data)]]
    for big in (False, True):
        for kind, at, values in _columns(head, ("u16",) if big else ("u8", "u16"), big):
            counts = values.astype(int)
            fixed = counts.min() == counts.max()
            if not 2 <= counts.max() <= 200 or (not step and not fixed):
                continue
            for size in [step] if step else range(6, least // int(counts[0]) + 1):
                first = sizes - counts * size
                if first.min() == first.max() and first[0] > at:
                    shapes.append((int(first[0]), size, Column("n", kind, at), big))
    for first, size, count, big in sorted(shapes, key=lambda one: one[0])[:_FORMS]:
        owner = np.repeat(np.arange(len(data)), (sizes - first) // size)[:_MOST]
        if first <= min(least, _HEADER) and len(owner) >= LEAST:
            body = b"".join(one[first:] for one in data)[: len(owner) * size]
            records = np.frombuffer(body, np.uint8).reshape(-1, size)
            for order in (False, True) if count is None or count.kind == "u8" else (big,):
                yield _Form(head[:, :first], records, owner, times, count, order)


def _repeats(data: list[bytes]) -> list[tuple[int, int]]:
    """Sizes of a header and of records, of which all have bytes that change as often."""
    whole = np.array([list(one) for one in data[:400]], np.uint8)
    often = np.mean(whole[1:] != whole[:-1], axis=0)
    found = []
    for size in range(6, len(often) // 2 + 1):
        away = np.abs(often[size:] - often[:-size])
        for first in range(len(often) % size, min(_HEADER, len(often) - 2 * size) + 1, size):
            found.append((float(away[first:].mean()), size, first))
    return [(first, size) for away, size, first in sorted(found)[:4] if away < 0.06]


def _columns(data: _Bytes, kinds: Sequence[str], big: bool) -> Iterator[tuple[str, int, _Floats]]:
    """The numbers of these types at each place: type, place, values."""
    for kind in kinds:
        size = _size(kind)
        for at in range(data.shape[1] - size + 1):
            raw = np.ascontiguousarray(data[:, at : at + size])
            with np.errstate(all="ignore"):
                numbers = raw.view(f"{'>' if big else '<'}{kind[0]}{size}")[:, 0]
                yield kind, at, numbers.astype(float)


# ------------------------------------------------------------------------------------ what is found


def _proposal(form: _Form) -> Proposal | None:
    """The layout of a form that has a stamp and a position; None: it has not both."""
    stamps = [(0, *one) for one in _stamps(form.header, form.times, form.big)]
    stamps = [one for one in stamps if form.count is None or not one[2].span & form.count.span]
    if not stamps or len(np.unique(form.owner)) == len(form.owner):
        stamps += [(1, *one) for one in _stamps(form.records, form.times[form.owner], form.big)]
    if not stamps:
        return None
    inside, quality, time = max(stamps, key=lambda one: one[1])
    place = _place(form, time.span if inside else set())
    if place is None:
        return None
    score, records = place
    header = [] if form.count is None else [form.count]
    parts = (header, records)
    parts[inside].append(time)
    for part, _, one in stamps:
        free = not any(one.span & other.span for other in parts[part])
        if free and one.kind[0] == "u" and "seq" not in {c.name for c in (*header, *records)}:
            parts[part].append(Column("seq", one.kind, one.at))
    first, size = form.header.shape[1], form.records.shape[1]
    known = 0
    for data, columns in zip((form.header, form.records), parts, strict=True):
        still = set(np.flatnonzero(np.ptp(data, axis=0) == 0).tolist())
        known += len(still.union(*(one.span for one in columns)))
    score = score * (0.4 + 0.6 * known / (first + size)) + quality + 2 * (form.count is not None)
    score -= 0.05 * (first - sum(len(one.span) for one in header))
    record = _words(records, form.records, not first)
    if first or form.count:
        record = f"{_words(header, form.header, True)} {{{record}}}[{'n' if form.count else ''}]"
    shown = (*header, *(replace(one, at=one.at + first) for one in records))
    layout = ("big " if form.big else "") + record.strip()
    return Proposal(layout, score / (1 + log10(1 + size / 8)), shown)


def _words(columns: Sequence[Column], data: _Bytes, checks: bool) -> str:
    """Columns in their order, with what is between them; constants at the start are checked."""
    words: list[str] = []
    at = 0
    for one in [*sorted(columns, key=lambda one: one.at), Column("", "u0", data.shape[1])]:
        size = 4 if one.at >= 4 else 2 if one.at >= 2 else 0
        start = bytes(data[0, :size])
        if checks and not words and any(start) and (data[:, :size] == data[0, :size]).all():
            text = start.decode("latin-1")
            named = text.isalnum() and text.isascii()
            words += [f"_:char[{size}]={text}"] if named else [f"_:u8={byte:#x}" for byte in start]
            at = size
        if one.at > at:
            words.append(f"_:{one.at - at}")
        if one.name:
            words.append(one.word)
        at = one.at + _size(one.kind)
    return " ".join(words)


def _stamps(data: _Bytes, times: _Floats, big: bool) -> list[tuple[float, Column]]:
    """Columns that go with the arrivals, and how well; the best first."""
    found = []
    order = np.argsort(times, kind="stable")
    times = times[order]
    span = np.ptp(times) if len(times) else 0.0
    for kind, at, column in _columns(data, _STAMPS if span else (), big):
        size = _size(kind)
        steps = np.diff(column[order])
        if kind[0] == "u" and size < 8:  # it may start over
            steps = (steps + 2.0 ** (8 * size - 1)) % 2.0 ** (8 * size) - 2.0 ** (8 * size - 1)
        series = np.concatenate([[0.0], np.cumsum(steps)])
        if not np.isfinite(series).all() or series[-1] <= 0 or np.mean(steps < 0) > 0.2:
            continue
        slope, base = np.polyfit(times, series, 1)
        spread = np.sqrt(np.mean((series - base - slope * times) ** 2)) / slope
        lowest = kind[0] == "u" and (steps % 256 == 0).all()  # a byte that does not count
        if lowest or not 0 <= spread < min(0.05 * span, 0.5):
            continue
        rate = min(_RATES, key=lambda one: abs(one / slope - 1))
        near = abs(rate / slope - 1) < _NEAR + 2 * spread / span
        near = near and (rate in (1, 1e3) if kind[0] == "f" else size == 8 or rate <= 1e6)
        each = np.mean(steps == 1) > 0.8
        if not near and (not each or kind[0] == "f"):
            continue
        quality = 2.0 * near - 0.5 * log10(1 + spread * 1e4) - 0.02 * _STAMPS.index(kind)
        quality -= {1: 0.8, 2: 0.3}.get(size, 0.0) + 0.4 * each
        quality += 0.6 * (kind[0] == "f" or rate in (1e3, 1e6, 1e9))
        quality -= 0.5 * (kind == "u64" and slope < 1e5 and not 1e12 < column[0] < 1e13)
        top = column // 65536  # of two numbers that stand one after the other
        quality -= 0.6 * (kind == "u32" and np.ptp(top) == 0 and top[0] >= 4096)
        per = float(rate) if near else float(f"{slope:.3g}")
        found.append((float(quality) + 1, Column("time", kind, at, per)))
    return sorted(found, key=lambda one: -one[0])


def _names(form: _Form, busy: set[int]) -> Iterator[tuple[list[Column], _Whole]]:
    """What may tell entities apart, with the number of each record's entity; nothing at first."""
    yield [], np.zeros(len(form.records), np.intp)
    for kind, at, values in _columns(form.records, ("u8", "u16", "u32"), form.big):
        different, codes = np.unique(values, return_inverse=True)
        column = Column("id", kind, at)
        if 1 < len(different) <= min(256, len(values) / 6) and not busy & column.span:
            yield [column], codes


def _place(form: _Form, busy: set[int]) -> tuple[float, list[Column]] | None:
    """What speaks for the best position, and its columns, with name, speed and rotation."""
    best: tuple[float, list[Column]] | None = None
    columns = {
        (kind, at): values
        for kind, at, values in _columns(form.records, _PLACES, form.big)
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
        for kind, at in marks:  # two fractions of four bytes look like one of eight
            if kind == "f64" and marks.get(("f32", at + 4 * form.big), 0.0) > 0:
                marks[kind, at] = 0.0
        run = _best_run(marks)
        if run is None:
            continue
        value, kind, at, axes = run
        value *= 0.85 if name else 1.0
        if best is None or value > best[0] * (1.02 if name else 1.0):
            place = [Column("xyz"[axis], kind, at + axis * _size(kind)) for axis in range(axes)]
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
        size = _size(kind)
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


def _smooth(kind: str, series: _Floats, inside: npt.NDArray[np.bool_]) -> float:
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
    steps = np.diff(series)[inside]
    wide = kind == "i32" and np.mean(np.abs(steps) > 32768) > 0.1  # two numbers of two bytes
    if wide or (not real and span < 24) or len(np.unique(series)) < 8 or len(steps) < LEAST:
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
    columns: dict[tuple[str, int], _Floats],
    order: _Whole,
    inside: npt.NDArray[np.bool_],
    times: _Floats,
) -> list[Column]:
    """Columns that are the position's differences by time, next to each other."""
    kind, size = place[0].kind, _size(place[0].kind)
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


def _go_together(a: _Floats, b: _Floats) -> bool:
    if not np.abs(b).max() < 1e10 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return bool(np.ptp(a) == 0 and np.ptp(b) == 0)
    with np.errstate(all="ignore"):  # what hardly varies
        return bool(np.corrcoef(a, b)[0, 1] > 0.7)


def _turns(columns: dict[tuple[str, int], _Floats]) -> list[Column]:
    """Four fractions in a row whose squares have the sum 1."""
    for kind, at in columns:
        places = [(kind, at + _size(kind) * part) for part in range(4)]
        if kind in ("f32", "f64") and all(one in columns for one in places):
            four = np.array([columns[one] for one in places])
            with np.errstate(all="ignore"):
                unit = np.abs(np.square(four).sum(axis=0) - 1) < 1e-3
            if unit.all() and np.ptp(four, axis=1).any():
                names = ("qx", "qy", "qz", "qw")
                return [Column(name, kind, one[1]) for name, one in zip(names, places, strict=True)]
    return []
