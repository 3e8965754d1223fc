"""A game's way of drawing is described in parts, and the description draws the same."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from endurance.drawn import composition, draw, engine, outcome
from endurance.drawn import found as said_of
from endurance.public import drawing, is_near, judge
from support import movements
from support.recordings import few_of, few_rows, weekly
from support.running import epic

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec, read_specs
from epic_cli.jobs.diagnose.drawn import match
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.frames import Frames, make_frames
from epic_cli.jobs.diagnose.mechanism.compositions import convert_to_numbers
from epic_cli.jobs.diagnose.mechanism.marks import find_snap_time
from epic_cli.jobs.diagnose.mechanism.partial import find_kind
from epic_cli.jobs.diagnose.mechanism.results import SearchResults
from epic_cli.jobs.diagnose.mechanism.simplify import count_packets
from epic_cli.jobs.diagnose.mechanism.supply import is_exotic, measure_supply
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.jobs.diagnose.report.drawings import describe_drawing
from epic_cli.jobs.diagnose.report.records import make_drawn_record
from epic_cli.metrics.arrays import ARRIVAL, POSITION, TIME, VELOCITY, make_packet_table
from epic_cli.metrics.drawn_path import DrawnPath
from epic_cli.network.link import LinkConditions

if TYPE_CHECKING:
    from support.oracle import Vector

    from epic_cli.jobs.diagnose.comparison import FrameComparison

LINK = LinkConditions(0.06, 0.02, "gamma", loss=0.02)


def recorded(
    movement: str, rate: float, seed: int, seconds: float = 10, link: LinkConditions = LINK
) -> PacketBlock:
    return movements.send(movement, rate, seed, seconds, link)


def frames(
    block: PacketBlock,
    strategy: str,
    rate: float,
    seed: int,
    until: float = 9.0,
    shift: float = 0.0,
) -> DrawnPath:
    """Return a game's drawing in irregular frames, rounded to 1e-4."""
    dice = random.Random(seed)
    times = shift + np.arange(0.4, until, 1 / rate)
    times = times + np.array([dice.uniform(-0.001, 0.001) for _ in times])
    (spec,) = read_specs([strategy])
    shown = Redraw(block).draw(spec, times)
    there = np.isfinite(shown).all(axis=1)
    return DrawnPath(times[there], np.round(shown[there], 4), 5e-5)


def convert_to_seconds(text: str, interval: float) -> float | None:
    """Return a time of a strategy's settings, None if it is unlimited."""
    if text.endswith("i"):
        return float(text[:-1]) * interval
    words = {"freeze": 0.0, "chase": 0.0, "repeat": 0.0, "unlimited": None}
    return words[text] if text.isalpha() else float(text)


