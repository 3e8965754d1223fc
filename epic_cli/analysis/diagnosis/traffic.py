"""A recording as detectors look at it: each entity's states, and the messages of the network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.packet_table import (
    ARRIVAL,
    COLUMNS,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    VELOCITY,
    packet_table,
)
from epic_cli.analysis.truth import LARGEST, lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.candidates import Candidate
    from epic_cli.analysis.drawn.match import Match
    from epic_cli.engine.packets import PacketBlock

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

#: What is the same all the time shows in pieces: so many of so many states each.
PIECES = 24
PIECE = 1024

#: What is nearer to zero cannot be divided by: it counts as zero.
SMALLEST = 1e-100

#: Stamps and arrivals are told apart to the nanosecond.
DIGITS = 9

#: The fewest states or messages of which anything is said.
FEWEST = 20


@dataclass(frozen=True)
class Stream:
    """One entity's states, ordered by their stamps, each stamp once.

    ``times`` (n) are the stamps in seconds, ``positions`` and ``velocities`` (n, 3; NaN: none),
    ``arrivals`` and ``sequence`` (n; NaN: none), ``teleports`` (n).
    """

    name: str
    times: Floats
    positions: Floats
    velocities: Floats
    arrivals: Floats
    sequence: Floats
    teleports: Flags

    @cached_property
    def intervals(self) -> Floats:
        """From each stamp to the next, in seconds (n - 1)."""
        return np.diff(self.times)

    @cached_property
    def period(self) -> float:
        """The usual interval, in seconds."""
        return float(np.median(self.intervals))

    @cached_property
    def steps(self) -> Floats:
        """How far it is from each position to the next (n - 1)."""
        return lengths(np.diff(self.positions, axis=0))

    @cached_property
    def excerpt(self) -> Stream:
        """Pieces from all over the stream, or all of it where it is short.

        The interval from one piece to the next is longer than any other.
        """
        count = len(self.times)
        if count <= PIECES * PIECE:
            return self
        begins = np.linspace(0, count - PIECE, PIECES).astype(int)
        places = (begins[:, None] + np.arange(PIECE)).ravel()
        return Stream(
            self.name,
            self.times[places],
            self.positions[places],
            self.velocities[places],
            self.arrivals[places],
            self.sequence[places],
            self.teleports[places],
        )

    @cached_property
    def has_velocities(self) -> bool:
        """Whether nearly all states have one, and not all of them are zero."""
        velocities = self.excerpt.velocities
        given = np.isfinite(velocities).all(axis=1)
        return bool(given.mean() > 0.9 and velocities[given].any())

    @cached_property
    def follows(self) -> Flags:
        """Which intervals have no hole in the sequence numbers (n - 1); all, where there are none.

        Numbers may count the packets of this entity or those of all together.
        """
        gaps = np.diff(self.sequence)
        if not np.isfinite(gaps).any():
            return np.ones(len(gaps), bool)
        usual = np.median(gaps[np.isfinite(gaps)])
        return np.asarray(gaps == usual)

    @cached_property
    def numbered(self) -> bool:
        """Whether nearly all states have a sequence number."""
        return bool(np.isfinite(self.sequence).mean() > 0.9)


@dataclass(frozen=True, eq=False)
class Messages:
    """What went over the network, in the order in which it was sent: stamps and arrivals (n).

    States of several entities with one stamp are one message, be it one datagram for all or one
    for each; it is there when the first of them is. Where a clock was set back, stamps come again.
    ``copies`` is how many of the ``states`` came twice.
    """

    sent: Floats
    arrivals: Floats
    copies: int
    states: int

    @cached_property
    def delays(self) -> Floats:
        """Arrival less stamp: the network's delay, plus how far apart the two clocks are."""
        return self.arrivals - self.sent

    @cached_property
    def intervals(self) -> Floats:
        """From each stamp to the next, in seconds (n - 1)."""
        return np.diff(self.sent)

    @cached_property
    def period(self) -> float:
        """The usual interval, in seconds."""
        return float(np.median(self.intervals[self.intervals > 0]))


@dataclass(frozen=True)
class Traffic:
    """All that is looked at.

    ``streams`` are those of the entities with ``FEWEST`` states at least; ``messages`` None: the
    recording has no arrival times, or too few. ``packets`` is how many there are in all.
    ``strategies`` are to be looked at, too, and ``blocks`` is what they draw, by entity. ``drawn``
    is what explains the game's own drawing.
    """

    streams: tuple[Stream, ...]
    messages: Messages | None
    packets: int
    strategies: tuple[Candidate, ...] = ()
    blocks: Mapping[str, PacketBlock] = field(default_factory=dict)
    drawn: Match | None = None

    @property
    def duration(self) -> float:
        """Seconds from the first stamp to the last."""
        ends = [(one.times[0], one.times[-1]) for one in self.streams]
        return float(max(end for _, end in ends) - min(start for start, _ in ends)) if ends else 0.0


