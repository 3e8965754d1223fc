"""Which entities of a recording can be judged, and what the truth of each is at its ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.notes import (
    Adjusted,
    Note,
    NothingJudged,
    NotJudged,
    Outages,
    TickHides,
    Unjudged,
)
from epic_cli.analysis.recovery import Events, events_of
from epic_cli.analysis.sampled_truth import SampledTruth, default_warm_up, sample_truth
from epic_cli.analysis.truth import Origin, Truth, truths_of
from epic_cli.engine.replay.trace import Trace
from epic_cli.engine.strategy import Strategy

if TYPE_CHECKING:
    from epic_cli.analysis.truth import Floats
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.pacing import Pacing


#: Rows further apart than this (s) show less than a screen, and of packets that come more often
#: than every so many rows too little.
COARSE_TICK, ROWS_BETWEEN = 1 / 45, 3


@dataclass(frozen=True)
class Entity:
    """An entity that can be judged."""

    name: str
    packets: PacketBlock
    truth: SampledTruth
    events: Events


@dataclass(frozen=True)
class Entities:
    """All that can be judged, one at least.

    ``warm_up`` (seconds) is in force for each. ``refused`` are packets that have no place on the
    clock, ``notes`` say what cannot be judged, what was cut out of the truth, and what the rows
    do not show.
    """

    judged: tuple[Entity, ...]
    warm_up: float
    origin: Origin
    refused: tuple[Refusal, ...]
    notes: tuple[Note, ...]

    @property
    def all_rows(self) -> int:
        """How many rows there are."""
        return sum(len(one.truth.times) for one in self.judged)

    @property
    def resolution(self) -> float:
        """The least length that means something."""
        return max(one.truth.truth.resolution for one in self.judged)

    @property
    def rows(self) -> int:
        """How many rows count."""
        return sum(int(one.truth.counted.sum()) for one in self.judged)


def judged_entities(
    packets: Mapping[str, PacketBlock],
    truths: Mapping[str, Truth] | None,
    offset: float,
    pacing: Callable[[], Pacing],
    tick: float,
    warm_up: float | None,
    latency: float | None,
) -> Entities:
    """The entities that can be judged, each with the truth at its ticks.

    ``latency`` (s) is that of packets without an arrival time; None: arrival times have no part in
    it. See ``compare`` for the other parameters. Raises ``NothingJudged``, ``TooManyRows``.
    """
    if truths is None:
        known, missing = truths_of(packets, "rebuilt", offset)
    else:
        known, missing = _given(packets, truths)
    if not known:
        raise NothingJudged(tuple(missing))
    longest = max(known.values(), key=lambda truth: truth.duration)
    wait = default_warm_up(longest) if warm_up is None else warm_up
    notes: list[Note] = [*missing]
    judged: list[Entity] = []
    refused: list[Refusal] = []
    for name, truth in known.items():
        # the ticks, which are the same for all: a strategy that takes and draws nothing has them
        silent = Trace(Strategy, pacing(), packets[name])
        refused += silent.refusals
        times = np.asarray(silent)["time"].copy()
        del silent  # its rows are the largest thing here
        events = events_of(packets[name], truth, offset, latency)
        sampled = sample_truth(truth, times, tick, wait, events.first)
        if sampled.counted.any():
            judged.append(Entity(name, packets[name], sampled, events))
            notes += [Adjusted(name, one) for one in truth.notes]
            notes += _outages(name, events, truth.origin)
        else:
            missing.append(_nothing_counts(name, times, truth, wait))
            notes.append(missing[-1])
    if not judged:
        raise NothingJudged(tuple(missing))
    interval = min(one.events.interval for one in judged)
    if tick > COARSE_TICK and interval < ROWS_BETWEEN * tick:
        notes.append(TickHides(tick, interval))
    return Entities(tuple(judged), wait, judged[0].truth.truth.origin, tuple(refused), tuple(notes))


def _given(
    packets: Mapping[str, PacketBlock], truths: Mapping[str, Truth]
) -> tuple[dict[str, Truth], list[NotJudged]]:
    if len(truths) == len(packets) == 1:
        # only one can be meant, whatever it is called
        return dict(zip(packets, truths.values(), strict=True)), []
    named = tuple(filter(None, truths))
    return (
        {name: truths[name] for name in packets if name in truths},
        [
            NotJudged(name, Unjudged.NOT_IN_TRUTH, known=named)
            for name in packets
            if name not in truths
        ],
    )


def _outages(name: str, events: Events, origin: Origin) -> list[Note]:
    silences = events.silences[events.silences > 0]
    if not len(silences):
        return []
    total, longest = float(silences.sum()), float(silences.max())
    return [Outages(name, len(silences), total, longest, origin == "given")]


def _nothing_counts(name: str, times: Floats, truth: Truth, warm_up: float) -> NotJudged:
    if not len(times):
        return NotJudged(name, Unjudged.NO_ROWS)
    apart = times[-1] < truth.start or times[0] > truth.end
    return NotJudged(
        name,
        Unjudged.NO_OVERLAP if apart else Unjudged.WARM_UP,
        rows=(float(times[0]), float(times[-1])),
        truth=(truth.start, truth.end),
        warm_up=warm_up,
    )
