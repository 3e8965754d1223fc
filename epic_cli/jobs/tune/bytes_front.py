"""Search senders for the Pareto front of bytes sent against one metric.

Searched are the send rate, thresholds, bits and packing. Senders are tried on one part of the data:
every other network and, of a recorded movement, its first half. The front found there is evaluated
on the rest; each sender sends its own stream over the same networks, so that differences are
paired.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.parameters import parse_quantity
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import FAMILIES, get_declaration, is_built_in
from epic_cli.jobs.tune.spec import GOALS, Goal, find_goal
from epic_cli.jobs.tune.trials import MetricValues, measure_candidates
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.evaluation import (
    CompareSpec,
    Run,
    SimulatedRunMaker,
    compare,
    evaluate,
    iterate_simulated_runs,
    pool_results,
    prepare,
)
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.metrics.tabular import Tabular
from epic_cli.network.movement import RecordedMovement, Track
from epic_cli.network.sender import RECORDED, USUAL_RATE, SenderSpec
from epic_cli.network.simulation import Simulation
from epic_cli.work.code import list_code
from epic_cli.work.executors import Threads
from epic_cli.work.journal import ResultJournal, compute_key

if TYPE_CHECKING:
    from epic_cli.show.scene import Selection

#: What is tried: rates (Hz), thresholds as the seconds in which that far is gone, bits of a
#: coordinate with those of a rotation's component, what becomes of velocities, and packings.
RATES = (5, 10, 15, 20, 30, 60)
THRESHOLDS = (0.005, 0.01, 0.02, 0.05, 0.1)
BITS = ((None, None), (18, 15), (16, 12), (14, 11), (12, 10), (10, 9), (8, 8))
VELOCITIES = (None, "half", "none")
PACKS = (None, "delta")

#: Longest time (s) for which a threshold may leave even movement unsent.
AT_LEAST = 1

#: Senders whose metrics differ by less than this share count as equal: fewer bytes win.
ALIKE = 0.005

#: Senders of the first round that are tried with all encodings, then those of the second.
_BEST, _ROUNDS = 6, 4

#: Next to a limit, rates that differ by this factor are tried, in this many rounds at most.
_STEP, _NEARER = 1.2, 6

#: Most senders of the front to show.
SHOWN = 12

#: Strategies of these families guess where an entity is: a sender can have a copy of them.
_PREDICT = {FAMILIES[name] for name in ("aim", "correct", "filter")}


class Limit(NamedTuple):
    """The most bytes a second that an entity may use, or the worst allowed value of a metric."""

    value: float
    figure: str = "bytes"

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Parse ``5kB/s``, ``40kbit/s`` or ``error=0.05``; raise ``ValueError``."""
        name, found, rest = text.partition("=")
        try:
            if found:
                if name.strip() not in GOALS:
                    raise ValueError
                return cls(float(rest), name.strip())
            amount = text.strip().removesuffix("/s")
            if not amount[-1:].isalpha():  # bits or bytes
                raise ValueError
            if amount.endswith("B"):
                return cls(_check_positive(parse_quantity(amount[:-1] + "bit", "bit/s")))
            return cls(_check_positive(parse_quantity(amount, "bit/s")) / 8)
        except ValueError:
            raise ValueError("write 5kB/s, 40kbit/s, or a metric: error=0.05") from None


def _check_positive(value: float) -> float:
    if not value > 0:
        raise ValueError
    return value


@dataclass(frozen=True)
class BytesSpec:
    """A search for senders: the strategies, the networks, and the ``figure`` to judge by.

    Keys of a sender that the ``simulation`` sets are kept; ``compare`` needs no participants.
    """

    strategies: tuple[StrategySpec, ...]
    simulation: Simulation
    seeds: Sequence[int]
    compare: CompareSpec
    figure: str = "score"
    limit: Limit | None = None

    @property
    def given(self) -> SenderSpec:
        """The sender as the user described it; whole numbers are shorter to write."""
        send = self.simulation.spec.send
        numbers = {key: getattr(send, key) for key, _ in send.list_entries()}
        whole: dict[str, Any] = {
            key: int(value)
            for key, value in numbers.items()
            if isinstance(value, float) and value.is_integer()
        }
        return replace(send, **whole)

    @property
    def goal(self) -> Goal:
        """The metric to optimize; if the limit is on a metric, that metric."""
        limited = self.limit is not None and self.limit.figure != "bytes"
        return find_goal(self.limit.figure if self.limit and limited else self.figure)


