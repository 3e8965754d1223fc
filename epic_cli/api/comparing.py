"""Comparisons of strategies: the Python function ``compare``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.api.reading import StrictLog, WarningTally, raise_python_errors
from epic_cli.api.replaying import make_maker, make_timing
from epic_cli.api.shown import register
from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec, read_specs
from epic_cli.engine.strategies.parts import Strategy, is_native
from epic_cli.jobs.compare.run import run
from epic_cli.jobs.compare.spec import CompareJob
from epic_cli.metrics.comparison import Comparison, Skipped
from epic_cli.metrics.evaluation import CompareSpec, Participant
from epic_cli.metrics.inputs import RecordedRuns, RunInputs, SimulatedRuns
from epic_cli.metrics.metric import GAMES, make_weights
from epic_cli.recordings.reading import list_folder
from epic_cli.recordings.rows import PacketSource, Path, make_source, write_path
from epic_cli.work.jobs import Workers

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from fractions import Fraction

    from epic_cli.engine.replay.playback import ClockName, PacingName, Timing
    from epic_cli.network.link import LinkConditions
    from epic_cli.network.link_spec import LinkSpec
    from epic_cli.network.movement_spec import MovementSpec
    from epic_cli.network.sender import SenderSpec
    from epic_cli.network.simulation import SimulationSpec
    from epic_cli.recordings.opening import RecordingSource
    from epic_cli.show.report import Report

#: A participant: a name as in ``epic compare``, a spec, an object, a class, or a function.
StrategyLike = str | StrategySpec | SmoothingStrategy | Callable[[], SmoothingStrategy]


class _ObjectParticipant(NamedTuple):
    """A participant whose strategies are made by an object, a class or a function."""

    label: str
    make: Callable[[], SmoothingStrategy]


def compare(
    packets: PacketSource | Sequence[Path] | None = None,
    strategies: StrategyLike | Iterable[StrategyLike] | Mapping[str, StrategyLike] = (),
    *,
    truth: PacketSource | None = None,
    truth_offset: float = 0.0,
    tick: str | float | Fraction = "1/60",
    clock: ClockName | None = "exact",
    pacing: PacingName | None = None,
    latency: float | None = None,
    weights: Mapping[str, float] | None = None,
    game: str | None = None,
    warm_up: float | None = None,
    movement: str | MovementSpec | None = None,
    send: str | SenderSpec = "",
    link: str | LinkSpec | LinkConditions = "",
    seeds: int = 20,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Comparison:
    """Run strategies over the same packets and measure what each draws against the truth.

    ``packets`` and ``truth`` are of the kinds that ``replay`` takes: packets, a table, the path of
    a recording. ``packets`` may also be several paths, or that of a folder, which are judged
    together. Without ``truth`` it is rebuilt from the packets, with hindsight; ``truth_offset``
    (seconds: the receiver's clock minus the sender's) is added to its times. With a ``movement``
    there are no ``packets``: the movement is sent over simulated networks, one for each of
    ``seeds``. ``movement`` (``"strafe,speed=4"``, ``"truth=walk.csv"``), ``send`` (``"30hz"``) and
    ``link`` (``"4g,loss=3%"``) are the texts of the options with these names, or their values.
    ``seed`` is that of the first network and of the intervals: the same seed gives the same result,
    whatever the number of ``threads``.

    ``strategies`` are names, with settings as ``"epic+calc_ahead=0.3"``, built-in strategies as
    ``strategy("epic", calc_ahead=0.3)``, classes, or functions that make strategies; a mapping
    gives them labels. By default all strategies take part. The score weighs ``accuracy``,
    ``smoothness``, ``latency`` and ``recovery`` (1 each), ``overshoot``, ``backward`` and
    ``across`` (0 each), unless ``weights`` or a ``game`` (``"shooter"``, ``"vehicle"``,
    ``"fighting"``, ``"observer"``) changes them. There is a row for each picture of a usual screen
    unless another ``tick`` is given. The first ``warm_up`` seconds of each unbroken movement do not
    count. The other arguments are those of ``replay``; ``threads`` defaults to the number of cores.

    An ``executor`` of ``concurrent.futures`` (processes, a cluster's) judges recordings side by
    side, each with one thread by default. Its workers read the recordings, which must be paths;
    strategies and truth are sent by pickle. The result is the same; ``skipped`` has the recordings
    at which a worker failed.

    Return a frozen ``Comparison``. Its ``results`` are in the order of the strategies; each has its
    ``label`` and the metrics by name in ``values``: ``result.value("error")`` is the RMS distance
    from the truth in the recording's length unit, ``"lag"`` in seconds, ``"score"`` from 0 to 100
    (NaN: too little data). ``result.interval("error")`` is the 95 % confidence interval,
    ``result.rank`` one more than the number of results that are clearly better,
    ``result.standing.gap`` the distance to the best. ``by_entity`` has the same for each entity,
    ``by_recording`` for each recording, without intervals. ``advice`` is the conclusion,
    ``certainty`` the basis of the intervals; ``skipped`` lists the recordings that cannot be
    judged, or cannot be read, which also gives a warning.

    Raise what ``replay`` does for wrong arguments and for what is no recording, and ``ValueError``
    where there is too little data, or more rows than fit into memory. A strategy whose own code
    fails has a note with the failure and no values; ``notes`` of other results are cautions, and
    ``ranked`` is True if a result can be called better or worse than another.
    """
    timing, participants = make_timing(tick, clock, pacing, latency), make_participants(strategies)
    how = make_spec(timing, weights, game, truth_offset, warm_up, seed, threads)
    networks = None if movement is None else make_simulation(movement, send, link)
    given = make_inputs(packets, truth, networks, range(seed, seed + seeds))
    job = CompareJob(given, replace(how, participants=participants), Workers(executor=executor))
    tally = WarningTally(only=job.how.total == 1)
    with raise_python_errors():
        found = run(job, StrictLog, tally)
    skipped = [Skipped(name, ValueError(str(error))) for name, error in tally.skipped]
    return replace(found, skipped=(*found.skipped, *skipped))


def make_spec(
    timing: Timing,
    weights: Mapping[str, float] | None,
    game: str | None,
    truth_offset: float,
    warm_up: float | None,
    seed: int,
    threads: int | None,
) -> CompareSpec:
    """Make the specification of a comparison from arguments of ``compare`` or ``tune``."""
    games = {game.name: game.weights for game in GAMES}
    if game is not None and game not in games:
        raise ValueError(f"no game {game!r}: choose from {', '.join(games)}")
    counts = make_weights(weights or {}, games.get(game or ""))
    return CompareSpec((), timing, counts, truth_offset, warm_up, seed=seed, threads=threads)


def make_inputs(
    packets: PacketSource | Sequence[Path] | None,
    truth: PacketSource | None,
    networks: SimulationSpec | None,
    seeds: range,
) -> RunInputs:
    """Return the recordings or the simulated networks to compare; raise ``ValueError``."""
    if networks is None:
        where = write_path(truth) if isinstance(truth, (str, os.PathLike)) else truth
        return RecordedRuns(tuple(_list_recordings(packets)), truth=where)
    if packets is not None or truth is not None:
        raise ValueError(
            "a movement is simulated and is its own truth: leave out packets and truth"
        )
    return SimulatedRuns(networks, seeds)


def _list_recordings(
    packets: PacketSource | Sequence[Path] | None,
) -> Sequence[str | RecordingSource]:
    """Return the paths of the recordings to judge; a folder stands for the recordings in it."""
    if packets is None:
        raise TypeError("None holds no packets: give a recording, or a movement")
    if isinstance(packets, (str, os.PathLike)):
        return list_folder(write_path(packets))
    if isinstance(packets, (list, tuple)) and packets:
        paths = [path for path in packets if isinstance(path, (str, os.PathLike))]
        if len(paths) == len(packets):
            return [inside for path in paths for inside in list_folder(path)]
    return [make_source(packets)]


def make_simulation(
    movement: str | MovementSpec, send: str | SenderSpec, link: str | LinkSpec | LinkConditions
) -> SimulationSpec:
    """Make the simulation of a described movement; raise ``ValueError``."""
    from epic_cli.network.link_spec import LinkSpec
    from epic_cli.network.movement_spec import MovementSpec
    from epic_cli.network.sender import SenderSpec
    from epic_cli.network.simulation import SimulationSpec

    return SimulationSpec(
        MovementSpec.from_description(movement),
        SenderSpec.from_description(send),
        LinkSpec.from_description(link),
    )


def make_participants(
    strategies: StrategyLike | Iterable[StrategyLike] | Mapping[str, StrategyLike],
) -> list[Participant]:
    """Return the participants with their labels; raise ``ValueError`` for wrong ones."""
    if isinstance(strategies, Mapping):
        return [_make_participant(one, label) for label, one in strategies.items()]
    if isinstance(strategies, (str, StrategySpec, SmoothingStrategy)) or callable(strategies):
        strategies = [strategies]
    found = [_make_participant(strategy) for strategy in strategies]
    if not found:
        return [*read_specs()]
    labels = [participant.label for participant in found]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ValueError(f"{twice} is given twice: use a mapping with a label for each")
    return found


def _make_participant(wanted: StrategyLike, label: str = "") -> Participant:
    if isinstance(wanted, (str, StrategySpec)):
        spec = read_spec(wanted) if isinstance(wanted, str) else wanted
        return spec._replace(label=label or spec.label)
    if isinstance(wanted, Strategy) and is_native(wanted):
        return _ObjectParticipant(label or repr(wanted), wanted.create_equal)
    if not isinstance(wanted, type) and isinstance(wanted, SmoothingStrategy):
        raise ValueError(
            f"{wanted!r} draws one entity once: give its class, or a function that makes it"
        )
    make = make_maker(wanted, {})
    return _ObjectParticipant(label or str(getattr(wanted, "__qualname__", wanted)), make)


def _make_report(found: Comparison) -> Report:
    """Make the report of a comparison, with a picture of the scores."""
    from epic_cli.jobs.compare.report import report, sort_results
    from epic_cli.show.report import Figure
    from epic_cli.show.svg import draw_scores_picture

    made, words = report(found), "Scores, with 95 % confidence"
    results = sort_results(found.results, "score")
    return replace(
        made, parts=[*made.parts, Figure(words, str, lambda _: draw_scores_picture(results))]
    )


register(Comparison, _make_report)
