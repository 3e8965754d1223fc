"""Every strategy over one recording: traced in parallel, measured against the truth."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.figures import Figures, Measurement, measure, pool
from epic_cli.analysis.reference import Reference, default_warm_up, refer
from epic_cli.analysis.scene import Drawn, Scene, Selection, drawn, scene
from epic_cli.analysis.score import Weights, score
from epic_cli.analysis.truth import NotEnoughToSay, Truth, truth_of
from epic_cli.engine.replay.trace import TooManyRows, Trace
from epic_cli.engine.strategy import Strategy

if TYPE_CHECKING:
    from epic_cli.analysis.contenders import Contender
    from epic_cli.analysis.truth import Floats
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.pacing import Pacing
    from epic_cli.playback import Timing

#: Called with how many of how many traces are done.
Progress = Callable[[int, int], None]


class Result(NamedTuple):
    """One line of the table; ``entity`` None: all of them together.

    Without figures, and where the score is NaN, ``note`` says why.
    """

    label: str
    entity: str | None
    figures: Figures | None
    score: float
    note: str = ""


@dataclass
class Comparison:
    """What came out.

    ``results`` are by strategy, ``by_entity`` by strategy and entity. ``truth`` says which truth
    it was, ``notes`` what was cut out of it, and what cannot be judged. ``refused`` are packets
    that have no place on the clock. ``rows`` is how many rows count.
    ``tick`` and ``warm_up`` are in seconds.
    """

    weights: Weights
    tick: float
    warm_up: float
    rows: int = 0
    truth: str = ""
    notes: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    by_entity: list[Result] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Picked(NamedTuple):
    """An entity that can be judged."""

    name: str
    packets: PacketBlock
    reference: Reference


class _Outcome(NamedTuple):
    measurement: Measurement | None
    drawn: Drawn | None
    note: str


def compare(
    packets: Mapping[str, PacketBlock],
    contenders: Sequence[Contender],
    timing: Timing,
    truths: Mapping[str, Truth] | None = None,
    *,
    weights: Weights | None = None,
    offset: float = 0.0,
    warm_up: float | None = None,
    selection: Selection | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs every contender over the packets of every entity and measures what it draws.

    ``packets`` are an entity's packets by its name, as ``trace.separate`` makes them. Without
    ``truths`` the truth is rebuilt from them; ``offset`` (seconds: the receiver's clock less the
    sender's) is then added to their stamps. ``warm_up`` is in seconds, see ``refer``. With a
    ``selection`` of rows, scenes for pictures are kept. ``threads`` is as many as there are cores
    unless given; an interruption (``KeyboardInterrupt``) waits for them to stop.

    Raises ``NotEnoughToSay`` where no entity can be judged, ``TooManyRows``. What a strategy
    written in Python raises becomes its note.
    """
    weights = weights or Weights()
    tick = timing.tick[0] / timing.tick[1]
    arrivals = bool(packets) and next(iter(packets.values())).begins_with_arrival()
    result = Comparison(weights, tick, 0.0)

    def pacing() -> Pacing:
        return timing.resolve(arrivals)

    picked = _pick(packets, truths, offset, pacing, warm_up, result)
    jobs = [(contender, one) for contender in contenders for one in picked]
    outcomes = _run(jobs, pacing, selection, threads or os.cpu_count() or 1, progress)
    for index, contender in enumerate(contenders):
        mine = outcomes[index * len(picked) : (index + 1) * len(picked)]
        result.results.append(_judge(contender.label, None, mine, weights))
        result.by_entity += [
            _judge(contender.label, one.name, [outcome], weights)
            for one, outcome in zip(picked, mine, strict=True)
        ]
    if selection is not None:
        for place, one in enumerate(picked):
            shown = [each.drawn for each in outcomes[place :: len(picked)] if each.drawn]
            result.scenes.append(
                scene(one.name, one.packets, offset, one.reference, selection, shown)
            )
    return result