class TriedSender(NamedTuple):
    """A sender, and the metrics of the strategy that draws this sender's packets."""

    send: SenderSpec
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class BytesFound:
    """The result of a sender search for one strategy.

    ``front`` is the Pareto front for a ``goal``, on the tuned part and on the rest. ``chosen`` is
    the best sender under the limit, or the knee of the front; ``given`` the sender as described.
    ``without`` has the errors of the chosen sender without rounding, and without its threshold.
    """

    strategy: StrategySpec
    goal: Goal
    front: tuple[TriedSender, ...]
    chosen: SenderSpec
    given: SenderSpec
    tried: int
    kept: bool
    evaluated: Comparison
    without: Mapping[str, float]
    interrupted: bool

    def result(self, send: SenderSpec) -> Result:
        """Return a sender's result on the data that senders were not tuned on."""
        label = send.write()
        return next(result for result in self.evaluated.results if result.label == label)

    @property
    def shown(self) -> tuple[SenderSpec, ...]:
        """The senders that are Pareto-optimal on the data not tuned on, fewest bytes first."""
        known = [(self.result(entry.send), entry.send) for entry in self.front]
        ranked = sorted(known, key=lambda pair: pair[0].value("bytes"))
        best, left = math.inf, []
        for result, send in ranked:
            cost = self.goal.compute_cost(result.values)
            if cost < best or send == self.chosen:
                best = min(best, cost)
                left.append(send)
        return tuple(left)


@dataclass(frozen=True, repr=False)
class BytesFronts(Tabular):
    """The results of a sender search by strategy, and a comparison of the chosen senders."""

    spec: BytesSpec
    found: tuple[BytesFound, ...]
    comparison: Comparison | None = None

    @property
    def interrupted(self) -> bool:
        """True if the search was interrupted."""
        return len(self.found) < len(self.spec.strategies) or self.found[-1].interrupted

    def compare_before_and_after(self, selection: Selection) -> Comparison:
        """Compare the chosen senders with the ones as described, with scenes."""
        senders = {
            f"{entry.strategy.label}, {what}": (entry.strategy, send)
            for entry in self.found
            for what, send in (("as given", entry.given), ("chosen", entry.chosen))
        }
        drawn = [StrategySpec(*strategy[:2], label) for label, (strategy, _) in senders.items()]
        sends = {label: send for label, (_, send) in senders.items()}
        return divide_networks(self.spec)[1].compare_participants(drawn, sends, selection)

    @property
    def pictured(self) -> list[str]:
        """The labels that pictures show by default."""
        label = self.found[0].strategy.label
        return [f"{label}, chosen", f"{label}, as given"]


class _SenderRuns(NamedTuple):
    """The runs of one network in which each participant, by label, has a sender of its own."""

    simulation: Simulation
    seed: int
    run: Run
    senders: Mapping[str, SenderSpec]

    def __call__(self, judged: StrategySpec) -> Run:
        """Return the run of a participant, with the packets that its sender sends."""
        simulation = _change_sender(self.simulation, self.senders[judged.label])
        return SimulatedRunMaker(simulation, self.seed, self.run.truths or {})()


def _change_sender(simulation: Simulation, send: SenderSpec) -> Simulation:
    return simulation._replace(spec=replace(simulation.spec, send=send))


