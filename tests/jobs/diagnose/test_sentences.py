"""Check each kind of sentence on drawn frames against frames that other code draws."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from support.known_drawings import match_known
from support.movements import block
from support.recordings import few_of, seeds

from epic_cli import Packet
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.jobs.diagnose.drawn import match
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.frames import make_frames
from epic_cli.jobs.diagnose.mechanism.observations import observe_frames
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.jobs.diagnose.remedies import RemedyTrial
from epic_cli.jobs.diagnose.remedies.chases import ChaseFaults
from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
from epic_cli.jobs.diagnose.report.alternatives import write_strategy_option
from epic_cli.jobs.diagnose.report.drawings import describe_drawing
from epic_cli.jobs.diagnose.report.records import make_drawn_record
from epic_cli.metrics.drawn_path import DrawnPath

Floats = NDArray[np.float64]

#: A drawing: what a frame shows, by what was drawn, the packets that have come, and the time.
Draw = Callable[[Floats, list[Packet], float, float], Floats]


def send(random: np.random.Generator, rate: float = 20) -> list[Packet]:
    """Return 40 s of packets, 60 ms late with jitter, of an entity that turns at random."""
    times = np.arange(0, 40, 1 / rate)
    turns = np.where(random.random(len(times)) < 0.1, random.uniform(-2, 2, len(times)), 0.02)
    course = np.cumsum(turns)
    steps = 5 / rate * np.stack((np.cos(course), np.sin(course), 0 * course), axis=1)
    places, late = np.cumsum(steps, axis=0), 0.06 + random.gamma(4, 0.003, len(times))
    return [
        Packet((x, y, z), None, time, time + delay)
        for (x, y, z), time, delay in zip(places.tolist(), times, late, strict=True)
    ]


def draw(packets: list[Packet], times: Floats, step: Draw, behind: bool = False) -> Floats:
    """Draw frames; those ``behind`` do not know a packet that comes at their time."""
    order = sorted(packets, key=lambda packet: packet.arrival or 0)
    arrivals = np.array([packet.arrival for packet in order])
    known = np.searchsorted(arrivals, times, side="left" if behind else "right")
    place, drawn = np.array(order[0].position), []
    for time, count, lasts in zip(times, known, np.diff(times, prepend=times[0]), strict=True):
        if count:
            place = step(place, order[: int(count)], float(time), float(lasts))
        drawn.append(place)
    return np.array(drawn)


def say(packets: list[Packet], times: Floats, drawn: Floats) -> str:
    found = match({"": block(packets)}, {"": DrawnPath(times, np.round(drawn, 6), 5e-7)})
    return " ".join(describe_drawing(found))


def show_newest(
    place: Floats, known: list[Packet], _now: float, _lasts: float, *, chance: np.random.Generator
) -> Floats:
    """Show the newest state, but one frame in a hundred stops on the way."""
    return place + (np.array(known[-1].position) - place) * (chance.random() > 0.01 or 0.5)


@pytest.mark.parametrize("seed", seeds(2, 1))
def test_what_nearly_always_shows_the_newest_state_is_not_smoothed(seed: int) -> None:
    random = np.random.default_rng(seed)
    packets, times = send(random), 0.3 + np.cumsum(random.uniform(0.014, 0.02, 1200))
    said = say(packets, times, draw(packets, times, partial(show_newest, chance=random)))
    assert "draws the newest state without any smoothing" in said
    assert "It jumps with each packet" in said
    share = re.match(r"In ([\d.]+)% of the frames that move", said)
    assert share is None or float(share[1]) > 97


def ease_by_time(place: Floats, known: list[Packet], _now: float, lasts: float) -> Floats:
    """Go a share of the rest that depends on the frame's duration, as no usual ease does."""
    rest = np.array(known[-1].position) - place
    return place + rest * (1 - (2 ** (-10 * lasts) - 2**-10) / (1 - 2**-10))


@pytest.mark.parametrize("frame", few_of([1 / 60, 1 / 30], 1))
def test_even_frames_do_not_tell_that_a_drawing_depends_on_them(frame: float) -> None:
    packets, times = send(np.random.default_rng(1)), np.arange(0.3, 20, frame)
    said = say(packets, times, draw(packets, times, ease_by_time))
    assert "It depends on the frame rate" not in said


