"""What unknown binary datagrams hold: stamps, counters, names and positions, as layouts to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import gcd, log10

import numpy as np

from epic_cli.jobs.inspect.moving_columns import (
    LEAST,
    Bytes,
    Column,
    Floats,
    Form,
    Proposal,
    columns_of,
    place_of,
    size_of,
    stamps_of,
)
from epic_cli.jobs.inspect.packed_columns import packed

#: So many datagrams, records and forms are looked at.
_MOST, _FORMS = 1500, 16

#: Bytes of a header, at most. From this share of the best score on another layout is as likely, and
#: bits have to explain so many times as much as bytes.
_HEADER, _NEAR, _FAR = 40, 0.95, 2.0


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
        score, sure = 0.0, True
        for kind in kinds:
            some = [(a[at + 1 :], b) for a, b in pairs if a[at] == kind]
            one = max(_of_one_type(some), key=lambda one: one.score, default=None)
            if one is not None:
                order = "" if one.layout.startswith("big ") or not parts else "little "
                parts.append(f"kind={kind}{{{order}{one.layout}}}")
                score += one.score * len(some) / len(pairs)
                sure &= one.sure
                columns = columns or tuple(replace(c, at=c.at + at + 1) for c in one.columns)
        if parts:
            skip = f"_:{at} " if at else ""
            score -= 0.15 * at
            found.append(
                Proposal(f"{skip}kind:u8 {' '.join(parts)} else{{...}}", score, columns, sure)
            )
    found.sort(key=lambda one: -one.score)
    return _with_bits(found, packed(*zip(*pairs, strict=True)) if pairs else None)


def _with_bits(found: list[Proposal], bits: Proposal | None) -> list[Proposal]:
    """Layouts of bytes, and that of bits before them where it explains far more.

    The first is sure of itself if no other explains as much, or it is the same.
    """
    near = len(found) > 1 and found[1].score > _NEAR * found[0].score
    best = [replace(one, sure=one.sure and not near) for one in found[:1]]
    place = {one.name: one for one in best[0].columns if one.name in "xyz"} if best else {}
    if bits is None or (place and place["x"].kind[0] == "f"):
        return best + found[1:]
    if best and bits.score < _FAR * best[0].score:
        other = {one.name: one.span for one in bits.columns}
        same = all(other.get(name, set()) & one.span for name, one in place.items())
        sure = best[0].sure and (same or bits.score < best[0].score)
        return [replace(best[0], sure=sure), *found[1:]]
    return [bits, *found]


def _of_one_type(pairs: list[tuple[bytes, float]]) -> Iterator[Proposal]:
    if len(pairs) >= LEAST:
        for form in _forms([a for a, _ in pairs], np.array([b for _, b in pairs])):
            found = _proposal(form)
            if found is not None:
                yield found


# --------------------------------------------------------------------------- a header and records


def _forms(data: list[bytes], times: Floats) -> Iterator[Form]:
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
        for kind, at, values in columns_of(head, ("u16",) if big else ("u8", "u16"), big):
            counts = values.astype(int)
            fixed = counts.min() == counts.max()
            if not 2 <= counts.max() <= 200 or (not step and not fixed):
                continue
            for size in [step] if step else range(6, least // int(counts[0]) + 1):
                first = sizes - counts * size
                if first.min() == first.max() and first[0] > at:
                    shapes.append((int(first[0]), size, Column("n", kind, at), big))
    shapes = [one for one in shapes if one[0] <= min(least, _HEADER)]
    for first, size, count, big in sorted(shapes, key=lambda one: one[0])[:_FORMS]:
        owner = np.repeat(np.arange(len(data)), (sizes - first) // size)[:_MOST]
        if len(owner) >= LEAST:
            body = b"".join(one[first:] for one in data)[: len(owner) * size]
            records = np.frombuffer(body, np.uint8).reshape(-1, size)
            for order in (False, True) if count is None or count.kind == "u8" else (big,):
                yield Form(head[:, :first], records, owner, times, count, order)


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


# ------------------------------------------------------------------------------------ what is found


def _proposal(form: Form) -> Proposal | None:
    """The layout of a form that has a stamp and a position; None: it has not both."""
    stamps = [(0, *one) for one in stamps_of(form.header, form.times, form.big)]
    stamps = [one for one in stamps if form.count is None or not one[2].span & form.count.span]
    if not stamps or len(np.unique(form.owner)) == len(form.owner):
        stamps += [(1, *one) for one in stamps_of(form.records, form.times[form.owner], form.big)]
    if not stamps:
        return None
    inside, quality, time = max(stamps, key=lambda one: one[1])
    place = place_of(form, time.span if inside else set())
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
    axes = [one for one in records if one.name in "xyz"]
    often = 2 if axes[0].kind[0] == "f" else 4
    # else there may be other entities
    sure = often * (first + size - known) <= sum(len(one.span) for one in axes)
    return Proposal(layout, score / (1 + log10(1 + size / 8)), shown, sure)


def _words(columns: Sequence[Column], data: Bytes, checks: bool) -> str:
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
        at = one.at + size_of(one.kind)
    return " ".join(words)