@few_rows(7)
@pytest.mark.parametrize(
    ("strategy", "movement", "rate"),
    [
        (
            "buffer+catch_up=waypoints+low_pass=0.07+follow=lerp+catch_up_rate=0.7+catch_up_from=3"
            "+count_at=end",
            "strafe",
            60,
        ),
        ("chase+how=lerp+time=0.1+snap=2", "teleport", 60),
        (
            "buffer+clock=newest+start=last+delay=0.1+catch_up=rate+catch_up_rate=0.1"
            "+follow=share+follow_share=0.85",
            "strafe",
            60,
        ),
        ("buffer+stamps=arrival+delay=1i+interval=arrivals", "strafe", 60),
        (
            "buffer+clock=mean+clock_share=0.1+delay=0.1+jitter_margin=2+jitter=intervals",
            "strafe",
            60,
        ),
        ("chase+how=share+share=0.6+every=packet+drift=1", "strafe", 60),
        ("buffer+clock=median+clock_time=2+delay=0.15+low_pass=0.05", "strafe", 90),
        ("buffer+stamps=arrival+delay=0.1+keep=3", "strafe", 60),
        ("chase+how=linear+time=1i+start=last+interval=stamps+ahead=arrival", "strafe", 90),
        ("chase+how=share+share=1", "strafe", 60),
        ("chase+how=linear+time=0.12+start=frame", "figure-eight", 30),
        ("buffer+clock=min+clock_time=5+delay=0.08+curve=hermite", "strafe", 144),
        ("buffer+clock=mean+clock_time=1+delay=0.12+beyond=0.1", "figure-eight", 60),
        (
            "buffer+clock=newest+delay=0.08+catch_up=rate+catch_up_rate=0.1+catch_up_limit=0.1"
            "+when_empty=run",
            "strafe",
            60,
        ),
        (
            "buffer+delay=0.1+delay_from=newest+catch_up=lerp+catch_up_rate=5+catch_up_most=0.1",
            "strafe",
            60,
        ),
        ("buffer+stamps=arrival+delay=0.1+every=0.02+tick_time=own", "strafe", 30),
        ("buffer+catch_up=dequeue+every=0.05+phase=0.01+beyond=repeat", "strafe", 60),
        ("buffer+clock=mean+delay=0.05+jitter_margin=2.5+jitter_time=1", "strafe", 60),
        ("chase+how=lerp+time=0.2+snap=1.1", "strafe", 60),  # within the usual movement
        ("chase+how=spring+time=0.1", "strafe", 60),
        ("chase+how=eased+time=0.12+start=last", "strafe", 60),
        ("buffer+clock=min+clock_time=session+delay=2.5", "strafe", 60),
        ("chase+how=exponential+time=0.08+ahead=velocity", "strafe", 60),
        ("chase+how=linear+time=0.2+ahead=velocity+drift=1", "strafe", 60),
        ("chase+how=share+share=0.4+every=0.02+phase=0.0123+drift=1+drift_share=0.4", "strafe", 60),
        ("chase+how=speed+speed=3+drift=1", "strafe", 60),
    ],
)
def test_the_parts_of_a_drawing_are_found(strategy: str, movement: str, rate: float) -> None:
    block = recorded(movement, 20, 3)
    found = match({"": block}, {"": frames(block, strategy, rate, 5)})
    (wanted,) = read_specs([strategy])
    ways = (
        "how", "tick_time", "start", "stamps", "clock", "curve", "catch_up", "ahead", "keep",
        "jitter_margin", "jitter", "delay_from", "when_empty", "follow", "drift", "drift_share",
    )  # fmt: skip
    assert found.mechanism is not None
    best = found.mechanism.strategy
    assert best.name == wanted.name
    values, expected = best.values, wanted.values
    assert [values[way] for way in ways if way in values] == [
        expected[way] for way in ways if way in expected
    ]
    assert found.off < 0.01
    for same in found.same_as:  # over arrivals there is no clock
        assert not ("stamps=arrival" in same.label and "clock=" in same.label)
    record = make_drawn_record(found)
    assert record["command"] is not None
    words = dict(word.split("=") for word in record["command"].split("+")[1:])
    times = ["delay", "beyond", "low_pass", *(["time"] if record["how"] == "exponential" else [])]
    for name in times:
        if name in words:
            time, figure = convert_to_seconds(words[name], 1 / 20), record[f"{name}_s"]
            assert figure == (None if time is None else pytest.approx(time, rel=1e-3)), name
    for way in ways:
        if way in record and way in words:
            assert record[way] == words[way]


#: A delay that only grows, over a count of ticks; a slow way back to the newest packet's clock.
@weekly
@pytest.mark.parametrize("seed", [3181, 3220])
def test_what_hides_its_clock_is_found(seed: int) -> None:
    said = outcome(composition(seed))
    assert (said.right, said.misses) == (True, []), said.words


@pytest.mark.parametrize("time", [0.3, 0.55])
def test_one_silence_tells_when_a_chase_snaps(time: float) -> None:
    block = recorded("figure-eight", 10, 3, 14)
    gap = movements.alter(block, lambda sent: None if 10 < sent.time < 10.4 + time else sent)
    path = frames(gap, f"chase+how=spring+time=0.27+snap_after={time}", 60, 5, 13)
    assert find_snap_time(see(gap, path)) == time


def see(block: PacketBlock, path: DrawnPath) -> Frames:
    """Return frames with the packets that had arrived."""
    table = make_packet_table(block)
    order = np.argsort(table[ARRIVAL])
    return make_frames(
        table[ARRIVAL][order], table[TIME][order], table[POSITION].T[order],
        table[VELOCITY].T[order], path.times, path.positions,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "kind"),
    [
        ("buffer+clock=min+delay=0.2+catch_up=rate", "path"),
        ("buffer+stamps=ticks+clock=newest+delay=1i+beyond=unlimited", "two-states"),
        ("chase+how=share+share=0.2", "goal"),
        ("chase+how=speed+speed=7", "goal"),
        ("chase+how=spring+time=0.2", ""),
        ("buffer+clock=min+delay=0.2+catch_up=rate+curve=catmull-rom", "catmull-rom"),
        ("buffer+clock=min+delay=0.2+low_pass=0.1", ""),
        ("chase+how=share+share=0.2+ahead=velocity", ""),
    ],
)
def test_what_is_true_of_all_frames_is_told_and_nothing_else(strategy: str, kind: str) -> None:
    block = recorded("strafe", 20, 3)
    assert find_kind(see(block, frames(block, strategy, 60, 5)), 1e-4) == kind


