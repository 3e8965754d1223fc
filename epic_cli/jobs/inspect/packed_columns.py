"""Fields of any number of bits, at constant places in datagrams of one size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from epic_cli.jobs.inspect.moving_columns import (
    LEAST,
    Column,
    Floats,
    Proposal,
    beat_of,
    smoothness,
)

_Whole = npt.NDArray[np.int64]

#: So many bytes, and datagrams, are looked at; bits of coordinates, of stamps and of names.
_BYTES, _ROWS = 64, 600
_WIDTHS, _STAMPS, _NAMES = range(9, 25), range(10, 33), range(2, 10)

#: So many names are tried. The first bit of a coordinate changes no more often than this, and from
#: this correlation with time on it is a counter.
_TRIED, _SELDOM, _COUNTER = 6, 0.15, 0.9995


class _Run(NamedTuple):
    """Two or three coordinates in a row, from a bit on, and the digits by which they are smooth."""

    at: int
    widths: tuple[int, ...]
    signed: bool
    digits: float

    @property
    def columns(self) -> list[Column]:
        ends, kind = np.cumsum((self.at, *self.widths)).tolist(), "ui"[self.signed]
        found = zip("xyz", self.widths, ends, strict=False)
        return [Column(axis, f"{kind}{width}", at) for axis, width, at in found]


def packed(datagrams: Sequence[bytes], times: Sequence[float]) -> Proposal | None:
    """The best layout of bit fields with a stamp and a position; None: there is none."""
    size, count = Counter(map(len, datagrams)).most_common(1)[0]
    if count < max(0.95 * len(datagrams), LEAST) or not 3 <= size <= _BYTES:
        return None
    same = [pair for pair in zip(datagrams, times, strict=True) if len(pair[0]) == size][:_ROWS]
    rows = np.frombuffer(b"".join(data for data, _ in same), np.uint8).reshape(-1, size)
    arrivals = np.array([at for _, at in same])
    found = [one for big in (False, True) for one in _Bits(rows, arrivals, big).layouts()]
    return max(found, key=lambda one: one.score, default=None)


class _Bits:
    """The bits of datagrams, in the order in which they are sent."""

    def __init__(self, rows: npt.NDArray[np.uint8], times: Floats, big: bool) -> None:
        self.bits = np.unpackbits(rows, axis=1, bitorder="big" if big else "little").astype(int)
        self.times, self.big, self.count = times, big, self.bits.shape[1]

    def values(self, at: int, width: int) -> _Whole:
        """The unsigned numbers at a place."""
        powers = 1 << np.arange(width)
        return np.asarray(self.bits[:, at : at + width] @ (powers[::-1] if self.big else powers))

    def layouts(self) -> Iterator[Proposal]:
        """Those with each position that moves smoothly."""
        stamps = sorted(self.stamps(), key=lambda one: -one[0])[:1]
        for stamp, (name, codes) in ((one, two) for _, one in stamps for two in self.names(one)):
            runs = list(self.runs(codes, stamp.places | (name.places if name else set())))
            for run in runs:
                columns = [stamp, *([name] if name else []), *run.columns]
                found = _words(columns, self.count), 1, range(run.at, run.at + sum(run.widths))
                if name is None:
                    alike = {one.at for one in runs if one[1:3] == run[1:3]}
                    found = self.group(stamp, run, alike) or found
                words, count, known = found
                rest = set(np.flatnonzero(np.ptp(self.bits, axis=0))) - stamp.places - {*known}
                sure = len(rest) <= sum(run.widths)  # else there may be other entities
                whole = [(one, one.at // 8, (one.at + one.bits + 7) // 8) for one in columns]
                shown = tuple(Column(one.name, f"u{8 * (b - a)}", a) for one, a, b in whole)
                value = run.digits - 0.5 * (name is not None) + count - 1
                yield Proposal("big " * self.big + words, value, shown, sure)

    def stamps(self) -> Iterator[tuple[float, Column]]:
        """Bits that count as the arrivals go on, and how well."""
        for at in range(self.count - _STAMPS[0] + 1):
            for width in _STAMPS:
                first = at + _STAMPS[0] - width if self.big else at  # the lowest bit stays
                if first < 0 or first + width > self.count:
                    break
                half = 2.0 ** (width - 1)
                steps = (np.diff(self.values(first, width)) + half) % (2 * half) - half
                beat = beat_of(steps, self.times, 0.02)
                if beat is None:
                    break  # not with more bits either
                spread, slope, rate, near, each = beat
                unit = rate in (1e3, 1e6)
                if (near or each) and (unit or (steps % 2).any()):
                    quality = (
                        2.0 * near + 0.4 * each + 0.6 * unit + 0.01 * width + 0.1 * log10(slope)
                    )
                    quality -= 0.5 * log10(1 + spread * 1e4)
                    per = rate if near else float(f"{slope:.4g}")
                    yield quality, Column("time", f"u{width}", first, per)

    def names(self, stamp: Column) -> Iterator[tuple[Column | None, _Whole]]:
        """What may tell entities apart, by how seldom bits change in what is left; none first."""
        yield None, np.zeros(len(self.bits), int)
        rest = [one for one in range(self.count) if one not in stamp.places]
        found: dict[bytes, tuple[float, Column, _Whole]] = {}
        for width, at in product(_NAMES, range(self.count)):
            column = Column("id", f"u{width}", at)
            if at + width > self.count or stamp.places & column.places:
                continue
            values = self.values(at, width)
            _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
            if 1 < len(counts) <= 64 and counts.min() >= LEAST and codes.tobytes() not in found:
                score = float(self.changes(codes)[rest].mean()) + 0.002 * len(counts)
                found[codes.tobytes()] = score, column, codes
        yield from (one[1:] for one in sorted(found.values(), key=lambda one: one[0])[:_TRIED])

    def changes(self, codes: _Whole) -> Floats:
        """How often each bit changes from one datagram of an entity to the next."""
        order = np.argsort(codes, kind="stable")
        inside = np.diff(codes[order]) == 0
        return np.asarray((np.diff(self.bits[order], axis=0) != 0)[inside].mean(axis=0))

    def runs(self, codes: _Whole, busy: set[int]) -> Iterator[_Run]:
        """Coordinates that move smoothly."""
        order = np.argsort(codes, kind="stable")
        inside, often = np.diff(codes[order]) == 0, self.changes(codes)
        marks: dict[tuple[int, int, bool], float] = {}
        for width, at, signed in product(_WIDTHS, range(self.count), (False, True)):
            own = often[at : at + width][:: 1 if self.big else -1]
            # the lower a bit of one number, the more often it changes
            falls = (own < 0.6 * np.maximum.accumulate(own) - 0.02).any()
            if len(own) < width or own[0] > _SELDOM or falls or busy & {*range(at, at + width)}:
                continue
            series = (self.values(at, width)[order] ^ (signed << (width - 1))).astype(float)
            mark = smoothness(series, inside)
            if mark and abs(np.corrcoef(series, self.times[order])[0, 1]) < _COUNTER:
                marks[at, width, signed] = mark
        for (at, width, signed), mark in marks.items():
            found = [mark, marks.get((at + width, width, signed), 0.0)]
            thirds = [(at + 2 * width, one, signed) for one in range(width, width - 4, -1)]
            third = next((one for one in thirds if one in marks), None)
            if found[1]:
                found += [marks[third]] if third else []
                widths = (width, width, third[1]) if third else (width, width)
                yield _Run(at, widths, signed, sum(found) + len(found))

    def group(self, stamp: Column, run: _Run, places: set[int]) -> tuple[str, int, range] | None:
        """Records with a constant name each, one behind the other: how many, where; None: one."""
        still, long = np.ptp(self.bits, axis=0) == 0, sum(run.widths)
        header = max(one for one in stamp.places if not still[one]) + 1
        for size in sorted(one - run.at for one in places if one - run.at >= long + _NAMES[0]):
            count = next(n for n in range(2, 64) if run.at + n * size not in places)
            where = product(_NAMES, range(run.at - size + long, run.at + size))
            for width, at in sorted(where, key=lambda one: one[1] > run.at):
                begin, name = min(at, run.at), Column("id", f"u{width}", at)
                end = begin + count * size
                fits = begin >= header and at + width <= begin + size and end <= self.count
                if not fits or name.places & {*range(run.at, run.at + long)}:
                    continue
                spans = [slice(at + n * size, at + n * size + width) for n in range(count)]
                different = {self.bits[0, one].tobytes() for one in spans}
                if len(different) == count and all(still[one].all() for one in spans):
                    head = replace(stamp, kind=f"u{min(stamp.bits, begin - stamp.at)}")
                    record = _words([name, *run.columns], begin + size, begin)
                    words = f"{_words([head], begin)} {{{record}}}[{count}] "
                    return (words + _words([], self.count, end)).strip(), count, range(begin, end)
        return None


def _words(columns: Sequence[Column], count: int, at: int = 0) -> str:
    """Columns in their order, and bits between them."""
    words: list[str] = []
    for one in [*sorted(columns, key=lambda one: one.at), Column("", "u0", count)]:
        many, rest = divmod(one.at - at, 64)
        words += ["_:u64"] * many + [f"_:u{rest}"] * (rest > 0) + [one.word] * bool(one.name)
        at = one.at + one.bits
    return " ".join(words)
