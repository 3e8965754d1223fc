"""Tests of wrong conclusions that comparisons once drew, case by case."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from endurance import bursty
from support import movements
from support.arrival_oracle import arrival_of
from support.comparisons import EVERYTHING, compared
from support.recordings import seeds

from epic_cli import Packet, Sample, Status
from epic_cli.engine.replay.playback import SCREEN_TIMING, Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.compare.report import find_notes, make_metric_columns, write_verdict
from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.metrics import find_metric
from epic_cli.metrics.comparison import (
    Comparison,
    Confidence,
    Result,
    derive_advice,
    find_best_games,
)
from epic_cli.metrics.evaluation import CompareSpec, compare_run, pool_runs
from epic_cli.metrics.metric import Weights
from epic_cli.metrics.notes import Adjusted, Bridged, Cut, CutOut, Flaw, Outages, TickHides
from epic_cli.metrics.traffic import make_traffic
from epic_cli.metrics.truth import build_truth, make_truth
from epic_cli.metrics.turns import measure_angles

Place = tuple[float, float, float]
Statuses = Callable[[float], Status]


def always(_: float) -> Status:
    return "interpolated"


class Drawing(movements.Heedless):
    """A strategy that draws a function of time."""

    def __init__(self, movement: movements.Movement, status: Statuses) -> None:
        self.movement, self.status = movement, status

    def read(self, at: float) -> Sample:
        return Sample(at, self.movement(at), (0.0, 0.0, 0.0), self.status(at))


class Drawn:
    """A participant with one movement to draw for each entity, in order."""

    def __init__(self, label: str, *movements: movements.Movement, status: Statuses = always):
        self.label, self.movements, self.status, self.made = label, movements, status, 0

    def make(self) -> Drawing:
        self.made += 1
        return Drawing(self.movements[(self.made - 1) % len(self.movements)], self.status)


def judged(
    packets: dict[str, list[Packet]] | list[Packet],
    *taking_part: Drawn | StrategySpec,
    truth: list[Packet] | None = None,
    timing: Timing = SCREEN_TIMING,
    **given: Any,
) -> Comparison:
    recorded = packets if isinstance(packets, dict) else {"": packets}
    blocks = {name: movements.block(items) for name, items in recorded.items()}
    truths = None if truth is None else {"": make_truth(movements.block(truth), "given")}
    return compared(blocks, taking_part, timing, truths, threads=1, **given)


def late(movement: movements.Movement, seconds: float) -> movements.Movement:
    return lambda t: movement(t - seconds)


def named(comparison: Comparison, label: str) -> Result:
    (found,) = (result for result in comparison.results if result.label == label)
    return found


def flaws(result: Result) -> set[Flaw]:
    return {note.flaw for note in result.notes}


STRAIGHT, CIRCLE = movements.packets(movements.straight), movements.packets(movements.circle)


def test_an_entity_that_never_moves_does_not_drop_out() -> None:
    two = {name: movements.packets(movements.straight, entity=name) for name in "ab"}
    found = judged(
        two,
        Drawn("half", movements.straight, lambda _: (0.0, 3.0, 1.0)),
        Drawn("late", late(movements.straight, 0.1)),
    )
    half, other = found.results
    errors = [result.value("error") for result in found.by_entity if result.label == "half"]
    assert max(errors) > 40
    assert half.value("residual") == pytest.approx(max(errors) / math.sqrt(2), rel=1e-6)
    assert half.value("score") < 10 < other.value("score")
    assert Flaw.LAG_UNKNOWN in flaws(half)
    assert half.value("latency_cost") == pytest.approx(25)  # half of 50, the most


def test_one_entitys_haste_does_not_make_up_for_anothers_lag() -> None:
    two = {name: movements.packets(movements.straight, entity=name) for name in "ab"}
    mixed = judged(
        two, Drawn("", late(movements.straight, 0.2), late(movements.straight, -0.2))
    ).results[0]
    assert mixed.value("lag") == pytest.approx(0, abs=0.01)
    assert mixed.value("latency_cost") == pytest.approx(2)


def test_drawing_nothing_is_not_free() -> None:
    def sometimes(at: float) -> Status:
        return "none" if at % 1 < 0.63 else "interpolated"

    delayed = movements.packets(movements.circle, latency=0.1)
    found = judged(
        delayed,
        Drawn("sometimes", movements.circle, status=sometimes),
        *read_specs(["dumb-terminal"]),
    )
    shy, held = found.results
    assert shy.value("none") == pytest.approx(0.63, abs=0.02)
    assert Flaw.UNDRAWN in flaws(shy)
    assert shy.value("rows") == held.value("rows")
    # in the rows that are not drawn, the error is that of holding
    assert shy.value("error_max") == pytest.approx(held.value("error_max"), rel=1e-6)
    squares = shy.value("error") ** 2 / held.value("error") ** 2
    assert squares == pytest.approx(0.63, abs=0.03)
    assert shy.value("jumps") > 0


def test_a_screen_shows_what_a_slow_tick_hides() -> None:
    delayed = movements.packets(movements.circle, latency=0.08)
    both = read_specs(["dumb-terminal", "snapshot"])
    slow = judged(delayed, *both, timing=Timing())
    (hides,) = (note for note in slow.notes if isinstance(note, TickHides))
    assert hides.tick == 0.05
    assert hides.interval == pytest.approx(0.05)
    held, buffer = slow.results
    assert held.value("score") > buffer.value("score")  # which is why it must be said
    fast = judged(delayed, *both)
    assert not [note for note in fast.notes if isinstance(note, TickHides)]
    held, buffer = fast.results
    assert held.value("score") < buffer.value("score")


def test_shares_are_of_the_rows_that_count() -> None:
    packets = [packet for packet in CIRCLE if not 3 < packet.time < 7]
    (held,) = judged(packets, *read_specs(["spline"])).results
    assert held.value("held") < 0.05  # of all rows, it is held in more than a third
    comparison = judged(packets, *read_specs(["spline"]))
    assert comparison.rows == held.value("rows") < 0.6 * comparison.all_rows


def test_an_outage_of_the_network_is_judged_where_the_truth_is_known() -> None:
    truth = movements.packets(movements.circle, 20.0, 100.0)
    sent = movements.packets(movements.circle, 20.0)
    lost = [packet for packet in sent if not 8 < packet.time < 11]
    both = read_specs(["dumb-terminal"])
    whole, broken = judged(sent, *both, truth=truth), judged(lost, *both, truth=truth)
    assert broken.rows == whole.rows
    held = broken.results[0]
    assert held.value("error_max") == pytest.approx(10, rel=0.02)  # across the circle
    (outage,) = (note for note in broken.notes if isinstance(note, Outages))
    assert outage.count == 1
    assert outage.seconds == pytest.approx(3.0)
    assert outage.judged
    assert held.value("outages") == 1
    assert not [note for note in whole.notes if isinstance(note, Outages)]
    # without it, the worst is not seen: that is said
    rebuilt = judged(lost, *both)
    assert rebuilt.results[0].value("error_max") < 0.6
    (outage,) = (note for note in rebuilt.notes if isinstance(note, Outages))
    assert not outage.judged


def test_what_a_rebuilt_truth_bridges_is_told() -> None:
    lossy = [one for k, one in enumerate(CIRCLE) if k not in (50, 51, 52, 90)]
    (note,) = (
        remark.what
        for remark in judged(lossy, Drawn("", movements.circle)).notes
        if isinstance(remark, Adjusted) and isinstance(remark.what, Bridged)
    )
    assert note.count == 2
    assert note.seconds == pytest.approx(0.3)
    given = judged(lossy, Drawn("", movements.circle), truth=CIRCLE).notes
    assert not [given_value for given_value in given if isinstance(given_value, Adjusted)]


def test_resting_is_no_outage() -> None:
    def resting(t: float) -> Place:
        return min(t, 4.0) + max(t - 8.0, 0.0), 0.0, 0.0

    packets = [packet for packet in movements.packets(resting) if not 4.2 < packet.time < 7.8]
    found = judged(packets, Drawn("", resting))
    assert not [note for note in found.notes if isinstance(note, Outages)]


def walked(seed: int) -> tuple[Callable[[float], Place], list[float]]:
    """Return a walk with rests, and the end time of each of its parts."""
    random = np.random.default_rng(seed)
    ends = np.cumsum(np.repeat([0.6, 1.0], 8) + random.uniform(0, 2.5, 16)).tolist()
    ways = random.normal(size=(16, 3)) * 4
    ways[1::2] = 0

    def walk(t: float) -> Place:
        place, begin = np.zeros(3), 0.0
        for way, end in zip(ways, ends, strict=True):
            place = place + way * (min(max(t, begin), end) - begin)
            begin = end
        x, y, z = place.tolist()
        return x, y, z

    return walk, ends


@pytest.mark.parametrize("how", ["numbered", "without numbers", "without velocities", "turning"])
@pytest.mark.parametrize("seed", seeds(3, 1))
def test_what_is_sent_on_change_rests_and_its_starts_are_judged(seed: int, how: str) -> None:
    walk, ends = walked(seed)
    every = movements.packets(walk, ends[-2], latency=0.08)
    if how == "turning":
        halves = [packet.position[0] for packet in every]
        turns = [(0.0, 0.0, math.sin(half), math.cos(half)) for half in halves]
        every = [one._replace(rotation=turn) for one, turn in zip(every, turns, strict=True)]
    sent = [every[0]]
    for before, packet in pairwise(every):
        if packet.position != before.position or packet.velocity != before.velocity:
            velocity = None if how == "without velocities" else packet.velocity
            number = None if how == "without numbers" else len(sent)
            sent.append(packet._replace(velocity=velocity, sequence=number))
    strategies = read_specs(["lerp", "snapshot", "hermite"])
    comparison, against = judged(sent, *strategies), judged(sent, *strategies, truth=every)
    assert comparison.rows > 0.97 * comparison.all_rows - 60
    for found in (comparison, against):
        assert not [note for note in found.notes if isinstance(note, Outages)]
    for one, other in zip(comparison.results, against.results, strict=True):
        assert math.isnan(one.value("after_outage"))
        for name in ("score", "error", "lag", "residual"):
            assert one.value(name) == pytest.approx(other.value(name), rel=0.05, abs=0.05), name
    truth = make_truth(movements.block(sent))
    times = np.arange(ends[0], sent[-1].time, 1 / 60)
    np.testing.assert_allclose(
        truth.interpolate(times).positions, [walk(t) for t in times], atol=0.15
    )
    if truth.turns is not None:
        half = np.array([walk(t)[0] for t in times])
        true = np.stack((0 * half, 0 * half, np.sin(half), np.cos(half)), axis=1)
        assert measure_angles(truth.turns.interpolate(times), true).max() < 20
    network = diagnose(make_traffic({"": movements.block(sent)})).network
    assert network is not None
    assert max(network.needed) < 0.06


def teleporting(t: float) -> Place:
    """Return a movement that teleports ten units aside at 5 s."""
    return t, 10.0 if t >= 5 else 0.0, 0.0


def slid(t: float) -> Place:
    return t, 10 * min(max(t - 5, 0.0), 1.0), 0.0


@pytest.mark.parametrize("marked", [True, False])
def test_sliding_over_a_teleport_costs(marked: bool) -> None:
    sent = movements.packets(teleporting)
    sent = [
        one._replace(velocity=(1.0, 0.0, 0.0), teleport=marked and k == 100)
        for k, one in enumerate(sent)
    ]
    found = judged(
        sent,
        Drawn("slides", slid),
        Drawn("snaps", teleporting),
        Drawn("late", late(teleporting, 0.2)),
        Drawn("old", lambda t: (t, 0.0 if t < 7 else 10.0, 0.0)),
    )
    slides, snaps, behind, old = found.results
    for result in found.results:
        assert result.value("teleports") == 1
    # within a tenth of a second of movement, 0.1 units, of the new place
    assert slides.value("after_teleport") == pytest.approx(0.99, abs=0.02)
    assert snaps.value("after_teleport") == 0
    assert behind.value("after_teleport") == pytest.approx(0, abs=0.02)  # its lag is its lag
    assert old.value("after_teleport") == pytest.approx(2, abs=0.02)
    assert [result.value("smeared") for result in found.results] == [1, 0, 0, 0]
    assert slides.value("score") < snaps.value("score") - 3
    assert slides.value("recovery_cost") > 0.5
    assert snaps.value("recovery_cost") == 0
    assert math.isnan(judged(CIRCLE, Drawn("", movements.circle)).results[0].value("recovery_cost"))


def test_recovery_after_an_outage() -> None:
    truth = movements.packets(movements.circle, 20.0, 100.0)
    sent = [
        packet for packet in movements.packets(movements.circle, 20.0) if not 8 < packet.time < 10
    ]

    def wrong(until: float) -> movements.Movement:
        return lambda t: (*movements.circle(t)[:2], 3.0 if 9 < t < until else 0.0)

    found = judged(sent, Drawn("soon", wrong(10.0)), Drawn("late", wrong(10.5)), truth=truth)
    assert found.results[0].value("after_outage") == pytest.approx(0, abs=0.02)
    assert found.results[1].value("after_outage") == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("movement", bursty.MOVEMENTS)
def test_an_outage_never_raises_a_score(movement: str, given: bool) -> None:
    # none of these draws otherwise after an outage than before it: they adapt to nothing
    steady = read_specs(["epic", "dumb-terminal", "lerp", "snapshot", "projective", "unreal"])
    spec = CompareSpec(steady, SCREEN_TIMING, intervals=False, threads=1)
    random = np.random.default_rng(1)
    fell = []
    whole = bursty.recorded(movement, "1 % independent", 24.0, 900)
    before = compare_run(whole.run(given=given), spec).results
    for _ in range(3):
        begin = random.uniform(2.0, 22.0)
        cut = whole.without(begin, begin + random.uniform(0.4, 1.0))
        after = compare_run(cut.run(given=given), spec).results
        for one, other in zip(before, after, strict=True):
            fell.append(one.value("score") - other.value("score"))
    assert min(fell) > -0.5
    assert np.median(fell) > 1  # and it does cost something


@pytest.mark.parametrize("movement", ["stop and go", "wander", "circle"])
def test_where_a_longer_outage_costs_less_it_is_said_that_the_shorter_one_ends_in_a_leap(
    movement: str,
) -> None:
    recorded = bursty.recorded(movement, "1 % independent", 30, 2)
    spec = CompareSpec(read_specs(["mirror", "epic"]), SCREEN_TIMING, threads=1, intervals=False)
    short, long = (
        compare_run(recorded.without(12, 12 + seconds).run(), spec).results[0]
        for seconds in (0.8, 1.0)
    )
    assert long.value("score") > short.value("score")
    assert short.has(Flaw.LEAPS)
    assert not long.has(Flaw.LEAPS)


def test_a_teleport_that_was_sampled_as_a_movement_is_found() -> None:
    times = np.arange(0, 10, 0.005)
    x = times + 20 * np.clip((times - 5) / 0.015, 0, 1)  # three steps long
    positions = np.column_stack((x, 0 * x, 0 * x))
    truth = build_truth(times, positions, np.full_like(positions, np.nan))
    (cut,) = (note for note in truth.notes if isinstance(note, CutOut))
    assert (cut.cut, cut.count) == (Cut.UNMARKED_TELEPORT, 1)
    assert truth.teleported.tolist() == [False, True]
    assert truth.starts.tolist() == pytest.approx([0, 5.015])
    # a quick dash that takes a second is none
    dash = times + 20 * np.clip(times - 5, 0, 1)
    positions = np.column_stack((dash, 0 * x, 0 * x))
    assert len(build_truth(times, positions, np.full_like(positions, np.nan)).starts) == 1


def test_nothing_below_the_datas_resolution_is_a_difference() -> None:
    def two_decimals(t: float) -> Place:
        x, y, z = movements.circle(t)
        return round(x, 2), round(y, 2), z

    rounded = [packet._replace(position=two_decimals(packet.time)) for packet in CIRCLE]
    aside = [
        Drawn(f"{height:g}", lambda t, h=height: (*movements.circle(t)[:2], h))  # type: ignore[misc]
        for height in (1e-15, 1e-9, 1e-4)
    ]
    found = judged(rounded, *aside)
    assert found.resolution == 0.005
    shown = make_metric_columns(found.results, found.resolution)
    for column in shown:
        if find_metric(column.key).unit == "length":
            assert not column.best, column.key


def test_a_static_entity_does_not_jump() -> None:
    rests = movements.packets(lambda _: (5.0, 2.0, 0.0))
    generator = np.random.default_rng(1)

    def shaking(_: float) -> Place:
        x, y, z = generator.normal((5, 2, 0), 5e-8)
        return x, y, z

    noise = Drawn("", shaking)
    (found,) = judged(rests, noise).results
    assert (found.value("jumps"), found.value("largest_jump")) == (0, 0)
    assert (found.value("backward"), found.value("jerk")) == (0, 0)
    assert Flaw.TRUTH_AT_REST in flaws(found)


def test_no_star_between_equal_figures() -> None:
    found = judged(CIRCLE, Drawn("a", movements.circle), Drawn("b", late(movements.circle, 1e-5)))
    best = {column.key: column.best for column in make_metric_columns(found.results)}
    assert best["lag"] == set()
    assert best["score"] == set()


def test_no_other_game_has_another_leader_for_a_difference_that_nobody_reads() -> None:
    aside = Drawn("aside", lambda t: (*movements.circle(t)[:2], 1e-4))
    found = judged(CIRCLE, aside, Drawn("late", late(movements.circle, 1e-5))).results
    order = sorted(found, key=lambda one: -one.value("score"))
    assert order[0].value("score") - order[1].value("score") < 0.05
    assert derive_advice(found, Weights()).other_games == ()
    assert set(find_best_games(found)) == {order[0].label}


def test_divergence_is_named_and_never_the_best() -> None:
    def astray(t: float) -> Place:
        x, y, z = movements.circle(t)
        return x, y, z + (40.0 if 4.00 < t < 4.03 else 0.0)

    found = judged(CIRCLE, Drawn("astray", astray), Drawn("late", late(movements.circle, 0.4)))
    strays = found.results[0]
    (note,) = (remark for remark in strays.notes if remark.flaw is Flaw.DIVERGED)
    assert note.beyond == pytest.approx(40)
    assert note.extent == pytest.approx(math.hypot(10, 10), rel=0.01)
    assert Flaw.DIVERGED not in flaws(found.results[1])
    told = found.advice
    assert told.best == found.results[1]
    assert judged(CIRCLE, Drawn("astray", astray)).advice.confidence is Confidence.NONE_GOOD


@pytest.mark.parametrize("size", [1e80, 1e155, 1e300])
def test_what_leaves_all_bounds_does_so_quietly(
    size: float, capfd: pytest.CaptureFixture[str]
) -> None:
    wild = Drawn("wild", lambda t: (min(size, 1e3 ** (60 * t)) * math.sin(99 * t), size, 0.0))
    good = Drawn("good", movements.circle)
    found = judged(CIRCLE, wild, good, intervals=True, selection=EVERYTHING)
    whole = pool_runs([("", found)], 0)  # warnings are errors in tests
    assert named(whole, "good").rank == 1
    assert named(whole, "wild").rank in (None, 2)
    assert capfd.readouterr().err == ""


def test_twins_are_said_to_be_twins_and_not_to_need_more_data() -> None:
    def told(*taking_part: Drawn) -> list[str]:
        found = judged(CIRCLE, *taking_part, intervals=True, runs_are="networks")
        whole = pool_runs([("", found)], 0)
        assert whole.advice.confidence is Confidence.TIED
        return write_verdict(whole)

    late_one, twin = (Drawn(label, late(movements.circle, 0.05)) for label in ("one", "twin"))
    assert not any("recordings" in line for line in told(late_one, twin))
    equals = shaken("one", 1, 4), shaken("other", 2, 4)
    assert any("more would settle it" in line for line in told(*equals))


def shaken(label: str, seed: int, kinds: int) -> Drawn:
    """Return a participant that draws a circle with intermittent noise, alike for every seed."""
    source = np.random.default_rng([seed, kinds])
    noise = np.convolve(source.normal(size=2000) * source.gamma(0.3, 1, 2000), np.ones(9) / 9)
    return Drawn(label, lambda t: (*movements.circle(t)[:2], 0.2 * float(noise[round(t * 60)])))


def test_where_nothing_is_good_no_best_is_praised() -> None:
    found = judged(
        movements.packets(movements.circle, 30.0),
        Drawn("a", late(movements.circle, 1.2)),
        Drawn("b", late(movements.circle, 1.5)),
    )
    assert max(result.value("score") for result in found.results) < 25
    told = found.advice
    assert (told.confidence, told.best) == (Confidence.NONE_GOOD, found.results[0])
    assert told.weakest == "latency"


def test_who_needs_arrival_times_is_marked_and_not_ranked_without_them() -> None:
    both = read_specs(["mirror", "epic", "source", "source+latency=0"])
    found = judged(movements.packets(movements.circle, latency=None), *both)
    marked = [Flaw.NEEDS_ARRIVALS in flaws(result) for result in found.results]
    assert marked == [True, False, True, False]
    assert [result.ranked for result in found.results] == [False, True, False, True]
    assert math.isnan(found.results[0].value("score"))
    assert found.results[0].value("error") > 0
    assert not [name for name in write_verdict(found) if "mirror" in name]
    (score, *_) = make_metric_columns(found.results)
    assert score.cells[0] == "-!"
    assert not any(Flaw.NEEDS_ARRIVALS in flaws(result) for result in judged(CIRCLE, *both).results)


def test_who_takes_two_clocks_for_one_is_told_what_to_set() -> None:
    sent = movements.packets(movements.circle)
    apart = [packet._replace(arrival=arrival_of(packet) - 100) for packet in sent]
    specs = read_specs(["buffer", "buffer+clock=min", "epic", "dead-reckoning", "mirror"])
    found = judged(apart, *specs)
    told = {
        result.label: note.instead
        for result in found.results
        for note in result.notes
        if note.flaw is Flaw.ONE_CLOCK
    }
    assert told == {
        "buffer": "set clock=min", "epic": "no setting mends that",
        "dead-reckoning": "set age=rtt",
    }  # fmt: skip
    assert not any(Flaw.ONE_CLOCK in flaws(result) for result in judged(sent, *specs).results)
    assert not any("the lag is unknown" in line for line in find_notes(found, found.results))


def test_overshoot_is_what_runs_ahead_of_where_the_truth_goes() -> None:
    def stops(t: float) -> Place:
        return 5 * min(t, 5.0), 0.0, 0.0

    def past(t: float) -> Place:
        return 5 * min(t, 5.2) - (5 * min(max(t - 5.2, 0.0), 0.2)), 0.0, 0.0

    packets = movements.packets(stops)
    found = judged(packets, Drawn("past", past), Drawn("late", late(stops, 0.3)))
    assert found.results[0].value("overshoot") == pytest.approx(1.0, abs=0.02)
    assert found.results[1].value("overshoot") == 0
    ahead = judged(STRAIGHT, Drawn("", late(movements.straight, -0.2))).results[0]
    assert ahead.value("overshoot") == pytest.approx(0, abs=0.02)  # early, but not too far


def test_a_strategy_has_time_to_warm_up_after_its_first_packet() -> None:
    truth = movements.packets(movements.circle, 20.0, 100.0)
    joined = [packet for packet in movements.packets(movements.circle, 20.0) if packet.time > 6]
    found = judged(joined, Drawn("", movements.circle), truth=truth, warm_up=1.0)
    assert found.rows == pytest.approx((20 - 7.05) * 60, abs=2)