def traffic_of(
    packets: Mapping[str, PacketBlock],
    span: tuple[float, float] = (-math.inf, math.inf),
    strategies: Sequence[Candidate] = (),
) -> Traffic:
    """The traffic of a recording, whose packets are given by entity; ``span`` of stamps only.

    ``strategies`` are those whose part in it is looked at, too.
    """
    tables = {}
    for name, block in packets.items():
        columns = packet_table(block)
        inside: Flags = np.logical_and(columns[TIME] >= span[0], columns[TIME] <= span[1])
        tables[name] = _where(columns, inside)
    return replace(traffic_of_tables(tables), strategies=tuple(strategies), blocks=packets)


def traffic_of_tables(tables: Mapping[str, Floats]) -> Traffic:
    """The same of packets as ``packet_table`` has them, for each entity."""
    names = sorted(tables)
    sizes = [tables[name].shape[1] for name in names]
    columns = _finite(np.concatenate([np.empty((COLUMNS, 0)), *(tables[one] for one in names)], 1))
    whose = np.repeat(np.arange(len(names)), sizes)
    usable = np.asarray(np.isfinite(columns[:4]).all(axis=0))
    columns, whose = _where(columns, usable), whose[usable]
    borders = np.searchsorted(whose, np.arange(len(names) + 1))
    streams = [
        _stream(names[one], columns[:, borders[one] : borders[one + 1]])
        for one in np.flatnonzero(np.diff(borders) >= FEWEST)
    ]
    return Traffic(
        tuple(one for one in streams if len(one.times) >= FEWEST),
        _messages(columns, whose),
        sum(sizes),
    )


def _where(columns: Floats, wanted: Flags) -> Floats:
    """The packets that are wanted; mostly all are."""
    return columns if wanted.all() else columns[:, wanted]


def _finite(columns: Floats) -> Floats:
    """The same numbers where they can be computed with."""
    with np.errstate(invalid="ignore"):
        columns[~(np.abs(columns) < LARGEST)] = np.nan
    columns[np.abs(columns) < SMALLEST] = 0.0
    columns[[TIME, ARRIVAL]] = np.round(columns[[TIME, ARRIVAL]], DIGITS)
    return columns


def _stream(name: str, columns: Floats) -> Stream:
    if not (np.diff(columns[TIME]) > 0).all():
        columns = columns[:, np.argsort(columns[TIME], kind="stable")]
        if not np.diff(columns[TIME]).all():
            # the first that came of several with one stamp: later ones are copies
            columns = columns[:, np.lexsort((*columns[1:7], *columns[[SEQUENCE, ARRIVAL, TIME]]))]
            columns = columns[:, _changes(columns[[TIME]].T)]
    return Stream(
        name,
        columns[TIME],
        columns[POSITION].T,
        columns[VELOCITY].T,
        columns[ARRIVAL],
        columns[SEQUENCE],
        columns[TELEPORT] > 0,
    )


def _messages(columns: Floats, whose: Numbers) -> Messages | None:
    came = np.isfinite(columns[ARRIVAL])
    rows = np.stack([whose, *columns[[TIME, SEQUENCE, ARRIVAL]]], axis=1)[came]
    rows = np.nan_to_num(rows[np.lexsort(rows.T[::-1])], nan=-1.0)
    rows = rows[_changes(rows)]
    # a copy has the number of the first as well, if there are numbers: a clock may be set
    first = _changes(rows[:, :3])
    copies = int((~first).sum())
    rows = rows[first]
    # which of its entity's states with one stamp each is
    places = np.arange(len(rows))
    rows[:, 2] = places - np.maximum.accumulate(np.where(_changes(rows[:, :2]), places, 0))
    states = len(rows)
    rows = rows[np.lexsort(rows.T[:0:-1])]
    rows = rows[_changes(rows[:, 1:3])]
    if int(_changes(rows[:, 1:2]).sum()) < FEWEST:
        return None
    return Messages(rows[:, 1], rows[:, 3], copies, states)


def _changes(rows: Floats) -> Flags:
    """Which rows differ from the one above them."""
    return np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1))[: len(rows)]
