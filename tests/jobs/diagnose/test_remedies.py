"""Cures are tried on the recording itself, and only those that help are named."""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support import movements
from support.known_drawings import match_known
from support.recordings import few_of

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.jobs.diagnose.remedies import Remedy, RemedyTrial, judge_remedy
from epic_cli.jobs.diagnose.remedies.metrics import MeasuredFrames, MetricValues
from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
from epic_cli.jobs.diagnose.remedies.trials import DrawingTrials
from epic_cli.jobs.diagnose.report.drawings import describe_drawing
from epic_cli.jobs.diagnose.report.records import make_drawn_record
from epic_cli.jobs.diagnose.report.sentences import write_remedy
from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.metrics.drawn_path import DrawnPath
from epic_cli.metrics.traffic import make_traffic
from epic_cli.network.link import LinkConditions
from epic_cli.network.paths import PATHS

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

SHORT = "buffer+clock=median+clock_time=10+delay=0.03"


#: Seconds of a recording, and the times of even and of uneven frames; those of one of 32 seconds.
SECONDS = 20
EVEN = np.arange(0.4, SECONDS - 1, 1 / 60)
LONG = np.arange(0.4, 31, 1 / 60)
UNEVEN = 0.4 + np.cumsum(np.random.default_rng(1).uniform(0.01, 0.024, len(EVEN) - 40))


def recorded(
    rate: float = 20,
    seed: int = 3,
    loss: float = 0.01,
    path: str = "strafe",
    seconds: float = SECONDS,
) -> PacketBlock:
    link = LinkConditions(0.06, 0.012, "gamma", loss=loss)
    return movements.send(path, rate, seed, seconds, link)


def recording(block: PacketBlock, strategy: str = SHORT) -> TrialRecording:
    return TrialRecording(block, EVEN, read_spec(strategy))


def found_in(block: PacketBlock, strategy: str, times: Floats = EVEN) -> DrawnMatch:
    """Return the diagnosis of a strategy's drawing."""
    shown = np.round(Redraw(block).draw(read_spec(strategy), times), 4)
    there = np.isfinite(shown[:, 0])
    return match_known(strategy, (block, DrawnPath(times[there], shown[there], 5e-5)))


def drawn_by(strategy: str, metric: str = "step_error") -> Remedy:
    return Remedy(f"-s {strategy}", metric, read_spec(strategy))


def test_a_trial_says_what_a_remedy_brings_and_costs() -> None:
    found = recording(recorded()).try_remedy(drawn_by(SHORT.replace("0.03", "0.09")))
    assert found is not None
    assert found.record.keys() == {"command", "figure", "before", "after", "words"}
    assert found.after < 0.6 * found.before
    lag = next(change for change in found.changes if change[0] == "lag")
    assert lag[2] - lag[1] == pytest.approx(0.06, abs=0.015)
    assert " -> " in found.words
    assert " later" in found.words


@pytest.mark.parametrize(
    ("strategy", "metric"),
    [
        (SHORT, "step_error"),  # in force already
        (SHORT.replace("0.03", "0.031"), "step_error"),  # within the noise
        (SHORT.replace("0.03", "0.09"), "lag"),  # worse
        (SHORT.replace("0.03", "0"), "lag"),  # jumps for it
        (SHORT.replace("0.03", "3"), "step_error"),  # costs more than it gives
    ],
)
def test_what_does_not_help_is_no_remedy(strategy: str, metric: str) -> None:
    assert recording(recorded()).try_remedy(drawn_by(strategy, metric)) is None


def test_step_errors_are_those_of_a_slow_and_obvious_oracle() -> None:
    """The oracle uses the movement itself, which the packets show nearly exactly at 60 Hz."""
    block = recorded(60)
    shown = Redraw(block).draw(read_spec("buffer+clock=min+delay=0.02"), EVEN)
    stand = TrialRecording(block, EVEN, read_spec(SHORT), shown)
    assert stand.before is not None
    found = stand.before.compute_values(slice(None))
    path, best = PATHS["strafe"](5.0, 5.0, 3), math.inf
    times = stand.times[60:]
    for lag in np.arange(0.06, 0.12, 0.002):
        true = np.array([path(time - lag).position for time in times])
        off = np.square(true - shown[60:]).sum()
        if off < best:
            best, steps = off, np.diff(true, axis=0)
            error = np.sqrt(np.square(np.diff(shown[60:], axis=0) - steps).sum())
            expected = lag, error / np.sqrt(np.square(steps).sum())
    assert found.lag == pytest.approx(expected[0], abs=0.003)
    assert found.step_error == pytest.approx(expected[1], rel=0.1)