def test_an_error_is_said_in_usual_steps_without_the_teleports() -> None:
    block, dice = recorded("teleport", 20, 3, 12), np.random.default_rng(3)
    spec = read_spec("buffer+delay=0.1")
    path = frames(block, spec.label, 60, 5, until=11)
    step = see(block, path).unit
    noise = dice.normal(0, 0.003 * step, path.positions.shape)
    noise[:, 2] = 0
    found = match({"": block}, {"": path._replace(positions=path.positions + noise)}, [spec])
    assert found.calm is not None
    assert found.off == pytest.approx(0.003 * 2**0.5, rel=0.2)
    assert found.best.residual / found.step < 0.5 * found.off


@pytest.mark.parametrize(("share", "said"), [(0.04, "In 9"), (0.3, "Not understood")])
def test_what_draws_nearly_all_frames_is_understood(share: float, said: str) -> None:
    block, dice = recorded("strafe", 20, 3, 9), np.random.default_rng(3)
    path = frames(block, "buffer+stamps=arrival+delay=0.1", 60, 5, until=8)
    step = see(block, path).unit
    off = np.where(dice.random((len(path.times), 1)) < share, step * np.array([1.0, 0.5, 0]), 0)
    known = () if share < 0.1 else [read_spec("buffer+stamps=arrival+delay=0.1")]
    found = match({"": block}, {"": path._replace(positions=path.positions + off)}, known)
    assert found.found == (share < 0.1)
    assert said in describe_drawing(found)[0] + describe_drawing(found)[1]


@few_rows(6)
@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("minecraft", "wrong-interval"),
        ("shared-time", "uneven-queue"),
        ("send-timer", "own-timer"),
        ("swing", "swings"),
        ("speed-ticks", "arrives-and-stands"),
        ("eight-frames", "frame-rate"),
        ("latest-state", "state-steps"),
        ("fed-back", "fed-back"),
        ("resting-share", "chase-lag"),
        ("packet-clock", "packet-steps"),
        ("unity-queue", "queue"),
        ("tutorial", "measured-interval"),
        ("added-timers", "added-ways"),
        ("half-way", "packet-steps"),
        ("physics-ticks", "ticks"),
        ("fixed-update", "chase-lag"),
        ("stops-short", "stops-short"),
        ("ticked-buffer", "ticks"),
        ("axis-steps", "axes-alone"),
        ("marker", "speed-pulses"),
        ("low-passed-body", "packet-jumps"),
        ("message-lerp", "message-time"),
        ("mostly-empty", "short-buffer"),
        ("transition", "wrong-interval"),
        ("mean-of-five", "no-smoothing"),
        ("state-synchronization", ""),
        ("snapped-path", "measured-interval"),
        ("dequeue", "queue"),
        ("spare-state", "spare-states"),
        ("late-sorted", "arrival-stamps"),
        ("late-lerp", "late-as-new"),
        ("whole-centimeters", "no-margin"),
        ("longest-gap", ""),  # the network has no jitter
        ("trimmed-states", "forgotten-states"),
        ("slowed-clock", "slowed-time"),
        ("state-ring", "arrival-stamps"),
        ("frame-steps", "frame-rate"),
        ("backward-lead", "reversed-velocity"),
        ("fixed-lead", "chase-lag"),
        ("ignored-moves", "chase-lag"),
        ("faster-ticks", "ticks"),
        ("state-copy", "arrival-stamps"),
        ("window-lerp", "measured-interval"),
        ("buffered-time", "growing-delay"),
        ("faster-far-away", "chase-lag"),
    ],
)
def test_what_public_games_draw_is_found_with_its_cause(name: str, cause: str) -> None:
    case = drawing(name, 0)
    said = said_of(case)
    verdict, spec, left = judge(case, said)
    assert (verdict, left < 0.001) == ("right", True), spec.label
    causes = {each.cause for each in said.advice.drawbacks}
    assert cause in causes if cause else not causes


