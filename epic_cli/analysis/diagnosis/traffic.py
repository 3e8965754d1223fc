"""A recording as detectors look at it: each entity's states, and the messages of the network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.robust import median
from epic_cli.analysis.packet_table import (
    ARRIVAL,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    VELOCITY,
    packet_table,
)
from epic_cli.analysis.truth import LARGEST, lengths
from epic_cli.engine.measure.table import tidy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.analysis.drawn.match import Match
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

#: What is the same all the time shows in pieces: so many of so many states each.
PIECES = 24
PIECE = 1024

#: What is nearer to zero cannot be divided by: it counts as zero.
SMALLEST = 1e-100

#: Stamps and arrivals are told apart to the nanosecond: so many of them in a second.
STEPS = 1e9

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

    def moved(self, added: Floats) -> Stream:
        """States with something added to their stamps, in the new order; without those of NaN."""
        times = self.times + added
        order = np.argsort(times, kind="stable")[: int(np.isfinite(times).sum())]
        order = order[_changes(times[order][None])]
        return Stream(
            self.name,
            times[order],
            self.positions[order],
            self.velocities[order],
            self.arrivals[order],
            self.sequence[order],
            self.teleports[order],
        )

    @property
    def entities(self) -> tuple[str, ...]:
        """Its name, where it has one."""
        return (self.name,) if self.name else ()

    @cached_property
    def intervals(self) -> Floats:
        """From each stamp to the next, in seconds (n - 1)."""
        return np.diff(self.times)

    @cached_property
    def period(self) -> float:
        """The usual interval, in seconds."""
        return median(self.intervals)

    @cached_property
    def steps(self) -> Floats:
        """How far it is from each position to the next (n - 1)."""
        squares = np.zeros(len(self.times) - 1)
        for axis in self.positions.T:
            moved = np.diff(axis)
            moved *= moved
            squares += moved
        return np.asarray(np.sqrt(squares, out=squares))

    @cached_property
    def usual_step(self) -> float:
        """The median of the steps that lead somewhere; 0: none does."""
        moving = self.steps[self.steps > 0]
        return median(moving) if len(moving) else 0.0

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
    def usual_speed(self) -> float:
        """The median speed of the moving states by their velocities, which some have."""
        speeds = lengths(self.excerpt.velocities)
        return median(speeds[speeds > 0])

    @cached_property
    def follows(self) -> Flags:
        """Which intervals have no hole in the sequence numbers (n - 1); all, where there are none.

        Numbers may count the packets of this entity or those of all together.
        """
        if math.isnan(self.usual_gap):
            return np.ones(len(self.gaps), bool)
        return np.asarray(self.gaps == self.usual_gap)

    def stretched(self, periods: float) -> Numbers:
        """Which intervals are longer than so many periods though no packet is missing."""
        long = np.flatnonzero(self.intervals > periods * self.period)
        return long[self.follows[long]] if len(long) else long

    @cached_property
    def gaps(self) -> Floats:
        """From each sequence number to the next (n - 1; NaN where one is missing)."""
        return np.diff(self.sequence)

    @cached_property
    def usual_gap(self) -> float:
        """The median gap; NaN: there are none."""
        known = np.isfinite(self.gaps)
        return median(self.gaps if known.all() else self.gaps[known]) if known.any() else math.nan

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

    def moved(self, stamps: Floats | float, arrivals: Floats | float) -> Messages:
        """The same messages with something added to their stamps and arrivals, in the new order."""
        sent = self.sent + stamps
        order = np.argsort(sent, kind="stable")
        return replace(self, sent=sent[order], arrivals=(self.arrivals + arrivals)[order])

    def only(self, wanted: Flags) -> Messages:
        """Some of the messages."""
        return replace(self, sent=self.sent[wanted], arrivals=self.arrivals[wanted])

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
        new = self.intervals > 0
        return median(self.intervals if new.all() else self.intervals[new])

    @cached_property
    def in_order(self) -> Numbers:
        """The places of the messages in the order in which they arrived."""
        return np.argsort(self.arrivals, kind="stable")

    @cached_property
    def sorted_delays(self) -> Floats:
        """The delays, the least first."""
        return np.sort(self.delays)

    @property
    def usual_delay(self) -> float:
        """The median delay."""
        return self.delay_of(0.5)

    def delay_of(self, share: float) -> float:
        """The delay that this share of the messages does not exceed."""
        return float(np.quantile(self.sorted_delays, share))


@dataclass(frozen=True)
class Traffic:
    """All that is looked at.

    ``streams`` are those of the entities with ``FEWEST`` states at least; ``messages`` None: the
    recording has no arrival times, or too few. ``packets`` is how many there are in all, of so
    many ``entities``. ``strategies`` are to be looked at, too, and ``blocks`` is what they draw, by
    entity. ``drawn`` is what explains the game's own drawing.
    """

    streams: tuple[Stream, ...]
    messages: Messages | None
    packets: int
    entities: int = 0
    strategies: tuple[StrategySpec, ...] = ()
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
    strategies: Sequence[StrategySpec] = (),
) -> Traffic:
    """The traffic of a recording, whose packets are given by entity; ``span`` of stamps only.

    ``strategies`` are those whose part in it is looked at, too.
    """
    tables = {}
    for name, block in packets.items():
        columns = packet_table(block)
        inside: Flags = np.logical_and(columns[TIME] >= span[0], columns[TIME] <= span[1])
        tables[name] = _where(columns, inside)
    return replace(_traffic(tables), strategies=tuple(strategies), blocks=packets)


def traffic_of_tables(tables: Mapping[str, Floats]) -> Traffic:
    """The same of packets as ``packet_table`` has them, for each entity."""
    return _traffic({name: np.array(columns) for name, columns in tables.items()})


def _traffic(tables: dict[str, Floats]) -> Traffic:
    """The traffic of these packets; the tables are used up."""
    packets, entities = sum(columns.shape[1] for columns in tables.values()), len(tables)
    streams, sendings = [], []
    for name in sorted(tables):
        columns = _ordered(_finite(tables.pop(name)))
        if not columns.size:
            continue
        sendings.append(_sendings(columns))
        stream = _stream(name, columns)
        if len(stream.times) >= FEWEST:
            streams.append(stream)
    return Traffic(tuple(streams), _messages(sendings), packets, entities)


def _where(columns: Floats, wanted: Flags) -> Floats:
    """The packets that are wanted; mostly all are."""
    return columns if wanted.all() else columns[:, wanted]


def _finite(columns: Floats) -> Floats:
    """The packets whose time and place can be computed with, all other numbers NaN if they cannot.

    In place, where all can be.
    """
    for place, column in enumerate(columns):
        tidy(column, SMALLEST, LARGEST, STEPS if place in (TIME, ARRIVAL) else 0.0)
    # a sum is NaN where one of them is
    return _where(columns, np.isfinite(columns[TIME] + columns[POSITION].sum(axis=0)))


def _ordered(columns: Floats) -> Floats:
    """The packets by their stamps; those of one stamp are in any order."""
    if (np.diff(columns[TIME]) >= 0).all():
        return columns
    return columns[:, np.argsort(columns[TIME], kind="stable")]


def _ties(columns: Floats, keys: Sequence[int]) -> Numbers:
    """Places of ordered packets, so that those of one stamp are ordered by other columns, too."""
    places = np.arange(columns.shape[1])
    same = ~_changes(columns[TIME : TIME + 1])
    tied = np.flatnonzero(same | np.append(same[1:], False))
    if len(tied):
        among = columns[:, tied]
        places[tied] = tied[np.lexsort((*among[list(keys[::-1])], among[TIME]))]
    return places


def _stream(name: str, columns: Floats) -> Stream:
    new = _changes(columns[TIME : TIME + 1])
    if not new.all():
        # the first that came of several with one stamp: later ones are copies
        columns = columns[:, _ties(columns, [ARRIVAL, SEQUENCE, 6, 5, 4, 3, 2, 1])[new]]
    return Stream(
        name,
        columns[TIME],
        columns[POSITION].T,
        columns[VELOCITY].T,
        columns[ARRIVAL],
        columns[SEQUENCE],
        columns[TELEPORT] > 0,
    )


class _Sendings(NamedTuple):
    """An entity's states that arrived: stamps, first arrivals, which of those with one stamp."""

    times: Floats
    arrivals: Floats
    places: Numbers
    copies: int


