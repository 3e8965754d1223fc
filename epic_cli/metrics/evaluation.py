"""The evaluation of strategies: the settings of a comparison, its runs, and the measuring."""

from __future__ import annotations

import math
import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from epic_cli.engine.declaration import Declaration, Need
from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import (
    Entities,
    PacketBlock,
    Status,
    VelocityFiller,
    sort_by_arrival,
)
from epic_cli.engine.replay import Pacing, TooManyRows, Trace, separate
from epic_cli.engine.replay.corrections import NoCommonStates, list_own_players
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import FAMILIES, create, get_declaration, is_built_in
from epic_cli.engine.strategies.parts import Strategy
from epic_cli.metrics import METRICS
from epic_cli.metrics.arrays import (
    ARRIVAL,
    TIME,
    collect_rows,
    compute_median,
    find_edges,
    list_distinct,
    make_packet_table,
)
from epic_cli.metrics.certainty import (
    FEWEST_UNITS,
    WORST,
    CandidateSums,
    NetworkEvents,
    Piece,
    add_network_events,
    assess,
    count_network_events,
    find_least_score,
    sum_run_parts,
)
from epic_cli.metrics.comparison import Comparison, Result, Runs, Skipped, derive_advice
from epic_cli.metrics.delays import APART
from epic_cli.metrics.measurement import (
    FIELDS,
    Entity,
    Grid,
    Measurement,
    make_grid,
    measure,
    pool_measurements,
)
from epic_cli.metrics.metric import AIM_RANGE, Weights
from epic_cli.metrics.notes import (
    Adjusted,
    AllAlike,
    ClocksDiffer,
    ExclusionReason,
    Flaw,
    Note,
    NotEnoughToSay,
    NothingJudged,
    NotJudged,
    Outages,
    ResultNote,
    TickHides,
    TooFewStates,
)
from epic_cli.metrics.recovery import Events, find_events
from epic_cli.metrics.sent import SentStates
from epic_cli.metrics.spool import ArraySpool
from epic_cli.metrics.truth import (
    Origin,
    Truth,
    choose_warm_up,
    make_truth,
    make_truths,
    sample_truth,
)
from epic_cli.network.link import are_clocks_apart
from epic_cli.network.sender import JUDGED, Sender, sample_movement
from epic_cli.network.simulation import Simulation, Statistics
from epic_cli.recordings import LENGTHS
from epic_cli.work.executors import InterruptibleThreads, Threads
from epic_cli.work.jobs import Place
from epic_cli.work.runner import Failure, run_jobs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.contract import Packet, SmoothingStrategy
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.drawn_path import DrawnCandidate
    from epic_cli.network.movement import Movement
    from epic_cli.recordings.findings import RecordingFinding


class Participant(Protocol):
    """A participant of a comparison.

    A ``StrategySpec``, a game's own path, or any strategy factory.
    """

    @property
    def label(self) -> str:
        """The name of the participant in results."""

    @property
    def make(self) -> Callable[[], SmoothingStrategy]:
        """A function that returns a new strategy."""


class SceneMaker(Protocol):
    """A maker of scenes for pictures, called while a run's rows are in memory.

    ``show.scene.Selection`` is such a maker; its scenes are opaque here.
    """

    def share_rows(self, pictures: int) -> SceneMaker:
        """Return a maker that may use one of ``pictures`` equal shares of this maker's rows."""

    def draw_trace(
        self,
        label: str,
        shown: Floats,
        status: NDArray[np.int32],
        entity: Entity,
        recoveries: Sequence[float],
        rotations: Floats | None = None,
        lags: bool = True,
    ) -> Any:
        """Return the picture of what one strategy drew of one entity.

        Positions (n, 3), statuses (n), rotations (n, 4).
        """

    def make_scene(self, entity: Entity, offset: float, shown: Sequence[Any], unit: str) -> Any:
        """Return the scene of an entity, composed of the strategies' pictures ``shown``.

        ``offset`` (s) is added to the packets' times.
        """


class RunMaker(Protocol):
    """A maker of runs for a sender that simulates the receiver's strategy."""

    def __call__(self, judged: StrategySpec) -> Run:
        """Return the run that the sender produces for receivers with the strategy ``judged``."""


class Run(NamedTuple):
    """One recording or one simulated network: packets by entity, as ``separate`` makes them.

    Without ``truths``, the truth of each entity is rebuilt from its packets. ``findings`` concern
    the recording itself; ``drawn`` is what the game drew, if known. ``sent`` has the states that
    were sent of each entity, if known; a silence of up to ``silent`` seconds is the sender's
    choice. ``again`` makes the run for one strategy, if the sender simulates the receiver. Lengths
    are in ``unit``.
    """

    name: str
    packets: Mapping[str, PacketBlock]
    truths: Mapping[str, Truth] | None = None
    findings: tuple[RecordingFinding, ...] = ()
    sent: Mapping[str, SentStates] = MappingProxyType({})
    silent: float = 0.0
    again: RunMaker | None = None
    drawn: DrawnCandidate | None = None
    unit: str = LENGTHS


@dataclass(frozen=True)
class CompareSpec:
    """The settings of a comparison, built by a front end and usable in any process.

    ``truth_offset`` (s) is the receiver's clock less the sender's, added to the times of a rebuilt
    truth; 0: where the clocks differ, the fastest packet is taken for undelayed. ``warm_up`` is in
    seconds, see ``sample_truth``. With a ``selection``, scenes of the first run are kept for
    pictures. ``intervals``: compute intervals, from draws that depend on the ``seed`` alone.
    ``threads``: None: one for each core. ``total`` is the number of runs to come, ``runs_are``
    their kind. An aim is judged at the ``aim_range`` (length). ``each``: keep the values of every
    recording; else of very many recordings only the best participant's scores are kept.
    """

    participants: Sequence[Participant]
    timing: Timing
    weights: Weights = Weights()  # noqa: RUF009 - never changed
    truth_offset: float = 0.0
    warm_up: float | None = None
    selection: SceneMaker | None = None
    intervals: bool = True
    seed: int = 0
    threads: int | None = None
    total: int = 1
    runs_are: Runs = "recordings"
    aim_range: float = AIM_RANGE
    each: bool = True

    @property
    def share(self) -> int:
        """The number of runs that share memory and time, rounded down to a power of two.

        Rounding keeps earlier results the same when a few runs are added; for recordings the number
        stops at ``MANY``.
        """
        share = 1 << (self.total.bit_length() - 1)
        return min(share, MANY) if self.runs_are == "recordings" else share

    @property
    def many(self) -> bool:
        """True if there are too many recordings to keep more than each one's sums."""
        return self.runs_are == "recordings" and self.share >= MANY


#: Rows further apart than this (s) show less than a screen does, and too little of packets that
#: come more often than every this many rows.
COARSE_TICK, ROWS_BETWEEN = 1 / 45, 3


