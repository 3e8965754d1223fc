"""Tuning of strategies' settings, from Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from epic_cli.api.comparing import make_inputs, make_simulation, make_spec
from epic_cli.api.reading import StrictLog, WarningTally, raise_python_errors
from epic_cli.api.replaying import make_timing
from epic_cli.api.shown import register
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.tune.bytes_front import BytesFronts, BytesSpec, Limit, find_bytes
from epic_cli.jobs.tune.design import Design
from epic_cli.jobs.tune.design import design as composed
from epic_cli.jobs.tune.run import Tunings, open_workers, run
from epic_cli.jobs.tune.run import tune as tuned
from epic_cli.jobs.tune.spec import Division, TuneJob, TuneSpec
from epic_cli.metrics.inputs import RecordedRuns
from epic_cli.work.jobs import Workers

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from fractions import Fraction

    from epic_cli.engine.replay.playback import ClockName, PacingName
    from epic_cli.network.link import LinkConditions
    from epic_cli.network.link_spec import LinkSpec
    from epic_cli.network.movement_spec import MovementSpec
    from epic_cli.network.sender import SenderSpec
    from epic_cli.recordings.rows import PacketSource, Path
    from epic_cli.show.report import Report


@overload
def tune(
    packets: PacketSource | Sequence[Path] | None = None,
    strategies: str | Iterable[str] = (),
    *,
    design: Literal[True],
    **asked: Any,
) -> Design: ...
@overload
def tune(
    packets: PacketSource | Sequence[Path] | None = None,
    strategies: str | Iterable[str] = (),
    *,
    design: Literal[False] = False,
    **asked: Any,
) -> Tunings: ...
def tune(  # type: ignore[misc]
    packets: PacketSource | Sequence[Path] | None = None,
    strategies: str | Iterable[str] = (),
    *,
    figure: str = "score",
    validate: Division | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    journal: Path | None = None,
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
    design: bool = False,
    drawn: Path | None = None,
    drawn_offset: float = 0.0,
) -> Tunings | Design:
    """Search the settings of strategies for the best figure, as ``epic tune`` does.

    ``strategies`` are names, by default of all strategies; settings that a name gives
    (``"snapshot+clock=pll"``) are kept. The search covers the ranges that strategies declare as
    worth tuning. ``figure`` is the metric to optimize, by name. ``validate`` chooses the data to
    evaluate on: the second half of the ``"time"``, every other ``"recording"``, or ``"none"``; by
    default recordings if there are four or more. ``trials`` is the number of settings to try for
    each strategy, ``seconds`` the time of the whole search. A ``journal`` (a file) remembers
    trials: the same call continues an earlier one that was cut off. An ``executor`` of
    ``concurrent.futures`` (processes, a cluster) runs trials instead of ``threads`` here, with the
    same result. The other arguments are those of ``compare``.

    Return a frozen ``Tunings``. Each of its ``tunings`` has the ``settings`` that differ from the
    defaults, and their effect: ``tuned_on`` and ``evaluated_on`` have the ``default`` and the
    ``tuned`` result and the paired ``gain`` from ``low`` to ``high``; ``evaluation`` is the one
    that counts, and its ``kind`` tells whether it is clearly better. ``influences`` tell which
    settings matter and which stand at a bound; the ``front`` is smoothness against latency.
    ``comparison`` has all tuned strategies against each other, ``delays`` the delays that buffers
    need (None: there are no arrival times).

    With ``design``, strategies are composed of parts (of all by default), and the simplest
    composition is found that is as good as the best: a frozen ``Design``. Its ``taken`` is a row
    with the ``strategy`` (a name and ``settings``), its ``result`` on data that it was not tuned
    on, and its ``composition``; ``simplest`` are the best by complexity, each with its paired
    ``gain`` over the taken one. ``drawn`` (a file, at times of the receiver's clock minus
    ``drawn_offset`` (s)) is what the game draws now; the ``drawn`` row of the result, and
    ``causes``, are about it.

    Raise what ``compare`` does, and ``ValueError`` for a figure or a division that does not exist,
    and where the only strategy has no settings worth tuning.
    """
    timing = make_timing(tick, clock, pacing, latency)
    compare = make_spec(timing, weights, game, truth_offset, warm_up, seed, threads)
    names = [strategies] if isinstance(strategies, str) else list(strategies)
    named = read_specs(names) if names or not design else []
    how = TuneSpec(tuple(named), compare, figure, validate, trials, seconds)
    networks = None if movement is None else make_simulation(movement, send, link)
    given = make_inputs(packets, truth, networks, range(seed, seed + seeds))
    if drawn is not None:
        if not design or not isinstance(given, RecordedRuns):
            raise ValueError("drawn needs design=True and a recording")
        given = replace(given, drawn=os.fspath(drawn), drawn_offset=drawn_offset)
    kept = None if journal is None else os.fspath(journal)
    with raise_python_errors():
        workers = Workers(journal=kept, executor=executor)
        job = TuneJob(given, how, workers)
        seek: Callable[..., Tunings | Design] = composed if design else tuned
        return run(seek, job, StrictLog, WarningTally(only=False))


def tune_bytes(
    strategies: str | Iterable[str],
    movement: str | MovementSpec,
    *,
    send: str | SenderSpec = "",
    link: str | LinkSpec | LinkConditions = "",
    limit: str | None = None,
    figure: str = "score",
    tick: str | float | Fraction = "1/60",
    weights: Mapping[str, float] | None = None,
    game: str | None = None,
    seeds: int = 20,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
    journal: Path | None = None,
) -> BytesFronts:
    """Search the way to send a movement for a figure and few bytes, as ``epic tune --bytes``.

    Keys of a sender that ``send`` gives are kept. ``limit`` is the highest rate to send
    (``"5kB/s"``), or the worst value of a figure (``"error=0.05"``); None: the knee is chosen. The
    other arguments are those of ``tune``.

    Return a frozen ``BytesFronts``: of each strategy in ``found`` the ``front``, the ``chosen``
    sender, and the ``result`` of each on data that it was not tuned on.

    Raise what ``compare`` does, and ``ValueError`` for what is no limit.
    """
    timing = make_timing(tick, "exact", None, None)
    compare = make_spec(timing, weights, game, 0.0, None, seed, threads)
    named = read_specs([strategies] if isinstance(strategies, str) else strategies)
    with raise_python_errors():
        simulation = make_simulation(movement, send, link).open()
        most = None if limit is None else Limit.parse(limit)
        of = simulation, range(seed, seed + seeds), compare, figure, most
        workers = Workers(
            journal=None if journal is None else os.fspath(journal), executor=executor
        )
        with open_workers(workers, WarningTally(only=False)) as (elsewhere, kept):
            return find_bytes(BytesSpec(tuple(named), *of), executor=elsewhere, journal=kept)


def _defer_report(module: str) -> Callable[[Any], Report]:
    """Return a function that makes a result's report, and loads its module when called."""

    def report(found: Any) -> Report:
        made: Report = import_module(f"epic_cli.jobs.tune.{module}").report(found)
        return made

    return report


register(Tunings, _defer_report("report"))
register(Design, _defer_report("design_report"))
register(BytesFronts, _defer_report("bytes_report"))
