"""A run made ready: which entities can be measured, their truth at the ticks, the pacing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epic_cli.engine.declaration import Need
from epic_cli.engine.packets import sort_by_arrival
from epic_cli.engine.replay import Trace
from epic_cli.engine.replay.corrections import own_players
from epic_cli.engine.strategies.parts import Strategy
from epic_cli.metrics.arrays import rows_of
from epic_cli.metrics.measure import Entity
from epic_cli.metrics.notes import (
    Adjusted,
    Note,
    NothingJudged,
    NotJudged,
    Outages,
    TickHides,
    Unjudged,
)
from epic_cli.metrics.recovery import Events, events_of
from epic_cli.metrics.sampled_truth import default_warm_up, sample_truth
from epic_cli.metrics.truth import Origin, Truth, truths_of

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay import Pacing
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.evaluation.spec import CompareSpec, Run
    from epic_cli.recordings.findings import Finding

#: Rows further apart than this (s) show less than a screen, and of packets that come more often
#: than every so many rows too little.
COARSE_TICK, ROWS_BETWEEN = 1 / 45, 3


@dataclass(frozen=True)
class Entities:
    """All that can be measured, one at least.

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


@dataclass(frozen=True)
class Prepared:
    """A run made ready to be drawn by any participant, any number of times.

    ``arrivals`` says whether it begins with an arrival time, ``offset`` is the spec's.
    """

    entities: Entities
    timing: Timing
    arrivals: bool
    offset: float
    findings: tuple[Finding, ...] = ()

    @property
    def by_arrival(self) -> bool:
        """Whether packets meet ticks by when they arrive."""
        return self.timing.in_force(self.arrivals)[1] == "arrival"

    @property
    def tick(self) -> float:
        """Seconds from one row to the next."""
        return self.timing.tick[0] / self.timing.tick[1]

    def unfit(self, strategy: SmoothingStrategy) -> bool:
        """Whether what a strategy draws means nothing here: there are no arrival times."""
        return not self.by_arrival and needs_arrivals(strategy)

    def pacing(self) -> Pacing:
        """A new pacing."""
        return self.timing.resolve(self.arrivals)


def needs_arrivals(strategy: SmoothingStrategy) -> bool:
    """Whether what it draws means nothing in a recording without arrival times."""
    declared = getattr(strategy, "declaration", None)
    settings = getattr(strategy, "settings", {})
    for need in declared.needs if declared is not None else ():
        if need == Need.ARRIVALS:
            return True
        if need[0] == Need.ARRIVALS and settings.get("latency") == "auto":  # a latency does as well
            return True
    return False


def prepare(run: Run, spec: CompareSpec) -> Prepared:
    """What every participant's drawing of a run needs.

    Raises ``NothingJudged`` where no entity can be measured, ``TooManyRows``, and ``ValueError``
    for logs of one's own player without common sequence numbers.
    """
    packets, truths, timing = run.packets, run.truths, spec.timing
    offset = spec.truth_offset
    own = own_players(packets) if truths is None else {}
    if own:  # what a client predicted is judged by what the server said of it
        packets = {name: one.predicted for name, one in own.items()}
        truths, _ = truths_of({name: one.truth for name, one in own.items()}, "given")
    arrivals = bool(packets) and next(iter(packets.values())).begins_with_arrival()
    by_arrival = timing.in_force(arrivals)[1] == "arrival"
    for block in packets.values() if by_arrival else ():
        sort_by_arrival(block)  # some programs log packets in the order in which they were sent
    # that of packets without an arrival time; None: arrival times have no part in it
    latency = (timing.latency or 0.0) if by_arrival else None
    tick = timing.tick[0] / timing.tick[1]
    if truths is None:
        known, missing = truths_of(packets, "rebuilt", offset)
    else:
        known, missing = _given(packets, truths)
    if not known:
        raise NothingJudged(tuple(missing))
    longest = max(known.values(), key=lambda truth: truth.duration)
    wait = default_warm_up(longest) if spec.warm_up is None else spec.warm_up
    notes: list[Note] = [*missing]
    judged: list[Entity] = []
    refused: list[Refusal] = []
    for name, truth in known.items():
        # the ticks, which are the same for all: a strategy that takes and draws nothing has them
        silent = Trace(Strategy, timing.resolve(arrivals), packets[name])
        refused += silent.refusals
        times = rows_of(silent)["time"].copy()
        del silent  # its rows are the largest thing here
        events = events_of(packets[name], truth, offset, latency)
        sampled = sample_truth(truth, times, tick, wait, events.first)
        if sampled.counted.any():
            judged.append(Entity(name, packets[name], sampled, events, spec.aim_range))
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
    origin = judged[0].truth.truth.origin
    entities = Entities(tuple(judged), wait, origin, tuple(refused), tuple(notes))
    return Prepared(entities, timing, arrivals, offset, run.findings)


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