def test_a_share_of_each_frame_is_none_of_ticks_that_are_as_long() -> None:
    """Rounding to pixels hides at first which of the two draws it exactly."""
    case = drawing("pixels", 77)
    verdict, spec, left = judge(case, said_of(case))
    assert (verdict, left < 0.001) == ("right", True), spec.label


@weekly
def test_a_delay_by_the_unevenness_of_stamps_that_falls_slowly_is_found() -> None:
    dice, block = random.Random(5), PacketBlock()
    for packet in movements.unpack(recorded("strafe", 20, 3, 24, LinkConditions(0.02))):
        late = dice.expovariate(100)
        moved = packet._replace(time=packet.time + late, arrival=(packet.arrival or 0.0) + late)
        block.append(moved)
    spec = "buffer+delay=0.075+jitter_margin=2+jitter=stamps+delay_fall=0.1+interval=0.05"
    found = match({"": block}, {"": frames(block, spec, 60, 5, 23.0)})
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert found.mechanism.strategy.values["delay_fall"] == pytest.approx(0.1, rel=0.01)


@weekly
@pytest.mark.parametrize("between", ["hold", "lerp"])
def test_ticks_of_any_length_are_found(between: str) -> None:
    block = recorded("strafe", 20, 3)
    spec = f"chase+how=share+share=0.2+every=0.0371+between={between}"
    found = match({"": block}, {"": frames(block, spec, 75, 5)})
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert found.mechanism.strategy.values["every"] == pytest.approx(0.0371, rel=1e-4)


def test_a_constant_that_is_not_the_interval_of_the_packets_is_named() -> None:
    """A line through the last two states, by a constant of 20 ms; packets come every 50 ms."""
    block = recorded("strafe", 20, 3)
    spec = "buffer+stamps=ticks+clock=newest+interval=0.02+delay=0.02+beyond=unlimited"
    found = match({"": block}, {"": frames(block, spec, 60, 5)})
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert found.mechanism.strategy.values["interval"] == pytest.approx(0.02)
    assert "wrong-constant" in {each.cause for each in found.advice.drawbacks}


@pytest.mark.parametrize(("late", "named"), [("+late=insert", 1), ("", 0)])
def test_a_buffer_that_takes_late_packets_for_the_newest_is_told_so(late: str, named: int) -> None:
    block = recorded("strafe", 30, 3, link=LinkConditions(0.06, 0.03))
    spec = "buffer+stamps=ticks+clock=newest+delay=1i"
    found = match({"": block}, {"": frames(block, spec + late, 60, 5)})
    assert found.mechanism is not None
    assert found.mechanism.exact
    causes = [each.cause for each in found.advice.drawbacks]
    assert (causes.count("late-as-new"), "no-margin" in causes) == (named, True)


@pytest.mark.parametrize(
    ("moves", "rate"), [("how=linear+time=0.05+start=last", 60), ("how=lerp+time=0.13", 90)]
)
def test_a_chase_to_which_a_repeated_position_is_no_news_is_found(moves: str, rate: float) -> None:
    """Tiles, as a game on a grid sends them: most packets repeat the one before."""
    block = movements.alter(
        recorded("strafe", 20, 3),
        lambda sent: sent._replace(position=cast("Vector", tuple(map(round, sent.position)))),
    )
    found = match({"": block}, {"": frames(block, f"chase+{moves}+repeated=drop", rate, 5)})
    assert found.mechanism is not None
    assert found.mechanism.exact
    # a time constant begins nothing anew
    says = "repeats the position" in " ".join(describe_drawing(found))
    assert says == ("linear" in moves)


def test_a_limit_that_the_frames_do_not_show_is_not_named() -> None:
    """The game extrapolates for 40 ms at most here; its limit of 300 ms is never reached."""
    block = recorded("strafe", 20, 3)
    path = frames(block, "buffer+clock=min+clock_time=session+delay=0.1+beyond=0.3", 60, 5)
    said = make_drawn_record(match({"": block}, {"": path}))
    assert said["exact"]
    assert said["command"].endswith("+beyond=unlimited")
    assert (said["causes"], said["cure"]) == ([], None)  # a longer delay was tried, and costs more


