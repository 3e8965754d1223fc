"""The inspection of a recording: contents, layout and findings, as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock, Track, Turning
from epic_cli.engine.replay import separate
from epic_cli.metrics.arrays import (
    POSITION,
    TELEPORT,
    TIME,
    VELOCITY,
    compute_lengths,
    make_packet_table,
)
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.checks import take_new_findings
from epic_cli.recordings.extras import MOST_NAMES, find_packet_extras
from epic_cli.recordings.findings import RecordingFinding, list_doubts, sort_findings
from epic_cli.recordings.opening import MOST_ENTITIES

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.refusals import Refusal
    from epic_cli.metrics.arrays import Floats
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.watch import RecordingMonitor

#: Packets held for measurements in several passes, and packets shown.
HELD, SHOWN = 100_000, 5

#: Packets are sent evenly if nine of ten steps are whole multiples of the usual one, within this
#: share of it: packets that are lost, or not sent at rest, leave gaps.
REGULAR, MOST = 0.1, 0.9


class Spread(NamedTuple):
    """The median of a quantity, with its 5 % quantile and its 95 % quantile or maximum."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, repr=False)
class Inspection(Tabular):
    """Contents and layout of a recording, and its findings, worst first.

    ``layout`` is how it was read (None: packet text), ``read`` the same as a description.
    ``entities`` describe each entity, or those with the most packets if ``all_entities`` are more
    than 1,000. ``interval`` is the send interval (s), None of packets that are not sent evenly;
    ``step`` is the spread of the times (s) between an entity's packets, ``longest_gap`` the longest
    of these times; ``speeds`` is the spread of the speeds between the positions (teleports left
    out), ``given`` that of the velocities, in length units per second. ``unread``
    are other keys and columns, which are carried along, with first values. ``head`` are the first
    packets. ``refused`` counts refused lines. ``paths`` are positions (n, 3) by entity, ``turns``
    describe rotations.
    """

    name: str
    format: str
    layout: ReadSpec | None
    packets: int
    entities: tuple[Track, ...] = ()
    step: Spread | None = None
    speeds: Spread | None = None
    given: Spread | None = None
    unread: tuple[tuple[str, str], ...] = ()
    head: tuple[Packet, ...] = ()
    refused: int = 0
    first_refused: Refusal | None = None
    findings: tuple[RecordingFinding, ...] = ()
    all_entities: int = 0
    turns: tuple[Turning, ...] = ()
    paths: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)
    longest_gap: float | None = None
    interval: float | None = None

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of the findings that make all measured values doubtful."""
        return list_doubts(self.findings)

    @property
    def read(self) -> str:
        """The layout as a description for ``--read``; empty for packet text."""
        return "" if self.layout is None else self.layout.write()

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time of all packets (s)."""
        times = [(entity.first, entity.last) for entity in self.entities] or [(0.0, 0.0)]
        return min(one for one, _ in times), max(one for _, one in times)

    @property
    def arrivals(self) -> int:
        """Number of packets with an arrival time."""
        return sum(entity.arrivals for entity in self.entities)


def inspect(name: str, blocks: Iterable[PacketBlock], watch: RecordingMonitor) -> Inspection:
    """Return the inspection of a recording whose ``blocks`` the monitor ``watch`` observes.

    Raise what reading the blocks raises.
    """
    held: dict[str, PacketBlock] = {}
    head: list[Packet] = []
    count = refused = 0
    first: Refusal | None = None
    rest: PacketBlock | None = None
    most = (watch.given.max_entities if watch.given is not None else None) or MOST_ENTITIES
    for block in blocks:
        refused += len(block.refusals)
        first = first or next(iter(block.refusals), None)
        head += (block[at] for at in range(min(len(block), SHOWN - len(head))))
        if count < HELD:
            rest = rest or PacketBlock(block.entities)
            separate(block, held, most, rest)
        count += len(block)
    watch.end()
    take_new_findings(watch)
    tracks = watch.census.tracks
    tables = {entity: make_packet_table(one) for entity, one in held.items()}
    again = {track.entity for track in tracks if track.restarts}
    steps = [
        np.diff(table[TIME] if entity in again else np.sort(table[TIME]))
        for entity, table in tables.items()
    ]
    reader = watch.reader
    step = _measure_spread(steps, 0.95, least=0.0)
    others: dict[str, str] = {}
    for sample in watch.samples:
        for at in range(len(sample.block)):
            for extra, value in find_packet_extras(sample.block, at).items():
                if len(others) < MOST_NAMES:
                    others.setdefault(extra, str(value))
    for column in reader.extra_names if reader is not None else ():
        if len(others) < MOST_NAMES:
            others.setdefault(column, "")
    return Inspection(
        name,
        watch.format,
        reader.layout if reader is not None else None,
        count,
        tuple(tracks),
        step,
        _measure_spread([_measure_speeds(table) for table in tables.values()]),
        _measure_spread([compute_lengths(table[VELOCITY].T) for table in tables.values()]),
        tuple(others.items()),
        tuple(head),
        refused,
        first,
        tuple(sort_findings(watch.findings)),
        watch.census.totals.entities if len(tracks) >= most else len(tracks),
        tuple(watch.census.turns),
        {entity: one[POSITION].T for entity, one in tables.items()},
        max((float(np.nanmax(step)) for step in steps if np.isfinite(step).any()), default=None),
        None if step is None else _find_interval(np.concatenate(steps), step.middle),
    )


def _find_interval(steps: Floats, usual: float) -> float | None:
    """Return the mean time between two packets sent; None if few steps are multiples of it."""
    steps = steps[(steps > 0) & np.isfinite(steps)]
    sent = np.maximum(np.round(steps / usual), 1)
    even = np.abs(steps - usual * sent) <= REGULAR * usual
    return float(steps[even].sum() / sent[even].sum()) if even.mean() >= MOST else None


def _measure_speeds(table: Floats) -> Floats:
    """Return the speed from packet to packet (n - 1); NaN at teleports and equal stamps."""
    with np.errstate(all="ignore"):
        steps = np.diff(table[TIME])
        moved = (steps > 0) & (table[TELEPORT, 1:] == 0)
        return np.where(moved, compute_lengths(np.diff(table[POSITION].T, axis=0)) / steps, np.nan)


def _measure_spread(
    parts: list[Floats], high: float = 1.0, least: float = -np.inf
) -> Spread | None:
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[np.isfinite(values) & (values > least)]
    return Spread(*map(float, np.quantile(values, (0.05, 0.5, high)))) if len(values) else None