class EntityExtent(NamedTuple):
    """The size of an entity that can be measured: counts of packets, rows and judged rows.

    Rows go from ``begin`` to ``end`` (s). ``resolution`` is the least meaningful length.
    """

    name: str
    packets: int
    rows: int
    judged: int
    begin: float
    end: float
    resolution: float


def _measure_extent(entity: Entity) -> EntityExtent:
    truth = entity.truth
    return EntityExtent(
        entity.name,
        len(entity.packets),
        len(truth.times),
        int(truth.counted.sum()),
        float(truth.times[0]),
        float(truth.times[-1]),
        truth.truth.resolution,
    )


class JudgedEntities(Sequence[Entity]):
    """The entities that can be measured: held in memory, or prepared again at each access.

    ``held`` are those in memory; ``make`` prepares one by its name, the same each time.
    """

    def __init__(
        self,
        extents: Sequence[EntityExtent],
        held: Sequence[Entity],
        make: Callable[[str], Entity] | None = None,
    ) -> None:
        self.extents, self._held, self._make = tuple(extents), tuple(held), make

    @classmethod
    def hold(cls, entities: Iterable[Entity]) -> JudgedEntities:
        """Return these entities, held in memory."""
        held = tuple(entities)
        return cls(list(map(_measure_extent, held)), held)

    def __len__(self) -> int:
        return len(self.extents)

    def __getitem__(self, index: Any) -> Any:
        return self._make(self.extents[index].name) if self._make else self._held[index]

    def __iter__(self) -> Iterator[Entity]:
        for index in range(len(self)):
            yield self[index]


@dataclass(frozen=True)
class PreparedEntities:
    """A run's entities that can be measured (at least one), with notes on the others.

    ``warm_up`` (s) holds for each. ``refused`` are packets that have no place on the clock.
    ``notes`` say which entities cannot be judged, what was cut out of the truth, and what the rows
    do not show.
    """

    judged: JudgedEntities
    warm_up: float
    origin: Origin
    refused: tuple[Refusal, ...]
    notes: tuple[Note, ...]

    @property
    def all_rows(self) -> int:
        """The number of rows of all entities."""
        return sum(each.rows for each in self.judged.extents)

    @property
    def resolution(self) -> float:
        """The least meaningful length over all entities."""
        return max(each.resolution for each in self.judged.extents)

    @property
    def rows(self) -> int:
        """The number of judged rows of all entities."""
        return sum(each.judged for each in self.judged.extents)


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to be drawn by any participant, any number of times.

    ``arrivals`` is True if the run begins with an arrival time; ``offset`` (s) is the receiver's
    clock less the sender's.
    """

    entities: PreparedEntities
    timing: Timing
    arrivals: bool
    offset: float
    findings: tuple[RecordingFinding, ...] = ()
    again: Callable[[Participant], Sequence[Entity]] | None = None
    unit: str = LENGTHS

    def list_judged(self, participant: Participant) -> Sequence[Entity]:
        """Return the judged entities with the packets that this participant receives."""
        return self.again(participant) if self.again else self.entities.judged

    @property
    def by_arrival(self) -> bool:
        """True if packets are applied at their arrival."""
        return self.timing.in_force(self.arrivals)[1] != "demo"

    @property
    def tick(self) -> float:
        """The time from one row to the next, s."""
        return self.timing.tick[0] / self.timing.tick[1]

    def find_flaws(self, strategy: SmoothingStrategy) -> list[ResultNote]:
        """Return what makes the strategy unfit for this run, whatever it draws."""
        if not self.by_arrival:
            return [ResultNote(Flaw.NEEDS_ARRIVALS)] if is_arrival_needed(strategy) else []
        instead = _find_clock_setting(strategy) if abs(self.offset) > APART else None
        return [] if instead is None else [ResultNote(Flaw.ONE_CLOCK, instead=instead)]

    def make_pacing(self) -> Pacing:
        """Return a new pacing, with its clock, for this run."""
        return self.timing.resolve(self.arrivals)


def is_arrival_needed(strategy: SmoothingStrategy) -> bool:
    """Return True if a strategy cannot be judged on packets without arrival times."""
    declared = getattr(strategy, "declaration", None)
    settings = getattr(strategy, "settings", {})
    for need in declared.needs if declared is not None else ():
        if need == Need.ARRIVALS:
            return True
        if need[0] == Need.ARRIVALS and settings.get("latency") == "auto":  # a latency does as well
            return True
    return False


def _find_clock_setting(strategy: SmoothingStrategy) -> str | None:
    """Return what to do about clocks that differ; None if the strategy does not mind them."""
    declared = getattr(strategy, "declaration", None)
    settings = getattr(strategy, "settings", {})
    if not isinstance(declared, Declaration) or not declared.takes_one_clock(settings):
        return None
    assert declared.one_clock is not None
    return declared.one_clock.advice


def _measure_clock_difference(packets: Mapping[str, PacketBlock]) -> float:
    """Return the receiver's clock minus the sender's (s), by the fastest packet.

    Return 0 if the two are plausibly one clock.
    """
    least = math.inf
    for block in packets.values():
        table = make_packet_table(block)
        delays = table[ARRIVAL] - table[TIME]
        least = min(least, float(np.min(delays, where=np.isfinite(delays), initial=math.inf)))
    return least if math.isfinite(least) and are_clocks_apart(least) else 0.0


class _EntityMaker(NamedTuple):
    """A maker of a run's entities, each with its packets, truth and events.

    ``truths`` None: the truth is rebuilt from the packets, whose times are ``offset`` (s) late.
    ``latency`` is that of packets without an arrival time; None: arrivals are not used.
    """

    packets: Mapping[str, PacketBlock]
    truths: Mapping[str, Truth] | None
    timing: Timing
    arrivals: bool
    offset: float
    latency: float | None
    silent: float
    sent: Mapping[str, SentStates]
    aim_range: float

    @property
    def tick(self) -> float:
        """The time from one row to the next, s."""
        return self.timing.tick[0] / self.timing.tick[1]

    def read_packets(self, name: str) -> PacketBlock:
        """Return an entity's packets in the order in which they are applied."""
        block = self.packets[name]
        if self.latency is not None:
            sort_by_arrival(block)  # some programs log packets in the order in which they were sent
        return block

    def make_truth(self, name: str, block: PacketBlock) -> Truth:
        """Return an entity's truth; raise ``TooFewStates``."""
        return (
            make_truth(block, "rebuilt", self.offset) if self.truths is None else self.truths[name]
        )

    def make(
        self, name: str, warm_up: float, truth: Truth | None = None
    ) -> tuple[Entity, list[Refusal]]:
        """Prepare an entity; return it, and its packets that have no place on the clock.

        ``truth`` is the entity's truth, if already known.
        """
        block = self.read_packets(name)
        truth = truth or self.make_truth(name, block)
        # the ticks, which are the same for all: a strategy that takes and draws nothing has them
        silent = Trace(Strategy, self.timing.resolve(self.arrivals), block)
        times = collect_rows(silent)["time"].copy()
        refused = silent.refusals
        del silent  # its rows are the largest thing here
        events = find_events(block, truth, self.offset, self.latency, self.silent)
        sampled = sample_truth(truth, times, self.tick, warm_up, events.first)
        entity = Entity(name, block, sampled, events, self.aim_range, self.sent.get(name))
        return entity, refused

    def make_again(self, warm_up: float, name: str) -> Entity:
        """Prepare an entity again, the same as before."""
        return self.make(name, warm_up)[0]