# ---------------------------------------------------------------- of drawings


@cache
def advised(strategy: str, loss: float = 0.0) -> DrawnMatch:
    """Return the diagnosis of a strategy's drawing over a network with jitter."""
    return found_in(recorded(loss=loss), strategy)


FAULTY = {
    "chase+how=share+share=0.1": {"chase-lag", "frame-rate"},
    "buffer+stamps=ticks+clock=newest+delay=1i": {"no-margin", "short-buffer"},
    "buffer+clock=median+clock_time=10+delay=0.02": {"short-buffer"},
    "buffer+clock=min+clock_time=session+delay=0.2+keep=3": {"few-states"},
    "chase+how=interval+interval=0.02": {"early-arrival"},
    "buffer+stamps=arrival+delay=0.25": {"arrival-stamps", "long-buffer"},
    "buffer+clock=newest+delay=0.1": {"wandering-clock"},
    "buffer+stamps=ticks+clock=newest+delay=0.1+interval=0.1": {"wrong-interval"},
    "chase+how=linear+time=1i": {"no-margin"},
    "chase+how=linear+time=0.1": {"wrong-interval"},
    "chase+how=share+share=1": {"no-smoothing"},
}


@pytest.mark.parametrize("strategy", few_of(FAULTY, 3))
def test_the_combination_helps_in_another_session(strategy: str) -> None:
    """All causes together, as one command that draws another recording better."""
    advice = advised(strategy).advice
    assert {drawback.cause for drawback in advice.drawbacks} == FAULTY[strategy]
    assert advice.remedy is not None
    another = recorded(seed=11)
    found = recording(another, strategy).before
    mended = recording(another, advice.remedy.command.removeprefix("-s ")).before
    assert found is not None
    assert mended is not None
    before, after = found.compute_values(slice(None)), mended.compute_values(slice(None))
    assert getattr(after, advice.remedy.metric) < getattr(before, advice.remedy.metric)
    assert after.cost < before.cost
    assert after.jumps < before.jumps + 4


def test_a_clock_that_does_not_follow_another_is_replaced() -> None:
    # of a slower sender, a longer delay would do for this recording, and not for the next
    sent = recorded(seconds=32)
    block = movements.alter(sent, lambda packet: packet._replace(time=0.9985 * packet.time))
    found = found_in(block, "buffer+clock=first+delay=0.1", LONG)
    assert "unfollowed-drift" in {drawback.cause for drawback in found.advice.drawbacks}
    assert found.advice.remedy is not None
    assert "clock=first" not in found.advice.remedy.command
    assert found.advice.remedy.after < 0.1


def test_a_delay_that_is_much_longer_than_needed_is_told() -> None:
    found = advised("buffer+clock=min+clock_time=10+delay=0.25").advice
    assert [each.cause for each in found.drawbacks] == ["long-buffer"]
    assert found.remedy is not None
    assert 0.05 < -found.remedy.later < 0.16
    assert advised("buffer+clock=min+clock_time=10+delay=0.14").advice.drawbacks == ()


def test_a_single_jump_in_a_short_recording_is_no_reason_against_a_remedy() -> None:
    quiet = np.array([[1.0], [100.0], [0.0], [0.0], [100.0], [2.0]])  # of 2 s each
    slow = MeasuredFrames(np.tile(quiet, 12), 0.4)
    after = np.tile(quiet, 12)
    after[2, 3] = 1.0
    remedy = drawn_by(SHORT, "lag")
    assert judge_remedy(remedy, slow, MeasuredFrames(after, 0.1)) is not None
    after[2, 1::2] = 1.0
    assert judge_remedy(remedy, slow, MeasuredFrames(after, 0.1)) is None
    unknown = RemedyTrial("-s epic", "step_error", 1.0, 0.1, knows_lag=False)
    assert math.isnan(unknown.later)
    assert unknown.words == "step error 1.00 -> 0.10, at an unknown lag"


