from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from endurance import bursty

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.compare.report import explain_method, write_verdict
from epic_cli.metrics import evaluation
from epic_cli.metrics.arrays import ARRIVAL, COLUMNS, SEQUENCE, TIME, make_packet_table
from epic_cli.metrics.certainty import (
    FEWEST_EVENTS,
    IN_A_ROW,
    TAIL,
    UNSEEN,
    NetworkEvents,
    add_network_events,
    count_network_events,
)
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, compare_run, evaluate, pool_runs, prepare


def table(
    lost: set[int], count: int = 600, rate: float = 20.0, numbered: bool = True
) -> np.ndarray:
    """Return packets with a little jitter, without the lost ones."""
    kept = np.array([k for k in range(count) if k not in lost], int)
    columns = np.full((COLUMNS, len(kept)), math.nan)
    jitter = np.random.default_rng(3).gamma(2.0, 0.002, count)[kept]
    columns[TIME], columns[ARRIVAL] = kept / rate, kept / rate + 0.04 + jitter
    if numbered:
        columns[SEQUENCE] = kept * 3 + 7  # others are numbered as well
    return columns


def found(columns: np.ndarray) -> NetworkEvents:
    return count_network_events(columns, -math.inf, math.inf)


@pytest.mark.parametrize("numbered", [True, False])
def test_bursts_are_counted(numbered: bool) -> None:
    lost = {50, 51, 120, 300, 301, 302, 303, 500}
    one = found(table(lost, numbered=numbered))
    assert (one.bursts, one.pairs, one.lost, one.sent) == (2, 4, 8, 600)
    assert one.linked
    assert one.events == 2
    assert one.few
    assert one.missed == pytest.approx(UNSEEN + TAIL / 2)


def test_losses_by_themselves_are_not_rare_events() -> None:
    one = found(table(set(range(10, 590, 40))))
    assert (one.bursts, one.events, one.few) == (0, 0, False)
    assert one.missed == UNSEEN
    # nor are two in a row among so many that some must be
    source = np.random.default_rng(5)
    assert not found(table(set(np.flatnonzero(source.random(600) < 0.2).tolist()))).linked


def test_odd_packets_do_no_harm() -> None:
    columns = np.concatenate((table({5, 6}), table({5, 6})), axis=1)  # everything comes twice
    assert (found(columns).lost, found(columns).bursts) == (2, 1)
    columns[ARRIVAL] = math.nan
    columns[TIME, 9] = math.inf
    assert found(columns).bursts == 1
    columns[TIME] = 1.0
    assert found(columns) == NetworkEvents()
    restarted = table(set())
    restarted[SEQUENCE, 300:] = 1e12
    assert found(restarted).sent < 2000


def test_half_a_minute_with_hardly_a_loss_says_nothing_of_bursts() -> None:
    assert found(table(set(), 600)).few
    assert found(table({77, 400}, 600)).few
    assert not found(table({77, 200, 400}, 600)).few
    assert not found(table(set(), 900)).few
    assert not add_network_events([found(table(set(), 600))] * 2).few
    local = table(set(), 600)
    local[ARRIVAL] = math.nan  # nothing was sent anywhere
    assert not found(local).few


def compared(network: str, seconds: float, *numbers: int) -> Comparison:
    spec = CompareSpec(
        read_specs(["snapshot", "dead-reckoning", "dumb-terminal"]), SCREEN_TIMING, threads=1
    )
    runs = [bursty.recorded("wander", network, seconds, number) for number in numbers]
    return pool_runs([(f"{n}", compare_run(run.run(), spec)) for n, run in enumerate(runs)], 0)


def test_of_a_few_bursts_no_more_is_said_than_they_show() -> None:
    one = compared("3 %, bursts of 8", 30.0, 1)
    assert one.certainty
    assert 0 < one.certainty.rare.events < FEWEST_EVENTS
    for result in one.results:
        low, high = result.interval("error")
        assert low <= result.value("error")
        assert math.isnan(high)
        low, high = result.interval("score")
        assert math.isnan(low)
        assert high >= result.value("score")
        gap = result.standing.gap
        assert gap is not None
        assert not gap.points or gap.low < gap.seen < gap.points < gap.high
    assert any("only" in line and "burst" in line for line in explain_method(one, one.results))


def test_a_simulated_loss_has_time_for_its_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    found, leave_out = [], evaluation._leave_out_packets

    def keep(entity: Any, *how: Any) -> Any:
        lossy = leave_out(entity, *how)
        stamps = make_packet_table(entity.packets)[TIME]
        lost = sorted({*stamps} - {*make_packet_table(lossy.entity.packets)[TIME]})
        begin, *_, end = entity.truth.times[entity.truth.counted]
        usual = np.median(np.diff(np.unique(stamps)))
        found.append(((lost[0] - begin) / usual, (end - lost[-1]) / usual))
        return lossy

    monkeypatch.setattr(evaluation, "_leave_out_packets", keep)
    for seconds in (30.0, 30.3):  # at the second, one more loss would just have room
        compared("3 %, bursts of 8", seconds, 1)
    assert min(map(min, found)) > 14  # packets