#: Most rows of entities that are held in memory (a hundred bytes each); more are made again
#: whenever they are measured. Many more are held where that happens hundreds of times.
HELD_ROWS, HELD_FOR_TRIALS = 300_000, 3_000_000


def prepare(run: Run, spec: CompareSpec, held_rows: int = HELD_ROWS) -> Prepared:
    """Prepare a run so that any participant can draw it; hold at most ``held_rows`` rows in memory.

    Raises ``NothingJudged`` where no entity can be measured, ``TooManyRows``, and
    ``NotEnoughToSay`` for logs of a predicted own player without common sequence numbers.
    """
    maker, missing = _plan_entities(run, spec)
    known = _build_truths(maker, held_rows, missing)
    if not known:
        raise NothingJudged(tuple(missing))
    longest = max(known.values(), key=lambda one: one.duration)
    wait = longest.warm_up if spec.warm_up is None else spec.warm_up
    notes: list[Note] = [*missing]
    notes += [ClocksDiffer(maker.offset)] if maker.offset != spec.truth_offset else []
    held: list[Entity] = []
    judged: list[EntityExtent] = []
    refused: list[Refusal] = []
    rows, interval = 0, math.inf
    for name, one in known.items():
        entity, without_place = maker.make(name, wait, one.truth)
        refused += without_place
        truth, times = entity.truth.truth, entity.truth.times
        if not entity.truth.counted.any():
            missing.append(_explain_exclusion(name, times, truth, wait))
            notes.append(missing[-1])
            continue
        origin = truth.origin
        judged.append(_measure_extent(entity))
        notes += [Adjusted(name, note) for note in truth.notes]
        notes += _list_outage_notes(name, entity.events, origin)
        interval = min(interval, entity.events.interval)
        rows += len(times)
        if rows <= held_rows:
            held.append(entity)
        else:
            held.clear()
    if not judged:
        raise NothingJudged(tuple(missing))
    tick = maker.tick
    if tick > COARSE_TICK and interval < ROWS_BETWEEN * tick:
        notes.append(TickHides(tick, interval))
    make = None if len(held) == len(judged) else partial(maker.make_again, wait)
    several = JudgedEntities(judged, held, make)
    entities = PreparedEntities(several, wait, origin, tuple(refused), tuple(notes))
    again = None if run.again is None else partial(_resend_packets, run.again, spec, several)
    return Prepared(
        entities, spec.timing, maker.arrivals, maker.offset, run.findings, again, run.unit
    )


def _plan_entities(run: Run, spec: CompareSpec) -> tuple[_EntityMaker, list[NotJudged]]:
    """Return a maker of the run's entities, and notes on entities that have no truth."""
    packets, truths, timing = run.packets, run.truths, spec.timing
    try:
        own = list_own_players(packets) if truths is None else {}
    except NoCommonStates as error:
        raise NotEnoughToSay(str(error)) from error
    if own:  # what a client predicted is judged by what the server said of it
        packets = {name: one.predicted for name, one in own.items()}
        truths, _ = make_truths({name: one.truth for name, one in own.items()}, "given")
    arrivals = bool(packets) and next(iter(packets.values())).begins_with_arrival()
    by_arrival = timing.in_force(arrivals)[1] == "arrival"
    latency = (timing.latency or 0.0) if by_arrival else None
    offset = spec.truth_offset
    missing: list[NotJudged] = []
    if truths is not None:
        truths, missing = _match_truths(packets, truths)
    elif by_arrival:
        offset = offset or _measure_clock_difference(packets)
    beside = (run.silent, run.sent, spec.aim_range)
    return _EntityMaker(packets, truths, timing, arrivals, offset, latency, *beside), missing


class _KnownTruth(NamedTuple):
    """A truth's duration (s) and default warm-up (s), and the truth itself if held in memory."""

    duration: float
    warm_up: float
    truth: Truth | None


def _build_truths(
    maker: _EntityMaker, held: int, missing: list[NotJudged]
) -> dict[str, _KnownTruth]:
    """Build each entity's truth, and append a note to ``missing`` where there is none.

    Return the truths by entity; only durations and warm-ups are kept if the truths have more than
    ``held`` states in all.
    """
    known: dict[str, _KnownTruth] = {}
    states = 0
    for name in maker.packets if maker.truths is None else maker.truths:
        block = maker.read_packets(name)
        try:
            truth = maker.make_truth(name, block)
        except TooFewStates as error:
            missing.append(NotJudged(name, ExclusionReason.TOO_FEW_STATES, states=error.usable))
            continue
        states += len(block)
        known[name] = _KnownTruth(truth.duration, choose_warm_up(truth), truth)
        if states > held:
            known = {name: one._replace(truth=None) for name, one in known.items()}
    return known


def _resend_packets(
    again: RunMaker, spec: CompareSpec, judged: Sequence[Entity], participant: Participant
) -> Sequence[Entity]:
    """Return the entities with the packets that are sent to the participant's own strategy."""
    if not isinstance(participant, StrategySpec):
        return judged
    plain = replace(spec, participants=(), selection=None)
    entities = prepare(again(participant), plain).entities.judged
    found = {entity.name: entity for entity in entities}
    missing = [entity.name for entity in judged if entity.name not in found]
    if missing:
        raise NotEnoughToSay(
            f"too few packets of {missing[0]!r} are sent for {participant.label}: send more often"
        )
    return tuple(found[entity.name] for entity in judged)


def _match_truths(
    packets: Mapping[str, PacketBlock], truths: Mapping[str, Truth]
) -> tuple[dict[str, Truth], list[NotJudged]]:
    if len(truths) == len(packets) == 1:
        # only one can be meant, whatever it is called
        return dict(zip(packets, truths.values(), strict=True)), []
    named = tuple(filter(None, truths))
    return (
        {name: truths[name] for name in packets if name in truths},
        [
            NotJudged(name, ExclusionReason.NOT_IN_TRUTH, known=named)
            for name in packets
            if name not in truths
        ],
    )


def _list_outage_notes(name: str, events: Events, origin: Origin) -> list[Note]:
    silences = events.silences[events.silences > 0]
    if not len(silences):
        return []
    total, longest = float(silences.sum()), float(silences.max())
    return [Outages(name, len(silences), total, longest, origin == "given")]


def _explain_exclusion(name: str, times: Floats, truth: Truth, warm_up: float) -> NotJudged:
    if not len(times):
        return NotJudged(name, ExclusionReason.NO_ROWS)
    apart = times[-1] < truth.start or times[0] > truth.end
    return NotJudged(
        name,
        ExclusionReason.NO_OVERLAP if apart else ExclusionReason.WARM_UP,
        rows=(float(times[0]), float(times[-1])),
        truth=(truth.start, truth.end),
        warm_up=warm_up,
    )