def find_bytes(
    spec: BytesSpec,
    progress: Callable[[int, int], object] | None = None,
    *,
    executor: Executor | None = None,
    journal: ResultJournal | None = None,
) -> BytesFronts:
    """Return the Pareto front of each strategy, and a comparison of the chosen senders.

    Senders are tried by threads of this process, or by the ``executor``; the same spec gives the
    same result. ``journal`` saves trials. An interrupt ends the search: the result is the best so
    far, if all rates and thresholds of a strategy have been tried. Raises ``NotEnoughToSay``.
    """
    tuned, rest = divide_networks(spec)
    rules = _iterate_send_rules(spec, spec.strategies[0], 1.0)
    steps = len(spec.strategies) * (len(rules) + _BEST * len(_iterate_encodings(spec)))
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done, steps), steps)

    with contextlib.ExitStack() as ending:
        if executor is None:
            executor = ending.enter_context(Threads(spec.compare.threads, steps))
        search = _SenderSearch(executor, journal, step)
        found: list[BytesFound] = []
        try:
            for strategy in spec.strategies:
                found.append(_find_front(spec, strategy, tuned, rest, search))
                if found[-1].interrupted:
                    break
        except KeyboardInterrupt:
            if not found:
                raise
    if len(found) == 1:
        return BytesFronts(spec, tuple(found))
    chosen = {entry.strategy.label: entry.chosen for entry in found}
    taking_part = [entry.strategy for entry in found]
    return BytesFronts(spec, tuple(found), rest.compare_participants(taking_part, chosen))


def divide_networks(spec: BytesSpec) -> tuple[SentPart, SentPart]:
    """Return the networks to tune on, and those to judge on; raise ``NotEnoughToSay``."""
    if len(spec.seeds) < 2:
        raise NotEnoughToSay(
            "tuning on some networks and evaluating on others needs two seeds: add --seeds 2"
        )
    early, late = _halve_movement(spec.simulation)
    return SentPart(spec, early, spec.seeds[::2]), SentPart(spec, late, spec.seeds[1::2])


def _halve_movement(simulation: Simulation) -> tuple[Simulation, Simulation]:
    """Return two simulations, of the halves of a recorded movement or of a whole computed one."""
    recorded = simulation.recorded
    if recorded is None:
        return simulation, simulation
    middle = (recorded.start + recorded.end) / 2
    parts = (_cut_movement(recorded, -math.inf, middle), _cut_movement(recorded, middle, math.inf))
    early, late = (simulation._replace(recorded=part) for part in parts)
    return early, late


def _cut_movement(movement: RecordedMovement, start: float, end: float) -> RecordedMovement:
    tracks = {}
    for name, track in movement.tracks.items():
        part, before = Track(track.max_gap), None
        for index, time in enumerate(track.times):
            if start <= time < end:
                state = track.get_state(index)
                breaks = before is not None and state.teleports != before.teleports
                part.add(time, *state[:2], breaks, state.rotation, state.spin)
                before = state
        if len(part) > 1:
            tracks[name] = part
    if not tracks:
        raise NotEnoughToSay("half of the movement is not enough to tune on: use a longer one")
    return RecordedMovement(tracks)


class SentAs(NamedTuple):
    """A strategy, and the sender whose packets it receives."""

    strategy: StrategySpec
    send: SenderSpec