def quiet(movement: str, seed: int) -> bursty.Recorded:
    """Return twenty seconds of packets without a loss."""
    link = bursty.Network(lambda count, _: np.zeros(count, bool))
    return bursty.sent_over(link, movement, 20.0, np.random.default_rng(seed))


def without(calm: bursty.Recorded, begins: np.ndarray, size: int) -> bursty.Recorded:
    """Return the recording without ``size`` packets from each of these indices on."""
    gone = (begins[:, None] + np.arange(size)).ravel()
    left = ~np.isin(calm.numbers, gone)
    return calm._replace(numbers=calm.numbers[left], arrivals=calm.arrivals[left])


@pytest.mark.parametrize("movement", ["stop and go", "wander", "circle"])
def test_who_is_called_best_though_nothing_was_lost_leads_where_some_is(movement: str) -> None:
    source, told = np.random.default_rng(4), 0
    for names in (["epic", "snapshot"], ["lerp", "dead-reckoning"], ["lerp", "mirror", "hermite"]):
        spec = CompareSpec(read_specs(names), SCREEN_TIMING, threads=1)
        calm = quiet(movement, 3)
        one = pool_runs([("", compare_run(calm.run(), spec))], 0)
        assert all(math.isnan(result.interval("error")[1]) for result in one.results)
        scores = [result.value("score") for result in one.results]
        best = int(np.argmax(scores))
        if [result.rank for result in one.results].count(1) > 1:
            assert any("none lost, but only" in line for line in write_verdict(one))
            continue
        told += 1
        for size in IN_A_ROW:
            begins = source.choice(np.arange(30, 360, 12), round(8 / size), replace=False)
            lossy = prepare(without(calm, begins, size).run(), spec)
            seen = [evaluate(lossy, who, spec.weights).value("score") for who in spec.participants]
            assert int(np.argmax(seen)) == best, (names, size, scores, seen)
    assert told


def test_who_leads_only_because_nothing_was_lost_is_not_called_best() -> None:
    # a buffer with room for no loss, and what has no buffer
    spec = CompareSpec(read_specs(["epic", "snapshot"]), SCREEN_TIMING, threads=1)
    one = pool_runs([("", compare_run(quiet("stop and go", 1).run(), spec))], 0)
    behind, ahead = one.results
    assert ahead.value("score") > behind.value("score") + 5
    assert [ahead.rank, behind.rank] == [1, 1]
    assert behind.standing.gap is not None
    assert behind.standing.gap.seen > 0 > behind.standing.gap.low
    assert any("or one recording with losses" in line for line in write_verdict(one))
    # what a simulated link does is known
    known = compare_run(quiet("stop and go", 1).run(), replace(spec, runs_are="networks"))
    assert [result.rank for result in pool_runs([("", known)], 0).results] == [2, 1]


def test_with_few_changes_of_the_way_a_figure_is_that_of_any_part_at_its_best() -> None:
    steady = bursty.recorded("wander", "1 % independent", 60.0, 1)
    later = np.where((steady.numbers > 400) & (steady.numbers < 800), 0.12, 0.0)
    moved = steady._replace(arrivals=steady.arrivals + later)
    spec = CompareSpec(read_specs(["snapshot", "source"]), SCREEN_TIMING, threads=1)
    before, after = (pool_runs([("", compare_run(row.run(), spec))], 0) for row in (steady, moved))
    assert after.certainty
    assert after.certainty.rare.changes == 2
    for one, other in zip(before.results, after.results, strict=True):
        low, high = other.interval("residual")
        assert math.isnan(high)
        assert max(low, one.value("residual")) < other.value("residual") / 4
        assert other.interval("score")[1] >= one.value("score") - 2


def test_where_the_delay_wanders_slowly_a_short_recording_says_how_little_it_knows() -> None:
    """The program ``endurance.coverage`` asks whether its intervals hold."""
    spec = CompareSpec(read_specs(["lerp", "projective"]), SCREEN_TIMING, threads=1)
    network = "latency wanders in 4 s"
    runs = [bursty.recorded("stop and go", network, 20.0, number).run() for number in range(5)]
    every = [pool_runs([("", compare_run(run, spec))], 0) for run in runs]
    steady = compared("1 % independent", 30.0, 1)
    wanders = [
        any("The delay wanders" in line for line in explain_method(one, one.results))
        for one in (*every, steady)
    ]
    assert wanders.count(True) >= 4
    assert not wanders[-1]