def test_teleports_that_are_drawn_as_movements_are_named_with_the_distance_to_jump() -> None:
    def move_away(packet: Packet) -> Packet:
        x, y, z = packet.position
        return packet._replace(position=(x + 40 * (packet.time // 6), y, z))

    block = movements.alter(recorded(), move_away)
    found = found_in(block, "buffer+delay=0.15").advice
    (drawback,) = (each for each in found.drawbacks if each.cause == "slides")
    assert drawback.values["slides"] == 3
    snap = drawback.values["snap"]
    for mended in (f"buffer+delay=0.15+snap={snap}", f"chase+how=share+share=1+snap={snap}"):
        assert "slides" not in {each.cause for each in found_in(block, mended).advice.drawbacks}


def test_the_lag_by_frame_rate_is_none_of_the_clocks() -> None:
    block = movements.alter(recorded(), lambda packet: packet._replace(time=packet.time + 90_000))
    found = found_in(block, "chase+how=share+share=0.1", UNEVEN)
    (fault,) = (each for each in found.advice.drawbacks if each.cause == "frame-rate")
    assert 0 < float(fault.values["fast"]) < float(fault.values["slow"]) < 1
    assert "late at" not in str(fault.values["lags"])
    assert str(fault.values["lags"]).endswith(" later at 30 frames a second than at 144")


def test_a_share_behind_a_buffer_depends_on_the_frame_rate() -> None:
    strategy = "buffer+clock=first+delay=0.15+follow=share+follow_share=0.1"
    found = found_in(recorded(), strategy, UNEVEN)
    (fault,) = (each for each in found.advice.drawbacks if each.cause == "frame-rate")
    slow, fast = fault.values["slow"], fault.values["fast"]
    assert isinstance(slow, float)
    assert isinstance(fast, float)
    assert slow > fast + 0.15
    assert fault.trial is not None
    assert "low_pass=" in fault.trial.command


@pytest.mark.parametrize("even", [True, False])
def test_only_uneven_frames_tell_that_a_share_is_one_of_each_frame(even: bool) -> None:
    strategy = "chase+how=share+share=0.1"
    found = advised(strategy) if even else found_in(recorded(), strategy, UNEVEN)
    words = " ".join(describe_drawing(found)).replace("- ", "")
    whether = "If it moves by frames, and not by time, it" if even else " It"
    assert f"{whether} depends on the frame rate" in words


def hold_up(block: PacketBlock) -> PacketBlock:
    """Return the packets over a channel in order that stands for 0.4 s at times."""
    held, last = PacketBlock(), 0.0
    for packet in movements.unpack(block):
        begin = 6 * (packet.time // 6) + 3
        arrival = packet.arrival or 0.0
        if begin <= arrival < begin + 0.403:
            arrival = begin + 0.403
        last = max(last + 1e-4, arrival)
        held.append(packet._replace(arrival=last))
    return held


def test_where_packets_are_held_up_a_short_buffer_that_extrapolates_is_the_remedy() -> None:
    """A delay that is long enough for nearly all would be later than the chase."""
    strategy = "chase+how=exponential+time=0.125"
    block = hold_up(recorded(15, loss=0, path="figure-eight", seconds=32))
    found = found_in(block, strategy, LONG)
    assert [drawback.cause for drawback in found.advice.drawbacks] == ["chase-lag"]
    assert found.advice.remedy is not None
    command = found.advice.remedy.command.removeprefix("-s ")
    assert "beyond=" in command
    another = hold_up(recorded(15, seed=11, loss=0, path="figure-eight"))
    before, after = recording(another, strategy).before, recording(another, command).before
    assert before is not None
    assert after is not None
    assert after.lag < before.lag - 0.05
    assert after.compute_values(slice(None)).step_error < before.compute_values(slice(None))[0]


def test_a_delay_that_covers_each_loss_may_be_shorter_where_the_buffer_extrapolates() -> None:
    strategy = "buffer+clock=min+clock_time=10+delay=0.24"
    found = found_in(recorded(loss=0.06, path="figure-eight", seconds=32), strategy, LONG)
    assert found.advice.remedy is not None
    command = found.advice.remedy.command.removeprefix("-s ")
    settings = read_spec(command).settings
    assert settings.keys() == {"clock", "clock_time", "delay", "beyond"}
    another = recorded(seed=11, loss=0.06, path="figure-eight")
    before, after = recording(another, strategy).before, recording(another, command).before
    assert before is not None
    assert after is not None
    assert after.lag < before.lag - 0.06
    old, new = (each.compute_values(slice(None)) for each in (before, after))
    assert new.step_error < old.step_error + 0.05
    assert new.jumps < old.jumps + 4


@pytest.mark.parametrize(
    "strategy",
    few_of(
        [
            "buffer+clock=min+clock_time=10+delay=0.12",
            "buffer+clock=median+clock_time=10+delay=0.09",
            "buffer+delay=0.16",
        ],
        1,
    ),
)
def test_a_good_drawing_is_left_alone(strategy: str) -> None:
    found = advised(strategy)
    assert found.found
    assert (found.advice.drawbacks, found.advice.remedy) == ((), None)
    assert describe_drawing(found)[-1] == "Nothing that was tried draws it better here."


def test_a_cure_with_less_lag_stands_alone_where_it_is_about_as_good() -> None:
    drawn = MetricValues(step_error=0.4, lag=0.1, jumps=50.0, held=0.01)
    trials: Any = SimpleNamespace(before=SimpleNamespace(compute_values=lambda _slices: drawn))
    late = RemedyTrial("-s a", "step_error", 0.4, 0.04, (("lag", 0.1, 0.21), ("jumps", 50, 0)))
    for step_error, jumps, alone in ((0.05, 0, True), (0.05, 5, False), (0.1, 0, False)):
        soon = RemedyTrial("-s b", "step_error", 0.4, step_error, (("jumps", 50, jumps),))
        assert DrawingTrials.is_no_worse(trials, soon, late) == alone


def test_a_longer_buffer_is_the_remedy_of_losses_and_a_repeated_state_is_none() -> None:
    found = advised("buffer+clock=min+clock_time=10+delay=0.07", loss=0.1)
    (drawback,) = found.advice.drawbacks
    remedy = found.advice.remedy
    assert drawback.cause == "short-buffer"
    assert remedy is not None
    assert drawback.trial == remedy
    assert remedy.command.startswith("-s buffer+clock=min+clock_time=10+delay=0.1")
    assert "later" in remedy.words
    (finding,) = diagnose(make_traffic({"": recorded(loss=0.1)})).findings
    assert finding.cause == "loss"
    assert finding.trial is not None
    assert "repeat" not in write_remedy(finding)
    assert finding.trial.words in write_remedy(finding)


def test_what_is_said_first_is_the_drawing_and_its_remedy() -> None:
    found = advised("buffer+clock=min+clock_time=10+delay=0.25")
    described, command, better, better_command, *causes = describe_drawing(found)
    assert described.startswith("It draws from a buffer")
    assert command.startswith("-s ")
    assert found.advice.remedy is not None
    assert better == f"Better here: {found.advice.remedy.words}:"
    assert better_command == found.advice.remedy.command
    assert len(causes) == len(found.advice.drawbacks)
    assert make_drawn_record(found)["cure"] == found.advice.remedy.record


def test_what_adds_less_lag_is_said_beside_a_remedy_that_adds_much() -> None:
    ahead = "chase+how=share+share=1+ahead=velocity"
    found = advised(ahead, loss=0.05)
    remedy, sooner = found.advice.remedy, found.advice.sooner
    assert remedy is not None
    assert sooner is not None
    assert remedy.later >= 0.05
    assert sooner.later <= 2 / 3 * remedy.later
    assert sooner.after < sooner.before
    assert describe_drawing(found)[3:7] == [
        f"Better here, if lag does no harm: {remedy.words}:", remedy.command,
        f"Better, with less lag: {sooner.words}:", sooner.command,
    ]  # fmt: skip
    assert make_drawn_record(found)["cure_with_less_lag"] == sooner.record
    alone = advised(ahead)
    assert alone.advice.sooner is None
    assert "Nothing that was tried is better with much less lag than that." in describe_drawing(
        alone
    )


@pytest.mark.parametrize("rate", [15, 20, 30, 60])
def test_the_rate_of_ticks_is_that_of_the_packets(rate: int) -> None:
    """The rate does not depend on the rounding of the stamps."""
    block = PacketBlock()
    for number, at in ((number, number / rate) for number in range(30 * rate)):
        packet = Packet(
            (4 * math.sin(at), 4 * math.cos(at), 0.0),
            (4 * math.cos(at), -4 * math.sin(at), 0.0),
            round(at * 20) / 20,
            at + 0.05 + 0.02 * (number * 0.618 % 1),
            sequence=number,
        )
        block.append(packet)
    found = diagnose(make_traffic({"": block}))
    remedies = [finding.remedy for finding in found.findings if finding.cause == "stamps"]
    commands = [remedy.command.partition(" -s ")[0] for remedy in remedies if remedy is not None]
    assert commands == [f"--read time=seq,unit=ticks@{rate}"] * len(commands)
    assert rate <= 20 or commands