def test_clocks_that_draw_the_same_are_listed_the_usual_one_first() -> None:
    """Every clock explains packets without jitter; the sender's is 41.7 s behind."""
    sent = recorded("strafe", 20, 3, link=LinkConditions(0.06))
    block = movements.alter(sent, lambda packet: packet._replace(time=packet.time - 41.7))
    found = match({"": block}, {"": frames(block, "buffer+clock=first+delay=0.11", 60, 5)})
    assert found.mechanism is not None
    assert found.mechanism.strategy.label == "buffer+stamps=arrival+delay=0.11"
    assert "buffer+clock=first+delay=0.11" in [spec.label for spec in found.mechanism.same_as]


@few_rows(2)
@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("chase+how=share+share=0.3", False),
        ("chase+how=share+share=0.3+every=0.02", True),
        ("chase+how=share+share=0.7", True),
        ("chase+how=speed+speed=9+every=0.02", True),
    ],
)
def test_packets_are_read_before_a_frame_or_behind_it(text: str, behind: bool) -> None:
    """Packets and frames of one time, as a log has both."""
    given = recorded("strafe", 20, 3)
    since = 1.76447e9 if "share" in text else 0.0  # dates of today have no tenth of a microsecond
    times = since + 0.4 + np.cumsum(np.random.default_rng(2).uniform(0.01, 0.024, 1300))
    block, late = PacketBlock(), PacketBlock()
    for packet in movements.unpack(given):
        place = int(np.searchsorted(times, since + (packet.arrival or 0.0)))
        if 0 < place < len(times):
            # dates of one time differ by so much as numbers
            rough = 0.0 if behind else 2e-7
            block.append(packet._replace(arrival=float(times[place]) + rough))
            late.append(packet._replace(arrival=float(times[place]) + (1e-4 if behind else 0)))
    shown = Redraw(late).draw(read_spec(text), times)
    there = np.isfinite(shown).all(axis=1)
    path = DrawnPath(times[there], np.round(shown[there], 4), 5e-5)
    found = match({"": block}, {"": path})
    assert found.found
    assert found.behind is behind
    assert ("every" in found.best.candidate.settings) is ("every" in text)


@pytest.mark.parametrize(
    ("strategy", "exotic"),
    [
        ("buffer+delay=0.1", False),
        ("buffer+stamps=arrival+delay=0.1+low_pass=0.08", False),
        ("buffer+clock=newest+delay=0+low_pass=0.08", True),
        ("buffer+clock=min+delay=0+low_pass=0.08", True),
        ("buffer+stamps=ticks+clock=newest+delay=1i", False),
        ("buffer+stamps=ticks+clock=newest+delay=0.0501", False),
        ("buffer+stamps=ticks+clock=newest+delay=3i", True),
        ("buffer+interval=0.05+catch_up=timed-queue", True),
        ("chase+how=share+share=1+every=0.05+between=lerp", True),
        ("chase+how=share+share=0.2+every=0.02+between=lerp", False),
        ("chase+how=share+share=0.2", False),
    ],
)
def test_usual_ways_of_drawing_are_told_from_exotic_ones(strategy: str, exotic: bool) -> None:
    block = recorded("strafe", 20, 3)
    (spec,) = read_specs([strategy])
    seen = see(block, frames(block, "buffer+delay=0.1", 60, 5, until=8))
    assert is_exotic(seen, convert_to_numbers(spec)) is exotic


def test_a_queue_by_a_timer_is_not_named_where_a_delay_draws_the_same() -> None:
    block = recorded("strafe", 20, 3, link=LinkConditions(0.007, 0.001))
    found = match({"": block}, {"": frames(block, "buffer+delay=0.1", 144, 5)})
    assert found.mechanism is not None
    assert "delay" in found.mechanism.strategy.settings
    assert "catch_up" not in found.mechanism.strategy.settings


def test_a_recording_as_asked_for_tells_which_of_two_clocks_it_is() -> None:
    """All clocks agree without jitter; with 50 ms of it only one draws these frames."""
    spec, found = "buffer+clock=first+delay=0.15", []
    for jitter in (0.0, 0.05):
        sent = recorded("strafe", 20, 3, link=LinkConditions(0.06, jitter=jitter))
        block = movements.alter(sent, lambda packet: packet._replace(time=packet.time - 41.7))
        found.append(match({"": block}, {"": frames(block, spec, 60, 5)}).mechanism)
    without, with_jitter = found
    assert without is not None
    assert with_jitter is not None
    assert spec in [same.label for same in (without.strategy, *without.same_as)]
    assert without.lacking == ("jitter",)
    assert with_jitter.lacking == ()
    assert with_jitter.strategy.label == spec


