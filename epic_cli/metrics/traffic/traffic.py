"""A recording as detectors look at it: each entity's states, and the messages of the network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.measure import tidy
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    TURN,
    VELOCITY,
    turning_table,
)
from epic_cli.metrics.notes import NotEnoughToSay, not_enough
from epic_cli.metrics.traffic.messages import Messages
from epic_cli.metrics.traffic.robust import Flags, Floats, Numbers, changes
from epic_cli.metrics.traffic.stamping import Stamping, restamped
from epic_cli.metrics.traffic.stream import FEWEST_STATES, Stream

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: What is nearer to zero cannot be divided by: it counts as zero.
SMALLEST = 1e-100

#: Stamps and arrivals differ by a nanosecond at least: so many of them in a second.
STEPS = 1e9


class TooFewPackets(NotEnoughToSay):
    """No entity has ``FEWEST_STATES`` packets with different times."""

    def __init__(self, packets: int, entities: int) -> None:
        of = "one entity" if entities == 1 else f"{entities:,} entities"
        there = f"there are {packets:,} packets of {of}"
        if packets <= 1:
            there = f"there is 1 packet of {of}" if packets else "there are no packets"
        elif packets >= FEWEST_STATES * entities:
            there += ", with too few different times"
        super().__init__(not_enough(f"no entity has {FEWEST_STATES} packets: {there}"))


@dataclass(frozen=True)
class Traffic:
    """What detectors look at.

    ``streams`` are those of the entities with ``FEWEST_STATES`` at least; ``messages`` None: the
    recording has no arrival times, or too few. ``packets`` is how many there are in all, of
    ``entities``. ``blocks`` are the packets by entity, as ``strategies`` draw them. ``drawn`` is
    what explains the game's own drawing, as whoever asks has it. ``stamping`` says
    whose stamps, by entity, were no clock's: streams and messages have others. Not ``placed``: it
    is a network alone, whose packets have no positions.
    """

    streams: tuple[Stream, ...]
    messages: Messages | None
    packets: int
    entities: int = 0
    strategies: tuple[StrategySpec, ...] = ()
    blocks: Mapping[str, PacketBlock] = field(default_factory=dict)
    drawn: Any = None
    stamping: Mapping[str, Stamping] = field(default_factory=dict)
    placed: bool = True

    @property
    def arrived(self) -> Messages:
        """The messages, for whoever needs them; raises ``ValueError`` where there are none."""
        if self.messages is None:
            raise ValueError("there are no arrival times, and so no delays")
        return self.messages

    @property
    def numbered(self) -> list[Stream]:
        """The streams whose states have sequence numbers."""
        return [one for one in self.streams if one.numbered]

    @property
    def duration(self) -> float:
        """Seconds from the first stamp to the last."""
        ends = [(one.times[0], one.times[-1]) for one in self.streams]
        return float(max(end for _, end in ends) - min(start for start, _ in ends)) if ends else 0.0


def traffic_of(
    packets: Mapping[str, PacketBlock], span: tuple[float, float] = (-math.inf, math.inf)
) -> Traffic:
    """The traffic of a recording's packets by entity, those stamped in the ``span`` (s)."""
    tables = {}
    for name, block in packets.items():
        columns = turning_table(block)
        times = columns[TIME]
        inside: Flags = np.logical_and(times >= span[0], times <= span[1])
        tables[name] = _only(columns, inside)
    return replace(traffic_of_tables(tables), blocks=packets)


def traffic_of_tables(tables: dict[str, Floats]) -> Traffic:
    """The same of packets as ``turning_table`` has them, by entity; the tables are used up."""
    packets, entities = sum(columns.shape[1] for columns in tables.values()), len(tables)
    streams, sendings, stamping = [], [], {}
    for name in sorted(tables):
        columns, other = restamped(_ordered(_finite(tables.pop(name))))
        if not columns.size:
            continue
        if other is not None:
            stamping[name] = other
        sendings.append(_sendings(columns))
        stream = _stream(name, columns)
        if len(stream.times) >= FEWEST_STATES:
            streams.append(stream)
    messages = _messages(sendings)
    return Traffic(tuple(streams), messages, packets, entities, stamping=stamping)


def _only(columns: Floats, wanted: Flags) -> Floats:
    """The packets that are wanted; mostly all are."""
    return columns if wanted.all() else columns[..., wanted]


def _finite(columns: Floats) -> Floats:
    """The packets whose time and place can be computed with, all other numbers NaN if they cannot.

    In place, where all can be.
    """
    for place, column in enumerate(columns):
        tidy(column, SMALLEST, LARGEST, STEPS if place in (TIME, ARRIVAL) else 0.0)
    # a sum is NaN where one of them is
    return _only(columns, np.isfinite(columns[TIME] + columns[POSITION].sum(axis=0)))


def _ordered(columns: Floats) -> Floats:
    """The packets by their stamps; those of one stamp are in any order."""
    if (np.diff(columns[TIME]) >= 0).all():
        return columns
    return columns[:, np.argsort(columns[TIME], kind="stable")]


def _without_ties(times: Floats, *others: Floats) -> Numbers:
    """Places of ordered packets, with those of one time ordered by the others, the first first."""
    places = np.arange(len(times))
    same = ~changes(times)
    tied = np.flatnonzero(same | np.append(same[1:], False))
    if len(tied):
        places[tied] = tied[np.lexsort([one[tied] for one in (*others[::-1], times)])]
    return places


def _stream(name: str, columns: Floats) -> Stream:
    came = columns[SEQUENCE]
    if not (np.diff(came) > 0).all():
        came = np.unique(came[np.isfinite(came)])
    new = changes(columns[TIME])
    if not new.all():
        # the first that arrived of several with one stamp: later ones are copies
        state = (*columns[VELOCITY][::-1], *columns[POSITION][::-1])
        order = _without_ties(columns[TIME], columns[ARRIVAL], columns[SEQUENCE], *state)
        columns = columns[:, order[new]]
    return Stream(
        name,
        columns[TIME],
        columns[POSITION].T,
        columns[VELOCITY].T,
        columns[ARRIVAL],
        columns[SEQUENCE],
        columns[TELEPORT] > 0,
        columns[TURN].T,
        came,
    )


class _Sendings(NamedTuple):
    """An entity's states that arrived: stamps, first arrivals, which of those with one stamp."""

    times: Floats
    arrivals: Floats
    places: Numbers
    copies: int


def _sendings(columns: Floats) -> _Sendings:
    arrived = np.isfinite(columns[ARRIVAL])
    times, numbers, arrivals = (_only(columns[one], arrived) for one in (TIME, SEQUENCE, ARRIVAL))
    if changes(times).all():
        return _Sendings(times, arrivals, np.zeros(len(times), np.int64), 0)
    numbers = np.nan_to_num(numbers, nan=-1.0)
    order = _without_ties(times, numbers, arrivals)
    order = order[changes(times[order], numbers[order], arrivals[order])]
    # a copy has the number of the first as well, if there are numbers: a clock may be set
    first = changes(times[order], numbers[order])
    copies = int((~first).sum())
    times, arrivals = times[order[first]], arrivals[order[first]]
    counted = np.arange(len(times))
    places = counted - np.maximum.accumulate(np.where(changes(times), counted, 0))
    return _Sendings(times, arrivals, places, copies)


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
        begins = np.flatnonzero(changes(times, places))
        times, arrivals = times[begins], np.minimum.reduceat(arrivals, begins)
    if int(changes(times).sum()) < FEWEST_STATES:
        return None
    return Messages(times, arrivals, copies, states)