@dataclass(frozen=True)
class SentPart:
    """The networks (``seeds``) on which senders are judged."""

    spec: BytesSpec
    simulation: Simulation
    seeds: Sequence[int]

    @cached_property
    def speed(self) -> float:
        """The RMS speed of the movement (length/s)."""
        run = next(iterate_simulated_runs(self.simulation, self.seeds[:1]))
        prepared = prepare(run, replace(self.spec.compare, participants=()))
        squares = rows = 0.0
        for entity in prepared.entities.judged:
            counted = entity.truth.velocities[entity.truth.counted]
            squares, rows = squares + float((counted**2).sum()), rows + len(counted)
        return math.sqrt(squares / rows)

    @cached_property
    def digest(self) -> str:
        """A hexadecimal digest of the movement, the networks and the method, for the journal."""
        how, simulated_as = self.spec.compare, replace(self.simulation.spec, send=SenderSpec())
        counts = how.timing, how.weights, how.truth_offset, how.warm_up, how.aim_range
        asked = simulated_as, self.simulation.traces, [*self.seeds], counts
        found = hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass"))
        recorded = self.simulation.recorded
        for name, track in recorded.tracks.items() if recorded is not None else ():
            found.update(pickle.dumps((name, vars(track))))
        return found.hexdigest()

    def evaluate(self, candidate: SentAs) -> Result:
        """Return a strategy's result with a sender, over all networks; raise ``NotEnoughToSay``."""
        results = [
            evaluate(prepare(run, self.spec.compare), candidate.strategy, self.spec.compare.weights)
            for run in iterate_simulated_runs(
                _change_sender(self.simulation, candidate.send), self.seeds
            )
        ]
        return results[0] if len(results) == 1 else pool_results(results)

    def compare_participants(
        self,
        participants: Sequence[StrategySpec],
        senders: Mapping[str, SenderSpec],
        selection: Selection | None = None,
    ) -> Comparison:
        """Return a comparison of participants by label, each with a sender of its own.

        With a ``selection``, the first network has scenes.
        """
        spec = replace(
            self.spec.compare,
            participants=tuple(participants),
            total=len(self.seeds),
            runs_are="networks",
            selection=selection,
        )
        return compare(self._simulate_runs(senders), spec)

    def _simulate_runs(self, senders: Mapping[str, SenderSpec]) -> Iterator[Run]:
        first = _change_sender(self.simulation, next(iter(senders.values())))
        for seed, run in zip(self.seeds, iterate_simulated_runs(first, self.seeds), strict=True):
            yield run._replace(again=_SenderRuns(self.simulation, seed, run, senders))


class _SenderSearch(NamedTuple):
    """A search for senders: the executor, the journal, and the callback for each result."""

    executor: Executor
    journal: ResultJournal | None
    step: Callable[[], None]

    def measure_senders(
        self, part: SentPart, strategy: StrategySpec, senders: Sequence[SenderSpec]
    ) -> list[MetricValues]:
        """Return a strategy's metrics with each sender; an empty table if nothing is judged."""
        wanted = [SentAs(StrategySpec(*strategy[:2]), send) for send in senders]
        code = list_code(strategy.name) if self.journal is not None else []

        def name(sent: SentAs) -> str:
            label, send = sent.strategy.label, sent.send.write()
            return compute_key(bench=part.digest, strategy=[label, *code], send=send)

        def step(*_: object) -> None:
            self.step()

        return measure_candidates(part, wanted, self.executor, step, self.journal, name)


def _find_front(
    spec: BytesSpec, strategy: StrategySpec, tuned: SentPart, rest: SentPart, search: _SenderSearch
) -> BytesFound:
    usual = int(USUAL_RATE) if spec.simulation.recorded is None else RECORDED
    given = replace(spec.given, send_rate=spec.given.send_rate or usual)
    rules = _iterate_send_rules(spec, strategy, tuned.speed)

    def try_senders(senders: Sequence[SenderSpec]) -> list[TriedSender]:
        return list(map(TriedSender, senders, search.measure_senders(tuned, strategy, senders)))

    # as it was recorded is a rate, too
    every, interrupted = try_senders(rules if given in rules else [*rules, given]), False
    best = [entry.send for entry in _select_evenly(_find_pareto(every, spec.goal), _BEST)]
    try:
        for _ in range(_ROUNDS):
            known = {entry.send.write() for entry in every}
            coming = [
                replace(send, **encoding) for send in best for encoding in _iterate_encodings(spec)
            ]
            fresh = {send.write(): send for send in coming if send.write() not in known}
            if not fresh:
                break
            every += try_senders(list(fresh.values()))
            best = [_choose_sender(_find_pareto(every, spec.goal), spec)[0].send]
        for _ in range(_NEARER if spec.limit is not None else 0):
            known = {entry.send.write() for entry in every}
            fresh = {
                send.write(): send
                for entry in _select_at_limit(_find_pareto(every, spec.goal), spec)
                for send in _iterate_neighbors(spec, entry.send)
                if send.write() not in known
            }
            if not fresh:
                break
            every += try_senders(list(fresh.values()))
    except KeyboardInterrupt:
        interrupted = True
    front = _find_pareto(every, spec.goal)
    chosen, kept = _choose_sender(front, spec)
    shown = _select_evenly(front, SHOWN)
    if chosen not in shown:
        shown = sorted([*shown, chosen], key=lambda entry: entry.metrics["bytes"])
    senders = {entry.write(): entry for entry in (*(entry.send for entry in shown), given)}
    participants = [StrategySpec(*strategy[:2], label) for label in senders]
    return BytesFound(
        strategy,
        spec.goal,
        tuple(shown),
        chosen.send,
        given,
        len(every),
        kept,
        rest.compare_participants(participants, senders),
        _split_error(strategy, chosen.send, rest, search),
        interrupted,
    )


