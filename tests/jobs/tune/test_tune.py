"""Tuning as a whole: known optima, honest evaluations, and nothing worse than the defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from support.recordings import few_of

from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.engine.strategies import list_names
from epic_cli.jobs.tune.report import describe_division, write_verdict
from epic_cli.jobs.tune.run import (
    GainKind,
    NothingToTune,
    Tunings,
    compute_roughness,
    find_worse,
    tune,
)
from epic_cli.jobs.tune.spec import Division, TuneSpec
from epic_cli.jobs.tune.trials import divide, make_evaluation_set, split_halves
from epic_cli.metrics.evaluation import CompareSpec, Run, group_by_entity, iterate_simulated_runs
from epic_cli.metrics.metric import Weights
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement import PathMovement
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import SimulationSpec, simulate

TERMS = CompareSpec((), SCREEN_TIMING, threads=1)


def sent(seconds: float = 12.0, seed: int = 1, jitter: float = 0.03, loss: float = 0.02) -> Run:
    link = LinkConditions(latency=0.08, jitter=jitter, loss=loss, distribution="uniform")
    movement = PathMovement(PATHS["figure-eight"](5.0, 5.0, seed))
    packets = simulate(movement, send_rate=20, duration=seconds, channel=Link(link, seed=seed))
    return Run(f"seed {seed}", group_by_entity(packets))


SHORT = sent()

STRAFE = next(
    iterate_simulated_runs(
        SimulationSpec(
            MovementSpec.parse("strafe,duration=20"),
            SenderSpec(20.0),
            LinkSpec.parse("latency=60ms,jitter=10ms"),
        ).open(),
        [2],
    )
)._replace(truths=None)


def tuned(
    *wanted: str,
    runs: tuple[Run, ...] = (SHORT,),
    figure: str = "score",
    by: Division | None = "time",
    trials: int | None = 30,
    threads: int = 1,
) -> Tunings:
    terms = replace(TERMS, threads=threads)
    return tune(TuneSpec(tuple(read_specs(wanted)), terms, figure, by, trials), runs)


def delay(settings: Mapping[str, Value]) -> float:
    return float(settings["interpolation_time"])


def test_the_least_delay_that_never_holds_is_the_longest_wait() -> None:
    run = sent(jitter=0.02, loss=0.0)  # too little for one packet to overtake another
    given = "snapshot+clock=stamps+decay=0.9+gain=0.01+limit=0.0001"
    found = tuned(given, runs=(run,), figure="held", by="none", trials=None)
    packets = [run.packets[""][index] for index in range(len(run.packets[""]))]
    counted = [packet for packet in packets if packet.time > 1.2]  # the warm-up does not count
    waits = [
        later.arrival - earlier.time
        for earlier, later in pairwise(counted)
        if later.arrival is not None
    ]
    # rows are 17 ms apart: what is missed between two of them is not seen
    assert max(waits) - 0.02 <= delay(found.tunings[0].settings) <= max(waits) + 0.003


@pytest.mark.parametrize(
    "strategy", few_of(sorted({*list_names()} - {"dumb-terminal", "tick-interpolation"})[::-1], 9)
)
def test_no_strategy_is_worse_on_its_own_data_than_by_default(strategy: str) -> None:
    (found,) = tuned(strategy, runs=(sent(4.0),), by="none", trials=12).tunings
    default, best = (result.value("score") for result in found.tuned_on[:2])
    assert best >= default or math.isnan(default)
    assert found.evaluated_on is None
    assert all(influence.loss >= -0.06 for influence in found.influences)


def test_what_is_judged_was_not_tuned_on() -> None:
    whole = sent(20.0)
    first, second = split_halves(whole, TERMS)
    middle = second.find_span()[0]
    assert first.find_span()[1] < middle + 0.2
    # the first part is what a recording would be that had ended there
    block = whole.packets[""]
    came = [(block[index].arrival or 0.0) < middle - 0.1 for index in range(len(block))]
    assert len(first.prepared[0].entities.judged[0].packets) == pytest.approx(sum(came), abs=8)
    # and all rows of the second part are judged as in the whole recording
    whole_rows = make_evaluation_set([whole], TERMS).prepared[0].entities.rows
    assert second.prepared[0].entities.rows == pytest.approx(whole_rows / 2, rel=0.1)


@pytest.mark.parametrize(("count", "of"), [(1, " of seed 0"), (2, " of each of 2 recordings")])
def test_what_was_divided_is_said(count: int, of: str) -> None:
    divided = divide([sent(4.0, seed) for seed in range(count)], TERMS, "time")
    assert describe_division(divided).startswith(f"Tuned on the first half{of} (")


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (0.1, 2.0, GainKind.BETTER),
        (-0.1, 2.0, GainKind.NO_BETTER),
        (-2.0, -0.1, GainKind.WORSE),
        (math.nan, math.nan, GainKind.UNSURE),
    ],
)
def test_a_gain_whose_interval_has_zero_in_it_is_none(
    low: float, high: float, kind: GainKind
) -> None:
    found = tuned("hermite", trials=5).tunings[0].tuned_on
    assert found._replace(gain=0.9 * (low + high) / 2, low=low, high=high).kind is kind
    # nobody is offered settings that came out worse, however unsure that is
    for gain in (-1.0, 1.0):
        kept = found._replace(gain=gain, low=low, high=high).keeps
        assert kept is (gain < 0 or kind in (GainKind.NO_BETTER, GainKind.WORSE))


def test_a_gain_is_told_with_both_figures_and_a_paired_interval() -> None:
    found = tuned("hermite", runs=(sent(30.0),), trials=60)
    evaluation = found.tunings[0].evaluation
    assert evaluation.kind is GainKind.BETTER
    assert 0 < evaluation.low <= evaluation.gain <= evaluation.high
    gain = evaluation.tuned.value("score") - evaluation.default.value("score")
    assert evaluation.gain == pytest.approx(gain)
    # paired: surer than two intervals side by side
    (low, high), (worst, best) = (result.interval("score") for result in evaluation[:2])
    assert evaluation.high - evaluation.low < (high - low) + (best - worst)


def test_nothing_on_the_front_is_beaten_by_anything_that_was_judged() -> None:
    found = tuned("hermite", by="none").tunings[0]
    points = found.front
    assert len(points) > 2
    assert [point.latency for point in points] == sorted(point.latency for point in points)
    assert [point.roughness for point in points] == sorted(
        (point.roughness for point in points), reverse=True
    )
    for result in found.tuned_on[:2]:
        lag, rough = abs(result.value("lag")), compute_roughness(result.values, Weights())
        assert not any(lag < row.latency - 0.001 and rough < 0.98 * row.roughness for row in points)


def test_a_strategy_without_settings_is_refused_alone_and_taken_along_with_others() -> None:
    with pytest.raises(NothingToTune, match="dumb-terminal has no setting to tune"):
        tuned("dumb-terminal")
    with pytest.raises(NothingToTune, match="lerp_time is given"):
        tuned("lerp+lerp_time=0.1")
    found = tuned("dumb-terminal", "lerp")
    assert found.untuned == ("dumb-terminal",)
    assert [tuning.strategy for tuning in found.tunings] == ["dumb-terminal", "lerp"]
    assert found.tunings[0].evaluation.kind is GainKind.SAME


def test_points_of_the_front_keep_what_is_given_though_it_changes_nothing() -> None:
    (found,) = tuned("hermite+small_error=0.3").tunings  # only adaptive smoothing has small errors
    assert found.front
    assert {point.settings["small_error"] for point in found.front} == {0.3}


def test_an_interruption_gives_the_best_so_far() -> None:
    seen = 0

    def interrupt(_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == 25:
            raise KeyboardInterrupt

    spec = TuneSpec(tuple(read_specs(["hermite", "lerp"])), TERMS, division="time")
    found = tune(spec, (SHORT,), progress=interrupt)
    (one,) = found.tunings
    assert found.interrupted
    assert one.strategy == "hermite"
    assert 1 <= one.trials <= 25  # those of a generation that was interrupted do not count
    assert one.tuned_on.tuned.value("score") >= one.tuned_on.default.value("score")


@pytest.mark.parametrize(
    "strategy", few_of(["projective", "mirror", "epic", "dead-reckoning", "unity-ngo"], 2)
)
def test_what_tuning_makes_worse_is_named_and_what_makes_nothing_worse_beside_it(
    strategy: str,
) -> None:
    run = sent(16.0, jitter=0.01, loss=0.0)
    found = tuned(strategy, runs=(run,), trials=40)
    (one,) = found.tunings
    before, after = one.evaluation.default, one.evaluation.tuned
    for name in ("error", "lag", "residual", "jumps", "jerk", "backward", "held"):
        was, now = abs(before.value(name)), abs(after.value(name))
        if now > 1.1 * was and now - was > 1:
            assert name in one.worse
        if now <= was:
            assert name not in one.worse
        if one.harmless is not None:
            best = one.harmless.evaluation
            assert abs(best.tuned.value(name)) <= 1.05 * abs(best.default.value(name)) + 0.5
            assert best.gain > 0
    sentences = " ".join(write_verdict(found))
    words = {"backward": "steps back", "held": "rows that stand still"}
    named = [name for name in one.worse if f"{words.get(name, name)} from " in sentences]
    assert one.evaluation.keeps or named == list(one.worse)
    assert (one.harmless is not None) <= ("raise none of the metrics, set" in sentences)


def test_jumps_that_tuning_for_the_score_adds_are_named() -> None:
    found = tuned("projective", runs=(STRAFE,), trials=40)
    (one,) = found.tunings
    assert "jumps" in one.worse
    assert one.harmless is not None
    assert not set(one.worse) & set(
        find_worse(one.harmless.evaluation.default.values, one.harmless.evaluation.tuned.values)
    )
    assert "jumps from 0 to" in write_verdict(found)[0]