#: A callback with the number of steps that are done, and of all steps.
Progress = Callable[[int, int], object]

#: The place of a run without a thread pool, progress or interruption.
ALONE = Place()

#: Errors kept of each participant for quantiles: all of most recordings; at least this many of each
#: entity, or of each of many recordings. More would fill the memory.
KEPT, FEWEST_KEPT, FEWEST_OF_MANY = 400_000, 500, 50

#: From this many recordings on, only this many errors and the sums of each are kept, and this many
#: worst seconds of all.
MANY, ERRORS_OF_MANY, WORST_OF_ALL = 64, 50, 512

#: Seconds between packets that are left out on trial.
LOST_APART = 0.5

#: A lead of fewer points is not tried with more losses; a result this many times as far behind as
#: the leader may fall is not tried either.
LEAST_LEAD, NEAR = 1.0, 1.5

#: Most rows that all threads together draw at a time; each takes a hundred bytes.
MOST_AT_ONCE = 4_000_000


class EntityResult(NamedTuple):
    """The measurement of one participant and entity, or a note why there is none."""

    measurement: Measurement | None
    drawn: Any = None
    note: ResultNote | None = None


class _MeasuringContext(NamedTuple):
    """Values that the measuring of all participants and entities shares.

    Errors and sums are kept in the ``spool``, if there is one.
    """

    pacing: Callable[[], Pacing]
    weights: Weights
    selection: SceneMaker | None = None
    kept: int = KEPT
    cells: Grid | None = None
    stop: threading.Event = threading.Event()
    spool: ArraySpool | None = None
    threads: int = 1

    def keep(self, found: EntityResult) -> EntityResult:
        """Return the result with its errors and sums moved to the spool, if there is one."""
        if found.measurement is None or self.spool is None:
            return found
        return found._replace(measurement=found.measurement.keep_in(self.spool))


def _keep_result(result: Result, spool: ArraySpool | None) -> Result:
    """Return the result with its errors and sums moved to the spool, if there is one."""
    if result.measured is None or spool is None:
        return result
    return replace(result, measured=result.measured.keep_in(spool))