def _iterate_send_rules(spec: BytesSpec, strategy: StrategySpec, speed: float) -> list[SenderSpec]:
    """Yield senders with different rates and thresholds; the user's own keys stay as given."""
    given = spec.given
    rates = RATES if given.send_rate is None else (given.send_rate,)
    thresholds: list[float | None] = [None]
    if not given.selective:
        thresholds += sorted(
            {_round_nicely(speed * seconds) for seconds in THRESHOLDS if speed > 0}
        )
    family = get_declaration(strategy.name).family if is_built_in(strategy.name) else ""
    predictor = StrategySpec(*strategy[:2]) if family in _PREDICT else None
    found = []
    for rate in rates:
        for threshold in thresholds:
            entry = replace(given, send_rate=rate)
            if threshold is not None:
                entry = replace(
                    entry,
                    threshold=threshold,
                    against=predictor,
                    at_least=given.at_least or AT_LEAST,
                )
            found.append(entry)
    return found


def _select_at_limit(front: Sequence[TriedSender], spec: BytesSpec) -> Sequence[TriedSender]:
    """Return the sender that the limit chooses, and its neighbors on the front."""
    place = front.index(_choose_sender(front, spec)[0])
    return front[max(place - 1, 0) : place + 3]


def _iterate_neighbors(spec: BytesSpec, send: SenderSpec) -> Iterator[SenderSpec]:
    """Yield senders with rates and thresholds between those already tried around ``send``."""
    given, rate = spec.given, send.send_rate
    rates: set[float | str | None] = {rate}
    if given.send_rate is None and isinstance(rate, int | float):
        rates |= {min(max(round(rate * by), RATES[0]), RATES[-1]) for by in (1 / _STEP, _STEP)}
    thresholds = {send.threshold}
    if not given.selective and send.threshold is not None:
        thresholds |= {float(f"{send.threshold * by:.1g}") for by in (0.6, 1.5, 2.0)}
    for changed in sorted(rates, key=str):
        for threshold in sorted(thresholds, key=str):
            yield replace(send, send_rate=changed, threshold=threshold)


def _round_nicely(value: float) -> float:
    """Round to one digit: 1, 2 or 5."""
    size = 10.0 ** math.floor(math.log10(value))
    digit = min((1, 2, 5, 10), key=lambda entry: abs(math.log(entry) - math.log(value / size)))
    return float(f"{digit * size:.1g}")


def _iterate_encodings(spec: BytesSpec) -> list[dict[str, Any]]:
    """Yield the keys of different encodings; the user's own keys stay as given."""
    given = spec.given
    fixed = given.bits is not None or given.quantize is not None or given.layout is not None
    bits = ((None, None),) if fixed else BITS
    velocities = (given.velocity,) if fixed or given.velocity is not None else VELOCITIES
    packs = PACKS if given.pack is None else (given.pack,)
    turns = spec.simulation.recorded.turns if spec.simulation.recorded else False
    found: list[dict[str, Any]] = []
    for position, rotation in bits:
        for velocity in velocities:
            for pack in packs:
                entry: dict[str, Any] = {"velocity": velocity, "pack": pack}
                if position is not None:
                    entry["bits"] = position
                    if turns and given.rotation is None:
                        entry["rotation_bits"] = rotation
                found.append(entry)
    return found