def test_frames_of_unequal_length_tell_a_share_from_a_time() -> None:
    block = recorded("strafe", 20, 3)
    spec = "chase+how=share+share=0.15"
    lacking = []
    for uneven in (0.0, 0.006):
        times = np.arange(0.4, 14.0, 1 / 60)
        times = times + np.random.default_rng(3).uniform(-uneven, uneven, len(times))
        (read,) = read_specs([spec])
        shown = np.round(Redraw(block).draw(read, times), 4)
        made = match({"": block}, {"": DrawnPath(times, shown, 5e-5)}).mechanism
        assert made is not None
        assert made.exact
        lacking.append((made.strategy.values["how"], "frames" in made.lacking))
    assert lacking[0][1]
    assert lacking[1] == ("share", False)


def test_no_recording_is_asked_for_to_tell_two_names_of_one_formula() -> None:
    block = recorded("strafe", 20, 3)
    times = np.arange(0.4, 14.0, 1 / 60)
    times = times + np.random.default_rng(3).uniform(-0.006, 0.006, len(times))
    (read,) = read_specs(["chase+how=lerp+time=0.1"])
    shown = np.round(Redraw(block).draw(read, times), 4)
    made = match({"": block}, {"": DrawnPath(times, shown, 5e-5)})
    assert made.mechanism is not None
    assert "lerp" in [same.label for same in made.same_as]
    assert made.mechanism.lacking == ()


@pytest.mark.parametrize("rounded", [round, math.floor])
def test_arrivals_in_whole_milliseconds_are_those_of_the_frames_that_they_name(
    rounded: Callable[[float], int],
) -> None:
    exact = recorded("strafe", 20, 3)
    times = np.round(frames(exact, "dumb-terminal", 90, 5).times, 4)
    read, logged = PacketBlock(), PacketBlock()
    for packet in movements.unpack(exact):
        place = int(np.searchsorted(times, packet.arrival or 0.0))
        if place < len(times):
            arrival = float(times[place])
            read.append(packet._replace(arrival=arrival))
            logged.append(packet._replace(arrival=rounded(arrival * 1000) / 1000))
    (spec,) = read_specs(["chase+how=spring+time=0.15"])
    shown = np.round(Redraw(read).draw(spec, times), 4)
    there = np.isfinite(shown).all(axis=1)
    made = match({"": logged}, {"": DrawnPath(times[there], shown[there], 5e-5)}).mechanism
    assert made is not None
    assert (made.strategy.label, made.exact) == (spec.label, True)


def test_arrivals_at_fixed_ticks_are_not_rounded_ones() -> None:
    block = movements.alter(
        recorded("strafe", 20, 3),
        lambda packet: packet._replace(arrival=math.ceil((packet.arrival or 0.0) * 50) / 50),
    )
    found = match({"": block}, {"": frames(block, "chase+how=linear+time=0.11", 75, 5)})
    assert found.mechanism is not None
    assert found.mechanism.strategy.label == "chase+how=linear+time=0.11"
    assert found.mechanism.exact


@pytest.mark.parametrize("carried", [False, True])
def test_a_velocity_that_packets_do_not_carry_is_none_of_theirs(carried: bool) -> None:
    block = recorded("strafe", 20, 3, 10)
    if not carried:
        block = movements.alter(block, lambda packet: packet._replace(velocity=None))
    seen = see(block, frames(block, "buffer+delay=0.1", 60, 5, until=8))
    sent, own = read_specs(["chase+ahead=velocity", "chase+ahead=velocity+velocity=stamps"])
    assert is_exotic(seen, sent) is not carried
    assert not is_exotic(seen, own)


@pytest.mark.parametrize("count", few_of([20, 31, 45, 60], 2))
def test_less_than_a_second_of_frames_is_described(count: int) -> None:
    block = recorded("strafe", 20, 3)
    path = frames(block, "buffer+stamps=arrival+delay=0.1", 60, 5)
    part = slice(300, 300 + count)
    path = path._replace(times=path.times[part], positions=path.positions[part])
    assert match({"": block}, {"": path}).off < 0.01