def _sendings(columns: Floats) -> _Sendings:
    rows = columns[[TIME, SEQUENCE, ARRIVAL]]
    rows = _where(rows, np.isfinite(rows[2]))
    if _changes(rows[:1]).all():
        return _Sendings(rows[0], rows[2], np.zeros(rows.shape[1], np.int64), 0)
    rows = np.nan_to_num(rows, nan=-1.0)
    rows = rows[:, _ties(rows, [1, 2])]
    rows = rows[:, _changes(rows)]
    # a copy has the number of the first as well, if there are numbers: a clock may be set
    first = _changes(rows[:2])
    copies = int((~first).sum())
    rows = rows[:, first]
    order = np.arange(rows.shape[1])
    places = order - np.maximum.accumulate(np.where(_changes(rows[:1]), order, 0))
    return _Sendings(rows[0], rows[2], places, copies)


def _messages(sendings: Sequence[_Sendings]) -> Messages | None:
    if not sendings:
        return None
    times, arrivals, places = (
        parts[0] if len(parts) == 1 else np.concatenate(parts)
        for parts in list(zip(*sendings, strict=True))[:3]
    )
    copies, states = sum(one.copies for one in sendings), len(times)
    if len(sendings) > 1:
        order = np.argsort(times, kind="stable")
        if places.any():
            order = np.lexsort((places, times))
        times, arrivals, places = times[order], arrivals[order], places[order]
        begins = np.flatnonzero(_changes(np.stack([times, places])))
        times, arrivals = times[begins], np.minimum.reduceat(arrivals, begins)
    if int(_changes(times[None]).sum()) < FEWEST:
        return None
    return Messages(times, arrivals, copies, states)


def _changes(columns: Floats) -> Flags:
    """Which columns differ from the one before them."""
    count = columns.shape[1]
    new = np.ones(count, bool)
    new[1:] = False
    for row in columns:
        new[1:] |= row[1:] != row[:-1]
    return new