def freeze_late(place: Floats, known: list[Packet], now: float, _lasts: float) -> Floats:
    """Draw 50 ms behind arrivals, in lines; freeze where nothing newer has come."""
    at = now - 0.05
    newer = next((k for k, packet in enumerate(known) if (packet.arrival or 0) > at), 0)
    if not newer:
        return place
    begin, end = known[newer - 1], known[newer]
    since = begin.arrival or 0.0
    share = (at - since) / ((end.arrival or 0.0) - since)
    first = np.array(begin.position, dtype=np.float64)
    return first + share * (np.array(end.position) - first)


@pytest.mark.parametrize("seed", seeds(2, 1))
def test_the_printed_command_draws_what_is_said_of_it(seed: int) -> None:
    """Packets come at frames: read before them, or behind."""
    random = np.random.default_rng(seed)
    times = 0.3 + np.cumsum(np.where(random.random(2400) < 0.06, 2 / 75, 1 / 75))
    silent = np.repeat(random.random(400) < 0.1, 6)  # what is lost, comes six in a row
    packets = [
        packet._replace(arrival=float(times[np.searchsorted(times, packet.arrival or 0.0)]))
        for packet, lost in zip(send(random, 60), silent, strict=True)
        if packet.time < times[-1] - 0.1 and not lost
    ]
    said = say(packets, times, draw(packets, times, freeze_late))
    assert "(exact)" in said
    assert "read when it has been drawn" not in said
    empty = re.search(r"\(([\d.]+) % of the frames\)", said)
    arrivals = np.sort([packet.arrival or 0.0 for packet in packets])
    newest = arrivals[np.searchsorted(arrivals, times, side="right") - 1]
    true = float((times - 0.05 >= newest)[times > 1.3].mean())
    assert true > 0.02
    assert (float(empty[1]) / 100 if empty else 0.0) == pytest.approx(true, abs=0.03)


def observe(packets: list[Packet], times: Floats, drawn: Floats) -> dict[str, Mapping[str, float]]:
    order = sorted(packets, key=lambda packet: packet.arrival or 0)
    arrivals, stamps = (np.array([getattr(p, key) for p in order]) for key in ("arrival", "time"))
    places = np.array([packet.position for packet in order])
    none = np.full_like(places, np.nan)
    frames = make_frames(arrivals, stamps, places, none, times, drawn)
    return {each.name: each.values for each in observe_frames(frames)}


def lead(place: Floats, known: list[Packet], now: float, _lasts: float) -> Floats:
    """Show where the last step leads until now, and a quarter more."""
    if len(known) < 2:
        return place
    begin, end = sorted(known[-8:], key=lambda packet: packet.time)[-2:]
    way = np.array(end.position, dtype=np.float64) - begin.position
    return end.position + 1.25 * way / (end.time - begin.time) * (now - end.time)


def go_straight(place: Floats, known: list[Packet], _now: float, lasts: float) -> Floats:
    """Go half a unit a second, and faster from farther, straight to the newest state."""
    rest = np.array(known[-1].position, dtype=np.float64) - place
    far = float(np.linalg.norm(rest))
    return place + rest * min(1.0, (0.5 + far**2) * lasts / max(far, 1e-9))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_frames_that_nothing_draws_is_so(seed: int) -> None:
    random = np.random.default_rng(seed)
    packets, times = send(random, 10), 0.4 + np.cumsum(random.uniform(0.006, 0.02, 2000))
    leading = observe(packets, times, draw(packets, times, lead))
    assert leading["ahead"]["share"] > 0.9
    assert "stands" not in leading
    straight = draw(packets, times, go_straight)
    seen = observe(packets, times, straight)
    assert "turns-at-packets" in seen
    assert "ahead" not in seen
    held = straight[np.searchsorted(times, np.maximum(times - times % 0.05, times[0]))]
    still = (np.diff(held[times > 2], axis=0) == 0).all(axis=1).mean()
    assert observe(packets, times, held)["stands"]["share"] == pytest.approx(still, abs=0.02)
    # 50 ms late on the path of the packets, which wanders 0.1 of a step to either side
    stamps, places = np.array([p.time for p in packets]), np.array([p.position for p in packets])
    on_path = np.stack([np.interp(times - 0.25, stamps, row) for row in places.T], axis=1)
    beside = on_path + 0.05 * np.sin(7 * times)[:, None] * [0, 0, 1]
    near = observe(packets, times, beside)["near-path"]
    late = 0.25 - min((p.arrival or 0) - p.time for p in packets)
    assert near["low"] - 0.02 < late < near["high"] + 0.02
    assert near["off"] == pytest.approx(0.1, abs=0.03)