def _pick(
    packets: Mapping[str, PacketBlock],
    truths: Mapping[str, Truth] | None,
    offset: float,
    pacing: Callable[[], Pacing],
    warm_up: float | None,
    result: Comparison,
) -> list[Picked]:
    """The entities that can be judged, each with the truth at its ticks."""
    known: dict[str, Truth] = {}
    for name, block in packets.items():
        try:
            known[name] = _truth_for(name, block, packets, truths, offset)
        except NotEnoughToSay as error:
            result.notes.append(f"{called(name)}not judged: {error}")
    if known:
        longest = max(known.values(), key=lambda truth: truth.duration)
        result.warm_up = default_warm_up(longest) if warm_up is None else warm_up
    picked: list[Picked] = []
    for name, truth in known.items():
        # the ticks, which are the same for all: a strategy that takes and draws nothing has them
        silent = Trace(Strategy, pacing(), packets[name])
        result.refused += silent.refusals
        times = np.ascontiguousarray(np.asarray(silent)["time"])
        reference = refer(truth, times, result.tick, result.warm_up)
        if reference.counted.any():
            picked.append(Picked(name, packets[name], reference))
            result.rows += int(reference.counted.sum())
            result.notes += [f"{called(name)}{note}" for note in truth.notes]
        else:
            why = _why_nothing(times, truth, result.warm_up)
            result.notes.append(f"{called(name)}not judged: {why}")
    if not picked:
        reasons = [note.replace("not judged: ", "", 1) for note in result.notes]
        raise NotEnoughToSay("; ".join(reasons) or "there are no packets")
    given = next(iter(known.values())).origin == "given"
    result.truth = (
        "given"
        if given
        else "rebuilt with hindsight from the packets themselves: cubic Hermite through"
        " positions and velocities"
    )
    return picked


def _truth_for(
    name: str,
    block: PacketBlock,
    packets: Mapping[str, PacketBlock],
    truths: Mapping[str, Truth] | None,
    offset: float,
) -> Truth:
    if truths is None:
        return truth_of(block, offset=offset)
    if name in truths:
        return truths[name]
    if len(truths) == len(packets) == 1:
        return next(iter(truths.values()))  # only one can be meant, whatever it is called
    there = ", ".join(list(filter(None, truths))[:5])
    which = f"whose entities are {there}" if there else "which names no entity"
    raise NotEnoughToSay(f"it is not in the truth, {which}")


def _why_nothing(times: Floats, truth: Truth, warm_up: float) -> str:
    if not len(times):
        return "no packet has a place on the clock"
    rows = f"its rows go from {times[0]:.3f} to {times[-1]:.3f} s"
    if times[-1] < truth.start or times[0] > truth.end:
        return f"{rows}, the truth from {truth.start:.3f} to {truth.end:.3f} s: they do not overlap"
    return (
        f"{rows}, and none of them is {warm_up:g} s or more into an unbroken movement of the truth"
        f" ({truth.start:.3f} to {truth.end:.3f} s)"
    )


def called(name: str) -> str:
    """What a message about an entity begins with."""
    return f"{name}: " if name else ""


def _run(
    jobs: Sequence[tuple[Contender, Picked]],
    pacing: Callable[[], Pacing],
    selection: Selection | None,
    threads: int,
    progress: Progress | None,
) -> list[_Outcome]:
    """The outcomes of all jobs, in their order."""
    stop = threading.Event()

    def work(contender: Contender, one: Picked) -> _Outcome:
        try:
            trace = Trace(contender.make, pacing(), one.packets, stopped=stop.is_set)
        except (MemoryError, TooManyRows):
            raise
        except Exception as error:  # a strategy of somebody's may raise anything
            return _Outcome(None, None, f"it raised {type(error).__name__}: {error}")
        rows = np.asarray(trace)
        if stop.is_set() or len(rows) != len(one.reference.times):
            return _Outcome(None, None, "stopped")
        picture = drawn(contender.label, rows, one.reference, selection) if selection else None
        return _Outcome(measure(rows, one.reference), picture, "")

    with ThreadPoolExecutor(threads, "compare") as executor:
        futures = [executor.submit(work, *job) for job in jobs]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress is not None:
                    progress(done, len(futures))
        except BaseException:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _judge(
    label: str, entity: str | None, outcomes: Sequence[_Outcome], weights: Weights
) -> Result:
    failed = next((one.note for one in outcomes if one.measurement is None), None)
    if failed is not None:
        return Result(label, entity, None, math.nan, failed)
    measurements = [one.measurement for one in outcomes if one.measurement is not None]
    broken = sum(one.broken for one in measurements)
    if broken:
        note = f"it draws numbers that are not finite in {broken} of the rows that count"
        return Result(label, entity, None, math.nan, note)
    figures = pool(measurements)
    if figures is None:
        return Result(label, entity, None, math.nan, "it draws nothing in the rows that count")
    note = ""
    if not figures.speed > 0:
        note = "no score and no lag: the truth does not move"
    elif math.isnan(figures.lag):
        note = "no score: the lag cannot be told, no shift in time is better than the others"
    return Result(label, entity, figures, score(figures, weights), note)
