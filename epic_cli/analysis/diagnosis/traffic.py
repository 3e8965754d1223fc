"""A recording as detectors look at it: each entity's states, and the messages of the network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

#: What is the same all the time shows in pieces: so many of so many states each.
PIECES = 24
PIECE = 1024

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


@dataclass(frozen=True)
class Messages:
    """What went over the network, in the order in which it was sent: stamps and arrivals (n).

    States of several entities with the same stamp and arrival came in one message. ``copies`` is
    how many messages came twice.
    """

    sent: Floats
    arrivals: Floats
    copies: int

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
        return float(np.median(self.intervals))


@dataclass(frozen=True)
class Traffic:
    """All that is looked at.

    ``streams`` are those of the entities with ``FEWEST`` states at least; ``messages`` None: the
    recording has no arrival times, or too few. ``packets`` is how many there are in all.
    """

    streams: tuple[Stream, ...]
    messages: Messages | None
    packets: int

    @property
    def duration(self) -> float:
        """Seconds from the first stamp to the last."""
        ends = [(one.times[0], one.times[-1]) for one in self.streams]
        return float(max(end for _, end in ends) - min(start for start, _ in ends)) if ends else 0.0


def traffic_of(
    packets: Mapping[str, PacketBlock], span: tuple[float, float] = (-math.inf, math.inf)
) -> Traffic:
    """The traffic of a recording, whose packets are given by entity; ``span`` of stamps only."""
    tables = {}
    for name, block in packets.items():
        columns = packet_table(block)
        inside: Flags = np.logical_and(columns[TIME] >= span[0], columns[TIME] <= span[1])
        tables[name] = _where(columns, inside)
    return traffic_of_tables(tables)


def traffic_of_tables(tables: Mapping[str, Floats]) -> Traffic:
    """The same of packets as ``packet_table`` has them, for each entity."""
    finite = {
        name: _where(columns, np.asarray((np.abs(columns[:4]) < LARGEST).all(axis=0)))
        for name, columns in tables.items()
    }
    streams = [_stream(name, columns) for name, columns in finite.items()]
    return Traffic(
        tuple(one for one in streams if len(one.times) >= FEWEST),
        _messages(list(finite.values())),
        sum(columns.shape[1] for columns in tables.values()),
    )


def _where(columns: Floats, wanted: Flags) -> Floats:
    """The packets that are wanted; mostly all are."""
    return columns if wanted.all() else columns[:, wanted]


def _stream(name: str, columns: Floats) -> Stream:
    if not (np.diff(columns[TIME]) > 0).all():
        # the first that came of several with one stamp: later ones are copies
        columns = columns[:, np.unique(columns[TIME], return_index=True)[1]]
    return Stream(
        name,
        columns[TIME],
        columns[POSITION].T,
        columns[VELOCITY].T,
        columns[ARRIVAL],
        columns[SEQUENCE],
        columns[TELEPORT] > 0,
    )


def _messages(tables: list[Floats]) -> Messages | None:
    came = [one[[TIME, ARRIVAL, SEQUENCE]][:, np.isfinite(one[ARRIVAL])].T for one in tables]
    rows = np.concatenate(came) if came else np.empty((0, 3))
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    rows = rows[_changes(rows[:, :2])]
    # a copy has the number of the first as well, if there are numbers: a clock may have been set
    first = _changes(np.nan_to_num(rows[:, [0, 2]], nan=-1.0))
    if first.sum() < FEWEST:
        return None
    return Messages(rows[first, 0], rows[first, 1], int((~first).sum()))


def _changes(rows: Floats) -> Flags:
    """Which rows differ from the one above them."""
    return np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1))[: len(rows)]