def compare_run(run: Run | Prepared, spec: CompareSpec, place: Place = ALONE) -> Comparison:
    """Measure what every participant draws of every entity of one run.

    The number of threads is the ``place``'s, or else the spec's; an interruption
    (``KeyboardInterrupt``), or the place's ``stop``, ends them first. With the spec's
    ``intervals``, results keep the sums that intervals are made of (see ``pool_measurements``).
    Entities are measured one after the other: memory is that of the longest one, and of the sums.
    Raises ``NothingJudged`` where no entity can be measured, ``TooManyRows``. The failure of a
    strategy written in Python becomes a note of its result.
    """
    prepared = run if isinstance(run, Prepared) else prepare(run, spec)
    entities, share = prepared.entities, spec.share
    extents = entities.judged.extents
    drawn_by = [(one, prepared.list_judged(one)) for one in spec.participants]
    selection = spec.selection.share_rows(len(extents) * len(drawn_by)) if spec.selection else None
    most = max(1, MOST_AT_ONCE // max(entity.rows for entity in extents))
    workers = place.threads or spec.threads or os.cpu_count() or 1
    work = _MeasuringContext(
        prepared.make_pacing,
        spec.weights,
        selection,
        max(KEPT // (len(extents) * share), FEWEST_KEPT if share == 1 else FEWEST_OF_MANY),
        make_grid([(entity.begin, entity.end) for entity in extents], 1 if spec.many else share)
        if spec.intervals
        else None,
        place.stop or threading.Event(),
        ArraySpool(),
        min(workers, most),
    )
    found: list[list[EntityResult]] = [[] for _ in drawn_by]
    scenes = []
    for measured in _measure_entities(drawn_by, range(len(extents)), work, place.progress):
        for own, one in zip(found, measured.results, strict=True):
            own.append(one._replace(drawn=None))
        if selection is not None:
            shown = [one.drawn for one in measured.results if one.drawn]
            scene = selection.make_scene(measured.entity, prepared.offset, shown, prepared.unit)
            scenes.append(scene)
        del measured  # the next entity is prepared before this name has another value
    results, kinds = [], []
    events = _find_network_events(entities.judged) if spec.intervals else NetworkEvents()
    if spec.runs_are == "networks":  # what a simulated one does is known
        events = events._replace(watched=0.0)
    for participant, own in zip(spec.participants, found, strict=True):
        strategy = participant.make()
        declared = getattr(strategy, "declaration", None)
        once = prepared.by_arrival and getattr(declared, "lag_by_session", False)
        name = getattr(declared, "name", "")
        family = get_declaration(name).family if is_built_in(name) else ""
        flaws = prepared.find_flaws(strategy)
        kinds.append((flaws, family == FAMILIES["adaptive_delay"]))
        result = combine_results(participant.label, None, own, *kinds[-1])
        result = _keep_result(result, work.spool)
        results.append(replace(result, waver=events.waver if once else 0.0))
    # of streams of their own, one more loss is not the same event
    if events.tried and spec.total < FEWEST_UNITS and prepared.again is None:
        for asked in _choose_results(events, results, found, entities.resolution):
            if asked:
                _add_loss_effects(found, drawn_by, work, events, sorted(asked))
    by_entity = [
        combine_results(participant.label, entity.name, [one], *kind)
        for participant, own, kind in zip(spec.participants, found, kinds, strict=True)
        for entity, one in zip(extents, own, strict=True)
    ]
    return Comparison(
        weights=spec.weights,
        tick=prepared.tick,
        warm_ups=(entities.warm_up,),
        rows=entities.rows,
        origin=entities.origin,
        notes=entities.notes,
        results=tuple(results),
        by_entity=tuple(by_entity),
        scenes=tuple(scenes),
        refused=entities.refused,
        all_rows=entities.all_rows,
        resolution=entities.resolution,
        cells=work.cells,
        rare=events,
        findings=prepared.findings,
    )


def _choose_results(
    events: NetworkEvents,
    results: Sequence[Result],
    found: Sequence[Sequence[EntityResult]],
    resolution: float,
) -> Iterator[set[int]]:
    """Yield the indices of the results for which additional losses are to be simulated.

    Few rare events leave the leader in question: the first set holds the leader; the second holds
    the results that the leader, by the points it loses, may no longer leave behind, as losses make
    none of them better.
    """
    if not events.few:
        yield set(range(len(results)))
        return
    scores = {
        place: each.value("score")
        for place, each in enumerate(results)
        if math.isfinite(each.value("score"))
    }
    first, *others = sorted(scores, key=scores.__getitem__, reverse=True) or [0]
    if not others or scores[first] - scores[others[0]] < LEAST_LEAD:
        return
    yield {first}
    own = [each.measurement for each in found[first]]
    worst = find_least_score([each for each in own if each is not None], events, resolution)
    near = NEAR * (scores[first] - worst) + LEAST_LEAD
    yield {place for place in others if scores[first] - scores[place] < near}


def _add_loss_effects(
    found: Sequence[list[EntityResult]],
    drawn_by: Sequence[tuple[Participant, Sequence[Entity]]],
    work: _MeasuringContext,
    events: NetworkEvents,
    asked: Sequence[int],
) -> None:
    """Simulate one additional loss of each length (``in_a_row``), and add its effect to results.

    ``asked`` are the indices of these results.
    """
    assert work.cells is not None
    cells, places = work.cells, range(len(found[0]))
    chosen = [drawn_by[place] for place in asked]
    shares: dict[int, Floats] = {}

    def leave_out(index: int, entity: Entity) -> Entity:
        lossy = _leave_out_packets(entity, cells, events.in_a_row)
        shares[index] = lossy.shares
        return lossy.entity

    again = work._replace(selection=None)
    for measured in _measure_entities(chosen, places, again, None, leave_out):
        share = shares.pop(measured.place)
        for own, other in zip([found[place] for place in asked], measured.results, strict=True):
            one, more = own[measured.place].measurement, other.measurement
            if not len(share) or one is None or more is None:
                continue
            added = share @ (np.asarray(more.sums) - np.asarray(one.sums))
            own[measured.place] = EntityResult(replace(one, losses=added))
        del measured


class _LossyEntity(NamedTuple):
    """An entity without some packets, and the share of each cell's change due to one loss.

    ``shares`` is (losses, cells); empty if no packet can be left out.
    """

    entity: Entity
    shares: Floats


def _leave_out_packets(entity: Entity, cells: Grid, in_a_row: Sequence[int]) -> _LossyEntity:
    """Return the entity without bursts of packets, far apart, with lengths ``in_a_row`` in turn.

    All that follows a loss, until the next one, counts as its effect.
    """
    stamps = make_packet_table(entity.packets)[TIME]
    ordered = list_distinct(stamps[np.isfinite(stamps)])
    usual = compute_median(np.diff(ordered)) if len(ordered) > 1 else math.inf
    begin, end = entity.truth.times[entity.truth.counted][[0, -1]].tolist()
    kinds, longest = len(in_a_row), max(in_a_row)
    every = max(LOST_APART, (6 + longest) * usual, 2 * cells.length)
    if not (kinds + 2) * every < end - begin:
        return _LossyEntity(entity, np.empty(0))
    places = list_distinct(np.searchsorted(ordered, np.arange(begin + every, end - every, every)))
    places = places[(places > 0) & (places < len(ordered) - longest)]
    places = places[ordered[places + longest] - ordered[places - 1] < (longest + 1.5) * usual]
    if len(places) < kinds:
        return _LossyEntity(entity, np.empty(0))
    lost = [
        places[kind::kinds] + more for kind, size in enumerate(in_a_row) for more in range(size)
    ]
    gone = np.isin(stamps, ordered[np.concatenate(lost)])
    left = PacketBlock(entity.packets.entities)
    if entity.packets.connection is not None:
        dropped = np.sort(ordered[np.concatenate((places, places[1::2] + 1))])
        left.connection = entity.packets.connection.without(dropped)
    for first, last in zip(*find_edges(~gone), strict=True):
        left.extend(entity.packets.part(int(first), int(last)))
    middles = cells.start + (np.arange(cells.size) + 0.5) * cells.length
    last_lost = np.searchsorted(ordered[places] - cells.length / 2, middles) - 1
    shares = [
        ((last_lost >= 0) & (last_lost % kinds == kind)) / len(places[kind::kinds])
        for kind in range(kinds)
    ]
    return _LossyEntity(replace(entity, packets=left), np.stack(shares))


def _find_network_events(judged: JudgedEntities) -> NetworkEvents:
    """Count the network's events in the judged rows of the entity with most packets."""
    sizes = [entity.packets for entity in judged.extents]
    one = judged[sizes.index(max(sizes))]
    times = one.truth.times[one.truth.counted]
    return count_network_events(make_packet_table(one.packets), float(times[0]), float(times[-1]))


def evaluate(prepared: Prepared, participant: Participant, weights: Weights) -> Result:
    """Measure one participant over all entities together, without the sums for intervals."""
    work = _MeasuringContext(prepared.make_pacing, weights)
    found = [
        _measure_entity(participant, entity, work) for entity in prepared.list_judged(participant)
    ]
    flaws = prepared.find_flaws(participant.make())
    return combine_results(participant.label, None, found, flaws)


#: Most rows of entities that are measured at a time, if that are two or more: while the threads
#: finish one, the next is prepared.
ROWS_AT_ONCE = 150_000


class _MeasuredEntity(NamedTuple):
    """All participants' results for one entity; ``place`` is the entity's index."""

    place: int
    entity: Entity
    results: list[EntityResult]


def _measure_entities(
    drawn_by: Sequence[tuple[Participant, Sequence[Entity]]],
    places: Sequence[int],
    work: _MeasuringContext,
    progress: Progress | None,
    change: Callable[[int, Entity], Entity] | None = None,
) -> Iterator[_MeasuredEntity]:
    """Measure what all participants draw, and yield the results entity by entity.

    ``change`` replaces an entity, given its index, before it is drawn.
    """
    total = len(places) * len(drawn_by)
    waiting: deque[tuple[int, Entity, list[Future[EntityResult]]]] = deque()
    done = 0

    def finish() -> _MeasuredEntity:
        nonlocal done
        place, entity, jobs = waiting.popleft()
        for future in as_completed(jobs):
            future.result()
            done += 1
            if progress is not None:
                progress(done, total)
        return _MeasuredEntity(place, entity, [work.keep(future.result()) for future in jobs])

    with InterruptibleThreads(work.threads, "compare") as executor:
        try:
            for place in places:
                made: dict[int, Entity] = {}
                jobs = []
                for participant, several in drawn_by:
                    # most draw the same packets, of one entity that is made once
                    if id(several) not in made:
                        entity = several[place]
                        made[id(several)] = change(place, entity) if change else entity
                    entity = made[id(several)]
                    jobs.append(executor.submit(_measure_entity, participant, entity, work))
                waiting.append((place, next(iter(made.values())), jobs))
                del made, entity, jobs
                rows = sum(len(entity.truth.times) for _, entity, _ in waiting)
                while len(waiting) > (rows <= ROWS_AT_ONCE):
                    yield finish()
            while waiting:
                yield finish()
        except BaseException:
            work.stop.set()
            raise


#: Arithmetic on a diverged path ends in infinities, which become notes.
_quietly = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@_quietly
def _measure_entity(
    participant: Participant, entity: Entity, work: _MeasuringContext
) -> EntityResult:
    found = _draw_rows(participant, entity, work)
    if isinstance(found, ResultNote):
        return EntityResult(None, note=found)
    shown, status, turns = found
    measured = measure(shown, status, entity, work.weights, work.cells, turns)
    picture = None
    if work.selection:
        recoveries = measured.recovery.each
        picture = work.selection.draw_trace(
            participant.label, shown, status, entity, recoveries, turns
        )
    measured = measured.thin_errors(work.kept)
    if measured.turned is not None:
        measured = replace(measured, turned=measured.turned.thin_errors(work.kept))
    return EntityResult(measured, picture)


def _draw_rows(
    participant: Participant, entity: Entity, work: _MeasuringContext
) -> tuple[Floats, NDArray[np.int32], Floats | None] | ResultNote:
    """Return positions, statuses and rotations of all rows, or a note why there are none."""
    truth = entity.truth
    try:
        trace = Trace(
            participant.make,
            work.pacing(),
            entity.packets,
            stopped=work.stop.is_set,
            expected=len(truth.times),
        )
    except StrategyFailed as failure:
        return ResultNote(Flaw.FAILED, error=failure.story)
    rows = collect_rows(trace)
    if work.stop.is_set() or len(rows) != len(truth.times):
        return ResultNote(Flaw.STOPPED)
    shown, status = rows["position"].copy(), rows["status"].copy()
    turns = None
    if truth.turns is not None:
        numbers = np.empty((len(rows), 7))
        trace.fill_turns(numbers)
        turns = None if np.isnan(numbers[:, 0]).all() else numbers[:, :4].copy()
    del rows, trace  # they are more than twice as large
    undrawn = (status == int(Status.NONE)) & truth.counted
    if undrawn.any():
        # a player sees nothing there: no better than the last state that came
        last_state = partial(create, "dumb-terminal", {})
        held = collect_rows(Trace(last_state, work.pacing(), entity.packets))["position"]
        shown = np.where(undrawn[:, None], held, shown)
    return shown, status, turns


def make_drawn_scenes(
    packets: Mapping[str, PacketBlock],
    participants: Sequence[Participant],
    timing: Timing,
    selection: SceneMaker,
    unit: str = LENGTHS,
) -> tuple[Any, ...]:
    """Return scenes of what participants draw, against a truth rebuilt from the packets."""
    spec = CompareSpec(participants, timing, selection=selection, intervals=False)
    return compare_run(Run("", packets, unit=unit), spec).scenes


@_quietly
def draw_scenes(prepared: Prepared, spec: CompareSpec) -> list[Any]:
    """Return scenes of what every participant draws, without values and lags.

    This is ten times as fast as a comparison.
    """
    assert spec.selection is not None
    judged = prepared.entities.judged
    selection = spec.selection.share_rows(len(judged) * len(spec.participants))
    work = _MeasuringContext(prepared.make_pacing, spec.weights)
    scenes = []
    for entity in judged:
        pictures = []
        for participant in spec.participants:
            found = _draw_rows(participant, entity, work)
            if not isinstance(found, ResultNote):
                shown, status, turns = found
                part = (shown, status, entity, (), turns)
                pictures.append(selection.draw_trace(participant.label, *part, lags=False))
        scenes.append(selection.make_scene(entity, prepared.offset, pictures, prepared.unit))
    return scenes


@_quietly
def combine_results(
    label: str,
    entity: str | None,
    found: Sequence[EntityResult],
    flaws: Sequence[ResultNote] = (),
    catches_up: bool = False,
) -> Result:
    """Combine one participant's measurements of all entities to one result.

    ``flaws`` are known whatever it draws; ``catches_up``: its clock catches up after some outages,
    and then it does not leap.
    """
    failed = next((result.note for result in found if result.note is not None), None)
    if failed is not None:
        return Result(label, entity, notes=(failed,))
    measurements = [result.measurement for result in found if result.measurement is not None]
    broken = sum(measurement.broken for measurement in measurements)
    if broken:
        judged = broken + sum(measurement.rows for measurement in measurements)
        note = ResultNote(Flaw.NOT_FINITE, rows=broken, judged=judged)
        return Result(label, entity, notes=(note,))
    measured = pool_measurements(measurements)
    undrawn = int(measured.statuses[Status.NONE])
    if undrawn == measured.rows:
        return Result(label, entity, notes=(ResultNote(Flaw.NOTHING_DRAWN),))
    values = {metric.name: metric.value(measured) for metric in METRICS}
    notes = [*flaws]
    if any(note.flaw is Flaw.NEEDS_ARRIVALS for note in flaws):
        values["score"] = math.nan
    if not measured.speed > 0:
        notes.append(ResultNote(Flaw.TRUTH_AT_REST))
    if measured.diverged:
        notes.append(ResultNote(Flaw.DIVERGED, beyond=measured.beyond, extent=measured.extent))
    if any(measurement.lag.unknown for measurement in measurements):
        notes.append(ResultNote(Flaw.LAG_UNKNOWN))
    if measured.lag.others:
        notes.append(ResultNote(Flaw.LAG_AMBIGUOUS, lags=measured.lag.others))
    if catches_up and measured.recovery.leaps:
        outages = max(measured.recovery.outages, measured.recovery.leaps)
        notes.append(ResultNote(Flaw.LEAPS, rows=measured.recovery.leaps, judged=outages))
    if undrawn:
        notes.append(ResultNote(Flaw.UNDRAWN, rows=undrawn, judged=measured.rows))
    return Result(label, entity, values, tuple(notes), measured=measured)


class NotComparable(NamedTuple):
    """The reason why a run cannot be compared: ``notes`` on its entities, or too many rows."""

    notes: tuple[NotJudged, ...] = ()
    most_rows: int = 0

    def make_error(self) -> ValueError:
        """Return the error that ``compare_run`` raised for the run."""
        return TooManyRows(self.most_rows) if self.most_rows else NothingJudged(self.notes)


#: The result of one run of several.
RunResult = Comparison | NotComparable


def compare(runs: Iterable[Run], spec: CompareSpec, progress: Progress | None = None) -> Comparison:
    """Compare the participants over all runs together, with intervals and ranks.

    ``runs`` are taken when they are needed, by this thread alone. The same spec gives the same
    values, whatever the number of threads.
    """
    pool = Pool(spec)
    several = spec.total > 1
    with Threads(spec.threads, spec.total) as executor:

        def compare_participant(numbered: tuple[int, Run]) -> RunResult:
            index, run = numbered
            place = Place(executor.inner, executor.stop, None if several else progress)
            return compare_one(run, replace(spec, selection=None) if index else spec, place)

        for count, ((_, run), found) in enumerate(
            run_jobs(compare_participant, enumerate(runs), executor), 1
        ):
            if isinstance(found, Failure):
                raise found.error
            if progress is not None and several:
                progress(count, spec.total)
            pool.add(run.name, found)
    return pool.combine_comparisons()


def compare_one(run: Run, spec: CompareSpec, place: Place = ALONE) -> RunResult:
    """Compare the participants in one run; if it is one of many, keep only what a pool needs."""
    try:
        found = compare_run(run, spec, place)
    except NothingJudged as error:
        return NotComparable(error.notes)
    except TooManyRows as error:
        return NotComparable(most_rows=error.most)
    if spec.many:
        return _summarize_comparison(found)
    return found if spec.total == 1 else _drop_duplicates(found)


def _summarize_comparison(found: Comparison) -> Comparison:
    """Reduce each participant's data to some errors and two sums.

    Of all rows, and of the worst second. The worst second is the one in which participants are
    usually furthest off, the same for all.
    """
    pieces = [make_piece(found, index) for index in range(len(found.results))]
    wholes = [piece.sum_entities() for piece in pieces]
    each = np.stack([sum_run_parts([piece], WORST)[1:] for piece in pieces])
    off = [compute_median(squares) for squares in each[:, :, FIELDS.index("squares")].T]
    seconds = each[:, int(np.argmax(np.nan_to_num(off)))] if off else wholes
    results = []
    for result, *sums in zip(found.results, wholes, seconds, strict=True):
        measured = result.measured and result.measured.thin_errors(ERRORS_OF_MANY)
        if measured is not None:
            turned = measured.turned and measured.turned.thin_errors(ERRORS_OF_MANY)
            measured = replace(measured, sums=np.stack(sums), turned=turned, losses=None)
        results.append(replace(result, measured=measured))
    return replace(found, results=tuple(results), by_entity=(), cells=None)


def _drop_duplicates(found: Comparison) -> Comparison:
    """Drop data kept twice: errors per entity, and sums of all entities together."""
    nothing = np.empty(0)
    return replace(
        found,
        results=tuple(
            replace(result, measured=result.measured and replace(result.measured, sums=None))
            for result in found.results
        ),
        by_entity=tuple(
            replace(
                each, measured=each.measured and replace(each.measured, errors=nothing, turned=None)
            )
            for each in found.by_entity
        ),
    )


class Pool:
    """A collection of the results of a spec's runs, by name and in the order of the runs."""

    def __init__(self, spec: CompareSpec) -> None:
        self._spec = spec
        self._found: list[tuple[str, Comparison]] = []
        self._skipped: list[Skipped] = []
        self._many = _ManyRunsPool(spec) if spec.many else None
        self._spool = ArraySpool()

    def add(self, name: str, found: RunResult) -> None:
        """Add the result of a run."""
        if isinstance(found, NotComparable):
            self.skip(name, found.make_error())
        else:
            self._found.append(
                (
                    name,
                    self._many.take_comparison(found)
                    if self._many
                    else self._spool_comparison(found),
                )
            )

    def _spool_comparison(self, found: Comparison) -> Comparison:
        """Return the comparison with its errors and sums moved to the spool."""
        results, by_entity = (
            tuple(_keep_result(each, self._spool) for each in several)
            for several in (found.results, found.by_entity)
        )
        return replace(found, results=results, by_entity=by_entity)

    def skip(self, name: str, error: ValueError) -> None:
        """Record that a run has no result, and why."""
        self._skipped.append(Skipped(name, error))

    def combine_comparisons(self) -> Comparison:
        """Return the comparison of all runs together.

        Raises ``NothingJudged`` where no run has a result; for a single run, what ``compare_run``
        raises.
        """
        found, skipped = self._found, self._skipped
        if not found:
            if self._spec.total == len(skipped) == 1:
                raise skipped[0].error
            reasons = [each.error for each in skipped if isinstance(each.error, NothingJudged)]
            for name, error in skipped:
                if not isinstance(error, NothingJudged):  # that tells more than what is short
                    raise NotEnoughToSay(f"{name}: {error}")
            raise NothingJudged(tuple(note for reason in reasons for note in reason.notes))
        if self._spec.runs_are == "networks":
            found = _drop_copies(found)
        whole = pool_runs(found, self._spec.seed, self._many, self._spool)
        return replace(whole, skipped=tuple(skipped), runs_are=self._spec.runs_are)


class _ManyRunsPool:
    """The participants' sums and scores over very many runs."""

    def __init__(self, spec: CompareSpec) -> None:
        self._each = spec.each
        self._results: list[list[Result]] = [[] for _ in spec.participants]
        self._sums = [array("d") for _ in spec.participants]
        self._scores = [array("d") for _ in spec.participants]
        self._worst: list[tuple[float, int, Floats]] = []

    @property
    def participants(self) -> int:
        """The number of participants."""
        return len(self._results)

    def take_comparison(self, found: Comparison) -> Comparison:
        """Move a run's measurements into the sums; return the comparison without measurements."""
        both = np.zeros((len(found.results), 2, len(FIELDS)))
        for index, one in enumerate(found.results):
            if one.measured is not None and one.measured.sums is not None:
                both[index] = one.measured.sums
            self._sums[index].frombytes(both[index, 0].tobytes())
            self._scores[index].append(one.value("score"))
            own = self._results[index]
            own.append(replace(one, measured=one.measured and replace(one.measured, sums=None)))
            if len(self._scores[index]) % MANY == 0:  # together they take no more than one
                several = pool_results(own[-MANY:])
                measured = several.measured and several.measured.thin_errors(16 * ERRORS_OF_MANY)
                own[-MANY:] = [replace(several, measured=measured)]
        self._keep_worst(both)
        plain = tuple(replace(result, measured=None) for result in found.results)
        return replace(found, results=plain if self._each else ())

    def _keep_worst(self, both: Floats) -> None:
        squares, speed = FIELDS.index("squares"), FIELDS.index("speed_squares")
        with np.errstate(all="ignore"):
            off = float(np.nan_to_num(compute_median(both[:, 1, squares] / both[:, 0, speed])))
        self._worst.append((-off, len(self._scores[0]), both[:, 1].copy()))
        if len(self._worst) >= 2 * WORST_OF_ALL:
            self._worst = sorted(self._worst, key=lambda one: one[:2])[:WORST_OF_ALL]

    def pool_participant(self, index: int) -> tuple[Result, CandidateSums]:
        """Return one participant's pooled result, and its values and sums."""
        results = self._results[index]
        pooled = results[0] if len(results) == 1 else pool_results(results)
        sums = np.frombuffer(self._sums[index]).reshape(-1, len(FIELDS))
        waver = max(result.waver for result in results) / math.sqrt(len(sums))
        beside = [Piece([second[index, None]], WORST) for _, _, second in self._worst]
        return pooled, CandidateSums(pooled.values, (), waver, beside, sums)

    def list_scores(self, results: Sequence[Result], names: Sequence[str]) -> tuple[Result, ...]:
        """Return the best participant's score in each run, as results."""
        best = derive_advice(results, Weights()).best
        labels = [result.label for result in results]
        own = self._scores[labels.index(best.label)] if best else ()
        return tuple(
            Result(best.label, None, {"score": score}, recording=name)
            for name, score in zip(names, own, strict=True)
            if best
        )


def _drop_copies(found: list[tuple[str, Comparison]]) -> list[tuple[str, Comparison]]:
    """Return the runs, but only the first if all are equal: copies are no evidence."""
    name, first = found[0]
    if len(found) == 1 or any(one.results != first.results for _, one in found):
        return found
    return [(name, replace(first, notes=(*first.notes, AllAlike(len(found)))))]


def pool_runs(
    found: Sequence[tuple[str, Comparison]],
    seed: int,
    many: _ManyRunsPool | None = None,
    spool: ArraySpool | None = None,
) -> Comparison:
    """Pool the comparisons of several named runs into one; ``seed`` is the bootstrap's seed.

    The comparisons must have been made with ``intervals``. ``many`` holds the measurements of very
    many runs. The errors of all runs are kept in the ``spool``, if there is one.
    """
    first = found[0][1]
    noted = [set(one.notes) for _, one in found]
    shared = tuple(note for note in first.notes if all(note in each for each in noted))
    results: list[Result] = []
    candidates: list[CandidateSums] = []
    for index in range(many.participants if many else len(first.results)):
        if many:
            pooled, known = many.pool_participant(index)
            results.append(pooled)
            candidates.append(known)
            continue
        own = [one.results[index] for _, one in found]
        pooled = own[0] if len(own) == 1 else pool_results(own)
        results.append(_keep_result(pooled, spool))
        pieces = [make_piece(comparison, index) for _, comparison in found] if pooled.values else []
        waver = max(result.waver for result in own) / math.sqrt(len(own))
        candidates.append(CandidateSums(pooled.values, pieces, waver))
    of_all, resolution = set(shared), max(one.resolution for _, one in found)
    events = add_network_events(one.rare for _, one in found)
    certainty, standings = assess(candidates, first.tick, first.weights, resolution, seed, events)
    names = tuple(name for name, _ in found)
    return replace(
        first,
        rows=sum(one.rows for _, one in found),
        all_rows=sum(one.all_rows for _, one in found),
        resolution=resolution,
        warm_ups=tuple(value for _, each in found for value in each.warm_ups),
        notes=shared,
        notes_of=tuple(
            (name, note) for name, one in found for note in one.notes if note not in of_all
        ),
        results=tuple(
            replace(one, standing=standing)
            for one, standing in zip(results, standings, strict=True)
        ),
        by_entity=first.by_entity if len(found) == 1 else (),
        refused=tuple(refusal for _, one in found for refusal in one.refused),
        findings=tuple({row.key: row for _, each in found for row in each.findings}.values()),
        certainty=certainty,
        rare=events,
        recordings=names,
        by_recording=many.list_scores(results, names)
        if many and not first.results
        else tuple(
            replace(comparison.results[index], recording=name, measured=None)
            for index in range(len(first.results))
            for name, comparison in found
        ),
    )


def pool_results(results: Sequence[Result]) -> Result:
    """Pool one participant's results over all runs."""
    found = [
        EntityResult(result.measured, note=None if result.values else result.note)
        for result in results
    ]
    flaws = {note.flaw: note for result in results for note in result.notes
             if note.flaw in (Flaw.NEEDS_ARRIVALS, Flaw.ONE_CLOCK)}  # fmt: skip
    catches_up = any(result.has(Flaw.LEAPS) for result in results)
    pooled = combine_results(results[0].label, None, found, [*flaws.values()], catches_up)
    told = [note for result in results for note in result.notes if note.flaw is Flaw.LAG_UNKNOWN]
    if told and pooled.values and not pooled.has(Flaw.LAG_UNKNOWN):  # several were one of these
        pooled = replace(pooled, notes=(*pooled.notes, told[0]))
    return replace(pooled, waver=max(result.waver for result in results))


def make_piece(comparison: Comparison, index: int) -> Piece:
    """Return the sums, by entity, of the participant at this index."""
    entities = len(comparison.by_entity) // len(comparison.results)
    own = comparison.by_entity[index * entities : (index + 1) * entities]
    cells = comparison.cells
    assert cells is not None
    nothing = np.zeros((cells.size, len(FIELDS)))
    sums = [result.measured.sums if result.measured else None for result in own]
    known = [result.measured.losses for result in own if result.measured]
    losses = [added for added in known if added is not None]
    more = np.sum(losses, axis=0) if losses else None
    return Piece([nothing if values is None else values for values in sums], cells.length, more)


#: Samples a second of a computed path that serve as its truth ...
TRUTH_RATE = 200

#: ... which goes on for this many seconds: the last states sent are drawn later.
TRUTH_LONGER = 5.0


def iterate_simulated_runs(simulation: Simulation, seeds: Iterable[int]) -> Iterator[Run]:
    """Yield a simulated run for each seed, with the movement itself as the truth."""
    known: dict[Movement, dict[str, Truth]] = {}
    for seed in seeds:
        movement = simulation.make_movement(seed)
        if movement not in known:
            sampled = _sample_truths if known else _cached_truths
            known = {movement: sampled(movement, simulation.spec.movement.seconds)}
        yield SimulatedRunMaker(simulation, seed, known[movement])()


class SimulatedRunMaker(NamedTuple):
    """A maker of one run: a simulated movement sent over the network of one ``seed``."""

    simulation: Simulation
    seed: int
    truths: Mapping[str, Truth]

    def __call__(self, judged: StrategySpec | None = None) -> Run:
        """Simulate and return the run.

        A sender that simulates its receiver uses the ``judged`` strategy.
        """
        send = self.simulation.spec.send
        each: dict[str, list[tuple[float, int, float]]] = {}
        packets: dict[str, PacketBlock] = {}
        statistics = Statistics(each)
        for block in self.simulation.iterate_blocks(
            self.seed, statistics=statistics, judged=judged
        ):
            separate(block, packets)
        if send.expand_layout().velocity == "none":
            for block in packets.values():
                VelocityFiller().fill(block)
        sent = {name: SentStates(*np.array(states).T) for name, states in each.items()}
        silent = (send.at_least or math.inf) if send.selective else 0.0
        again = self if send.against == JUDGED and judged is None else None
        return Run(f"seed {self.seed}", packets, self.truths, (), sent, silent, again)


def group_by_entity(packets: Iterable[Packet]) -> dict[str, PacketBlock]:
    """Return packets grouped by entity, in the form that comparisons take."""
    block = PacketBlock(Entities())
    for packet in packets:
        block.append(packet)
    found: dict[str, PacketBlock] = {}
    separate(block, found)
    return found


def _sample_truths(movement: Movement, duration: float) -> dict[str, Truth]:
    exact = Sender()
    if movement.iterate_recorded() is None:
        snapshots = sample_movement(movement, TRUTH_RATE, duration + TRUTH_LONGER)
    else:
        snapshots = sample_movement(movement, None)
    states = (packet for snapshot in snapshots for packet in exact.make_packets(snapshot))
    truths, _ = make_truths(group_by_entity(states), "given")
    return truths


#: The same movement over another network has the same truth.
_cached_truths: Any = lru_cache(maxsize=4)(_sample_truths)