def chase_or_snap(place: Floats, known: list[Packet], _now: float, lasts: float) -> Floats:
    """Go to the newest state within 120 ms or so, at once from farther than 20."""
    rest = np.array(known[-1].position, dtype=np.float64) - place
    return place + rest * (1.0 if np.linalg.norm(rest) > 20 else 1 - math.exp(-lasts / 0.12))


@pytest.mark.parametrize("seed", range(4))
def test_teleports_change_neither_lag_nor_step_error(seed: int) -> None:
    random = np.random.default_rng(seed)
    packets, times = send(random), 0.4 + np.cumsum(random.uniform(0.01, 0.02, 2400))
    moved = np.cumsum(random.random(len(packets)) < 0.01) % 3 * 30.0
    leaping = [
        packet._replace(position=(packet.position[0] + far, *packet.position[1:]))
        for packet, far in zip(packets, moved, strict=True)
    ]
    measured = []
    for sent in (packets, leaping):
        drawn = draw(sent, times, chase_or_snap)
        found = TrialRecording(block(sent), times, read_spec("snapshot"), drawn).before
        assert found is not None
        assert found.knows_lag
        measured.append(found.compute_values(slice(None)))
    calm, leaps = measured
    assert leaps.lag == pytest.approx(calm.lag, abs=0.005)
    assert leaps.step_error == pytest.approx(calm.step_error, rel=0.1)
    assert leaps.jumps < calm.jumps + 1


def test_a_snap_distance_is_told_as_far_as_the_frames_tell_it() -> None:
    random = np.random.default_rng(5)
    packets, times = send(random), 0.4 + np.cumsum(random.uniform(0.01, 0.02, 2400))
    moved = np.cumsum(random.random(len(packets)) < 0.01) % 2 * 30.0
    packets = [
        packet._replace(position=(packet.position[0] + far, *packet.position[1:]))
        for packet, far in zip(packets, moved, strict=True)
    ]
    drawn = np.round(draw(packets, times, chase_or_snap), 6)
    found = match({"": block(packets)}, {"": DrawnPath(times, drawn, 5e-7)})
    words = " ".join(describe_drawing(found))
    command = re.search(r"-s (chase\S+)", words)
    ends = re.search(r"Any snap from (\S+) to (\S+) draws the same here", words)
    assert command is not None
    assert ends is not None
    low, high = map(float, ends.groups())
    assert low < 20 < high
    assert make_drawn_record(found)["snap_range"] == [low, high]
    settings = read_spec(command[1]).settings
    shown = [
        Redraw(block(packets)).draw(StrategySpec("chase", {**settings, "snap": snap}), times)
        for snap in (low, 20.0, high)
    ]
    assert np.array_equal(shown[0], shown[1], equal_nan=True)
    assert np.array_equal(shown[2], shown[1], equal_nan=True)


def test_an_odd_pace_along_the_path_of_rare_packets_is_described() -> None:
    random = np.random.default_rng(1)
    stamps, turns = 1.2 * np.arange(60), random.uniform(0, 7, 60)
    places = np.cumsum(3 * np.stack((np.cos(turns), np.sin(turns), 0 * turns), axis=1), axis=0)
    packets = [
        Packet((x, y, z), None, stamp, stamp + late)
        for stamp, (x, y, z), late in zip(
            stamps.tolist(), places.tolist(), random.uniform(0.05, 0.35, 60).tolist(), strict=True
        )
    ]
    times = np.arange(2.0, 70, 1 / 60)
    sent = times - 1.6 + 0.1 * np.sin(1.7 * times)
    drawn = np.stack([np.interp(sent, stamps, row) for row in places.T], axis=1)
    assert "Nearly all frames lie on the straight lines" in say(packets, times, drawn)