def test_what_stays_until_the_next_packet_is_not_drawn_at_ticks() -> None:
    """A tween that begins in the frame that handles a packet: it ends before the next comes."""
    block = recorded("figure-eight", 10, 3)
    packets = sorted(movements.unpack(block), key=lambda one: one.arrival or 0)
    times, shown, begun = np.arange(1.0, 13.0, 1 / 72), [], 0.0
    start = goal = place = np.array(packets[0].position)
    for now in times:
        while packets and (packets[0].arrival or 0) <= now:
            start, goal, begun = place, np.array(packets.pop(0).position), now
        place = start + (goal - start) * min((now - begun) / 0.09, 1)
        shown.append(place)
    found = match({"": block}, {"": DrawnPath(times, np.round(shown, 4), 5e-5)})
    assert not found.tick
    assert not found.smoothed


def test_frames_after_the_last_packet_do_not_make_a_buffer_too_short() -> None:
    block, spec = recorded("strafe", 20, 3, 12), read_spec("buffer+clock=min+delay=0.15")
    once, twice = (
        measure_supply(see(block, frames(block, spec.label, 60, 5, until)), spec)
        for until in (11.9, 13.5)
    )
    assert once is not None
    assert twice is not None
    assert twice[:3] == pytest.approx(once[:3], abs=0.005)


def test_silence_while_nothing_moves_does_not_make_a_buffer_too_short() -> None:
    block, spec = recorded("stop-and-go", 20, 3, 24), read_spec("buffer+clock=min+delay=0.25")
    moving = movements.block(
        packet
        for before, packet in pairwise(movements.unpack(block))
        if before.position != packet.position
    )
    assert len(moving) < 0.8 * len(block)
    found = measure_supply(see(moving, frames(moving, spec.label, 60, 5, 23.0)), spec)
    assert found is not None
    assert found.empty < 0.01
    assert found.needed < 0.25


def test_clocks_that_differ_are_compared_and_not_made_up_for_by_a_delay() -> None:
    block = movements.alter(
        recorded("strafe", 20, 3),
        lambda packet: packet._replace(arrival=(packet.arrival or 0.0) + 500),
    )
    path = frames(block, "buffer+clock=min+clock_time=session+delay=0.1", 60, 5, shift=500)
    said = make_drawn_record(match({"": block}, {"": path}))
    assert (said["clock"], said["delay_s"], said["exact"]) == ("min", 0.1, True)


def test_what_is_drawn_at_ticks_is_described_as_drawn_there() -> None:
    block = recorded("strafe", 20, 3, 12)
    ticks, spec = np.arange(0.4, 11.0, 0.02), read_spec("buffer+stamps=arrival+delay=0.12")
    shown = Redraw(block).draw(spec, ticks)
    times = np.arange(1.0, 10.0, 1 / 60) + 1e-4
    stands = shown[np.searchsorted(ticks, times) - 1]
    said = make_drawn_record(match({"": block}, {"": DrawnPath(times, np.round(stands, 4), 5e-5)}))
    assert (said["kind"], said["stamps"]) == ("buffer", "arrival")
    assert said["delay_s"] == pytest.approx(0.12, abs=1 / 60)  # when a frame shows it


@weekly
def test_a_delay_that_only_grows_is_found() -> None:
    """Several clocks fit: the clock found at the first frame counts."""
    block = recorded("strafe", 20, 3)
    path = frames(block, "buffer+clock=first+delay=0.07+catch_up=none", 60, 5)
    found = match({"": block}, {"": path})
    assert found.best.candidate.values["catch_up"] == "none"
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert found.mechanism.supply is not None
    begun, grown = found.mechanism.supply.grown
    assert grown > begun + 0.01


def test_what_is_named_is_drawn_again_by_the_command_that_is_shown(tmp_path: Path) -> None:
    recording, drawn = tmp_path / "packets.txt", tmp_path / "drawn.csv"
    epic(
        "simulate", "--movement", "strafe,duration=12", "--link", "4g,jitter=15ms", "-o", recording
    )
    command = ("replay", "--tick", "1/60", "--format", "csv", recording, "-s")
    drawn.write_bytes(epic(*command, "buffer+clock=max+delay=0.09+low_pass=0.03").stdout)
    said = " ".join(epic("diagnose", "--drawn", drawn, recording).stdout.decode().split())
    named = said.partition(" late, in straight lines")[2].partition("-s ")[2].split()[0]
    again = np.genfromtxt(
        epic(*command, named).stdout.decode().splitlines(), delimiter=",", skip_header=1
    )
    first = np.genfromtxt(drawn, delimiter=",", skip_header=1)
    step = 5.0 / 20
    assert np.sqrt(np.mean(np.square(again[60:, 1:4] - first[60:, 1:4]).sum(axis=1))) < 0.01 * step