def _find_pareto(tried: Sequence[TriedSender], goal: Goal) -> list[TriedSender]:
    """Return the senders that no other sender beats in both bytes and metric, fewest bytes first.

    Raises ``NotEnoughToSay`` if nothing could be judged.
    """
    known = [entry for entry in tried if math.isfinite(_compute_cost(entry, goal))]
    if not known:
        raise NotEnoughToSay(
            "no sender delivers enough packets to judge a strategy: simulate a longer movement"
        )
    known.sort(key=lambda entry: (entry.metrics["bytes"], _compute_cost(entry, goal)))
    best, found = math.inf, []
    for entry in known:
        if _compute_cost(entry, goal) < best:
            best = _compute_cost(entry, goal)
            found.append(entry)
    return found


def _compute_cost(entry: TriedSender, goal: Goal) -> float:
    bytes_ = entry.metrics.get("bytes", math.nan)
    return goal.compute_cost(entry.metrics) if bytes_ > 0 else math.inf


def _select_evenly(front: Sequence[TriedSender], most: int) -> list[TriedSender]:
    """Return at most ``most`` senders of the front, at even distances, with both ends."""
    if len(front) <= most:
        return list(front)
    places = sorted({round(k * (len(front) - 1) / (most - 1)) for k in range(most)})
    return [front[place] for place in places]


def _choose_sender(front: Sequence[TriedSender], spec: BytesSpec) -> tuple[TriedSender, bool]:
    """Return the best sender within the limit, or the knee, and True if the limit can be met."""
    limit, aim = spec.limit, spec.goal
    if limit is None:
        return _find_cheapest(front, _find_knee(front, aim), aim), True
    if limit.figure == "bytes":
        under = [entry for entry in front if entry.metrics["bytes"] <= limit.value]
        return (_find_cheapest(front, under[-1], aim), True) if under else (front[0], False)
    judged = find_goal(limit.figure)
    worst = judged.compute_cost({limit.figure: limit.value})
    good = [entry for entry in front if judged.compute_cost(entry.metrics) <= worst]
    return (good[0], True) if good else (front[-1], False)


def _find_cheapest(front: Sequence[TriedSender], best: TriedSender, goal: Goal) -> TriedSender:
    """Return the front's sender with fewest bytes whose metric is as good as that of ``best``."""
    worst = _compute_cost(best, goal) + ALIKE * abs(_compute_cost(best, goal))
    return next(entry for entry in front if _compute_cost(entry, goal) <= worst)


def _find_knee(front: Sequence[TriedSender], goal: Goal) -> TriedSender:
    """Return the sender furthest below the chord between the front's ends, over log(bytes).

    V. Satopaa et al., "Finding a 'Kneedle' in a Haystack", ICDCS Workshops, 2011.
    """
    if len(front) < 3:
        return front[-1]
    across = [math.log(entry.metrics["bytes"]) for entry in front]
    up = [_compute_cost(entry, goal) for entry in front]
    wide, high = across[-1] - across[0], up[0] - up[-1]
    below = [
        1 - (x - across[0]) / wide - (y - up[-1]) / high for x, y in zip(across, up, strict=True)
    ]
    return front[max(range(len(front)), key=below.__getitem__)]


def _split_error(
    strategy: StrategySpec, send: SenderSpec, rest: SentPart, search: _SenderSearch
) -> dict[str, float]:
    """Return a sender's squared error by name.

    Whole, without its rounding, without its threshold.
    """
    plain = SenderSpec()
    keys = {
        "rounding": ("bits", "range", "quantize", "quantize_velocity", "velocity", "rotation",
                     "rotation_bits", "layout"),
        "threshold": ("threshold", "angle_threshold", "against", "at_least"),
    }  # fmt: skip
    others = {"all": send}
    for name, left_out in keys.items():
        other = replace(send, **{key: getattr(plain, key) for key in left_out})
        if other != send:
            others[name] = other
    found = search.measure_senders(rest, strategy, list(others.values()))
    return dict(zip(others, map(_compute_square_error, found), strict=True))


def _compute_square_error(metrics: Mapping[str, float]) -> float:
    return metrics.get("error", math.nan) ** 2