@pytest.mark.parametrize("places", ["newest", "aside"])
def test_what_the_frames_that_are_not_explained_show_is_told(places: str) -> None:
    random = np.random.default_rng(6)
    packets, times = send(random), 0.4 + np.cumsum(random.uniform(0.01, 0.02, 2400))
    drawn = draw(packets, times, ease_by_time)
    newest = draw(packets, times, lambda _place, known, *_: np.array(known[-1].position))
    others = random.random(len(times)) < 0.05
    drawn[others] = newest[others] + (0 if places == "newest" else [0, 0, 3])
    words = say(packets, times, drawn)
    assert "% of the moving frames" in words
    assert ("The other frames show the newest state." in words) == (places == "newest")


@pytest.mark.parametrize("frame", [1 / 30, 1 / 75])
@pytest.mark.parametrize("how", ["lerp+time=0.05", "share+share=0.4", "exponential+time=0.03"])
def test_how_far_a_chase_is_behind_its_goal_is_what_it_draws(how: str, frame: float) -> None:
    """Packets come with each frame of an entity that goes straight on, so the goal is now."""
    times = np.arange(1, 5, frame)
    packets = [Packet((5 * time, 0.0, 0.0), None, time, time) for time in times.tolist()]
    spec = read_spec(f"chase+how={how}")
    shown = Redraw(block(packets)).draw(spec, times)
    frames = make_frames(times, times, shown, np.zeros_like(shown), times, shown)
    lag = times[-1] - shown[-1, 0] / 5
    assert ChaseFaults(spec, frames).lag == pytest.approx(lag, abs=1e-6)


def test_costs_of_a_remedy_follow_its_gains() -> None:
    changes = (("lag", 0.1, 0.15), ("jumps", 5.0, 1.0))
    trial = RemedyTrial("-s epic", "step_error", 0.3, 0.1, changes)
    assert trial.words == "step error 0.30 -> 0.10, jumps 5 -> 1 a minute, but 50 ms later"


def test_a_clock_offset_keeps_the_digits_that_are_drawn() -> None:
    spec = StrategySpec("chase", {"age_offset": -250.0042, "time": 0.123456})
    assert write_strategy_option(spec, 3) == "-s chase+age_offset=-250.0042+time=0.123"


def test_packets_that_tell_a_goal_are_no_path_to_try_remedies_by() -> None:
    random = np.random.default_rng(5)
    clicks = np.cumsum(random.uniform(0.4, 2.5, 50))
    packets = [
        Packet((x, y, 0.0), None, float(time), float(time) + 0.05)
        for time, (x, y) in zip(clicks, random.uniform(-9, 9, (50, 2)).tolist(), strict=True)
    ]
    times = np.arange(clicks[0], clicks[-1], 1 / 60)

    def ease(place: Floats, known: list[Packet], _now: float, lasts: float) -> Floats:
        return place + (1 - math.exp(-lasts / 0.15)) * (np.array(known[-1].position) - place)

    said = say(packets, times, draw(packets, times, ease))
    assert "with a time constant of 150 ms" in said
    assert "may tell where it goes" in said
    assert "Better here" not in said


def test_probable_is_what_is_near_far_ahead_and_by_few_numbers() -> None:
    packets, times = send(np.random.default_rng(3)), np.arange(1, 39, 1 / 60)
    drawn = Redraw(block(packets)).draw(read_spec("buffer+delay=0.1"), times)
    found = match_known("buffer+delay=0.1", (block(packets), DrawnPath(times, drawn, 5e-7)))
    assert found.mechanism is not None
    plain = {"delay": 0.1}
    fitted = {"clock": "mean", "clock_time": 13.0, "delay": 0.1, "jitter_margin": 2.0}
    for settings, lead, off, begin in (
        (plain, 2.0, 0.03, "Probably it draws from a buffer"),
        (plain, 1.2, 0.03, "Not understood: off by 3 % of a step. Nearest: it draws"),
        (plain, 2.0, 0.06, "Not understood: off by 6 % of a step. Nearest: it draws"),
        (fitted, 2.0, 0.03, "Not understood: off by 3 % of a step. Nearest: it draws"),
    ):
        spec = StrategySpec("buffer", settings)
        near = found._replace(
            best=FittedStrategy(spec, residual=off * found.step),
            mechanism=found.mechanism._replace(strategy=spec, lead=lead), calm=None, rest_off=None,
        )  # fmt: skip
        assert describe_drawing(near)[0].startswith(begin)
        assert any(said.startswith("If the game reads") for said in describe_drawing(near))