@weekly
@pytest.mark.parametrize("seed", [3, 7, 15])
def test_an_engine_with_one_setting_changed_is_drawn_again_or_not_understood(seed: int) -> None:
    """Every strategy in turn: ``python -m endurance.drawn engines``."""
    case = engine(seed)
    said = said_of(case)
    command = make_drawn_record(said)["command"]
    understood = "not understood" not in " ".join(describe_drawing(said)).lower()
    assert understood == (said.best.residual <= max(said.enough, 0.01 * said.step))
    if understood and command is not None:
        spec = read_spec(command.removeprefix("-s "))
        own = draw(spec, case.packets, case.path.times)
        apart = np.square(own - case.path.positions).sum(axis=1)
        later = case.path.times >= case.path.times[0] + 1
        assert np.sqrt(np.nanmean(apart[later])) < 0.01 * said.step


def test_a_clock_that_only_packets_set_is_said_to_stand_in_between() -> None:
    """Draw a state about 0.1 s before the newest stamp, which no frame moves on."""
    block = recorded("figure-eight", 20, 4, 12)
    packets = movements.unpack(block)
    arrivals = np.array([packet.arrival for packet in packets])
    stamps = np.array([packet.time for packet in packets])
    positions = np.array([packet.position for packet in packets])
    times = np.arange(1, 10, 1 / 60)
    order = np.argsort(stamps)
    newest = np.array([stamps[arrivals <= time].max() for time in times])
    wanted = newest - 0.1 - 0.04 * np.sin(7 * newest)
    drawn = [np.interp(wanted, stamps[order], axis[order]) for axis in positions.T]
    path = DrawnPath(times, np.transpose(drawn), 1e-9)
    found = match({"": block}, {"": path}, [read_spec("buffer+clock=newest+delay=0.1")])
    assert not found.found
    assert found.rest == "packets"


def test_a_clock_of_more_packets_than_allowed_is_left_in_seconds() -> None:
    strategy = StrategySpec("buffer", {"clock": "mean", "clock_time": 3600.0, "delay": 0.1})
    found = FittedStrategy(strategy)
    assert count_packets(found, cast("FrameComparison", None), 0.05) is found


def test_the_parts_of_what_draws_nearly_all_frames_are_changed() -> None:
    """A buffer that is wrong where it is empty alone may be farther off than other clocks."""
    results = SearchResults(1e-4)
    clocks = [{"clock": clock} for clock in ("max", "mean", "min", "newest")]
    for place, settings in enumerate([*clocks, {"stamps": "arrival"}]):
        spec = StrategySpec("buffer", {**settings, "delay": 0.1})
        apart, share = 0.01 + 0.001 * place, 0.97 if "stamps" in settings else 0.1
        results.add(FittedStrategy(spec, residual=0.1, apart=apart, share=share))
    assert results.ranked[-1].draws_most
    assert results.ranked[-1] in results.select_diverse(2)
    assert len(results.select_diverse(2)) < len(results.ranked)


@weekly
@pytest.mark.parametrize("name", ["photon", "share"])
def test_logs_in_whole_milliseconds_are_understood(name: str) -> None:
    """A packet and a frame of one millisecond may have come in either order."""
    case = drawing(name, 5)
    packets = [one._replace(arrival=floor_to_milliseconds(one.arrival)) for one in case.packets]
    times = floor_to_milliseconds(case.path.times)
    said = said_of(case._replace(packets=packets, path=case.path._replace(times=times)))
    assert said.found
    assert said.mechanism is not None
    said_spec = said.mechanism.strategy
    assert said_spec.name == case.spec.name
    assert all(is_near(said_spec, key, value) for key, value in case.spec.settings.items())


def floor_to_milliseconds(times: Any) -> Any:
    return np.floor(np.asarray(times) * 1000 + 1e-6) / 1000
