"""The strategies that games drew with are recognized, and a second smoothing on top is found."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from support import movements
from support.known_drawings import match_known
from support.recordings import few_rows

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import list_system_names
from epic_cli.jobs.diagnose.detectors.movement import second_smoothing
from epic_cli.jobs.diagnose.drawn import PARTS, match
from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
from epic_cli.jobs.diagnose.drawn.leaps import measure_calm_error
from epic_cli.jobs.diagnose.mechanism import Mechanism
from epic_cli.jobs.diagnose.redraw import Redraw, apply_low_pass
from epic_cli.metrics.drawn_path import (
    DrawnPath,
    UnusableDrawing,
    make_drawn_paths,
    select_frames,
)
from epic_cli.network.link import LinkConditions

LINK = LinkConditions(0.08, 0.02, "gamma", loss=0.02)

#: Of all strategies, each family has some: so many that a test of them is short.
TAKEN = read_specs(["epic", "dumb-terminal", "lerp", "snapshot", "mirror", "dead-reckoning"])

#: Where nothing fits at once, each is searched.
FEW = read_specs(["dumb-terminal", "lerp"])


def recorded(movement: str = "strafe", seconds: float = 9.0, seed: int = 1) -> PacketBlock:
    return movements.send(movement, 20, seed, seconds, LINK)


def drawn(
    block: PacketBlock, strategy: str, rate: float = 60.0, constant: float = 0.0, late: float = 0.0,
    by_frame: bool = False, until: float = 8.0,
) -> DrawnPath:  # fmt: skip
    """Return a game's drawing with this strategy, at irregular frames, rounded to 1e-4."""
    (candidate,) = read_specs([strategy])
    times = np.arange(0.3, until, 1 / rate) + 0.004
    own = Redraw(block, by_frame).draw(candidate, times)
    shown = np.isfinite(own).all(axis=1)
    positions = apply_low_pass(times[shown], own[shown], constant)
    return DrawnPath(times[shown] + late, np.round(positions, 4), 5e-5)


def explained(
    block: PacketBlock, path: DrawnPath, among: Sequence[StrategySpec] = TAKEN
) -> DrawnMatch:
    return match({"": block}, {"": path}, among)


@pytest.mark.parametrize("by_frame", [False, True])
@pytest.mark.parametrize("movement", ["strafe", "figure-eight"])
@pytest.mark.parametrize(
    "strategy", ["buffer+stamps=arrival+delay=0.13", "chase+how=linear+time=0.07", "geckos"]
)
def test_packets_that_are_read_by_frames_are_told_from_exact_arrivals(
    strategy: str, movement: str, by_frame: bool
) -> None:
    block = recorded(movement)
    found = explained(block, drawn(block, strategy, by_frame=by_frame), read_specs([strategy]))
    assert found.found
    assert found.by_frame is by_frame


def test_an_engine_with_another_setting_that_reads_by_frames_is_found() -> None:
    """Exact arrivals come near to it with no setting."""
    block = recorded("figure-eight")
    path = drawn(block, "gambetta+update_rate=7", by_frame=True)
    found = explained(block, path, read_specs(["unity-ngo", "mirror", "gambetta", "lerp"]))
    assert found.best.candidate.label == "gambetta+update_rate=7"
    assert found.by_frame is True


def test_an_engine_with_three_other_settings_is_found() -> None:
    """Change all three at once: with one or two of them nothing comes near to the frames."""
    block, strategy = (
        recorded("figure-eight", 12),
        "luanti+mode=translator+pace=1+update_interval=0",
    )
    found = match({"": block}, {"": drawn(block, strategy, until=11)}, read_specs(["luanti"]))
    assert found.best.candidate.label == strategy


def test_a_tween_over_a_mean_interval_is_found_in_parts() -> None:
    """Luanti's translator is that."""
    block = recorded("figure-eight")
    path = drawn(block, "luanti+mode=translator+pace=1+update_interval=0")
    assert match({"": block}, {"": path}).best.candidate.label == (
        "chase+how=linear+time=1i+start=last+overshoot=1.5+interval=frames+interval_share=0.1"
    )


@few_rows(1)
@pytest.mark.parametrize(
    ("strategy", "named"),
    [
        ("sbox", ["networked-aframe", "sbox"]),
        ("purrnet", ["purrnet"]),
        ("ss14", ["ss14"]),
    ],
)
def test_systems_are_named(strategy: str, named: list[str]) -> None:
    block = recorded("figure-eight")
    found = match({"": block}, {"": drawn(block, strategy, by_frame=True)})
    told = [spec.name for spec in found.same_as]
    assert [name for name in told if name in list_system_names()] == named


def test_it_does_not_matter_when_packets_are_read_to_what_shows_the_newest() -> None:
    block = recorded()
    for by_frame in (False, True):
        assert explained(block, drawn(block, "lerp", by_frame=by_frame)).by_frame is None


@pytest.mark.parametrize(
    ("strategy", "movement", "rate", "constant"),
    [
        ("snapshot", "strafe", 60, 0.08),
        ("epic", "figure-eight", 30, 0.15),
        ("dead-reckoning", "stop-and-go", 60, 0.04),
        ("lerp", "strafe", 100, 0.25),
    ],
)
def test_a_second_smoothing_is_found_with_its_constant(
    strategy: str, movement: str, rate: float, constant: float
) -> None:
    block = recorded(movement)
    among = read_specs(["dumb-terminal", "lerp", *{strategy} - {"lerp"}])
    found = explained(block, drawn(block, strategy, rate, constant), among)
    assert found.smoothed
    assert found.best.candidate.label == strategy
    assert found.best.constant == pytest.approx(constant, rel=0.1)
    assert found.without.residual > 5 * found.best.residual
    assert find_second_smoothings(found) == 1
    # behind a buffer, one shorter than the time between stamps only rounds the corners at these
    for interval, count in ((1.2 * constant, 0), (0.8 * constant, 1)):
        buffer = Mechanism(found.best.candidate, 0.0, True, interval)
        assert find_second_smoothings(found._replace(mechanism=buffer)) == count


def find_second_smoothings(found: DrawnMatch) -> int:
    return len(second_smoothing.detect(SimpleNamespace(drawn=found)))  # type: ignore[arg-type]


def test_others_that_are_nearer_with_another_delay_do_not_hide_it() -> None:
    """Four strategies come closer to quake3 behind a low-pass, each with another delay."""
    block = recorded()
    among = read_specs(["epic", "spline", "hermite", "geckos", "quake3"])
    found = explained(block, drawn(block, "quake3", 60, 0.06), among)
    assert found.smoothed
    assert found.best.candidate.label == "quake3"
    assert found.best.constant == pytest.approx(0.06, rel=0.01)
    assert found.off < 0.001


def test_a_lerp_in_each_frame_is_a_low_pass() -> None:
    """Alpha 0.2 at 60 Hz: -1/60 s / ln 0.8 = 75 ms."""
    block = recorded()
    path = drawn(block, "lerp")
    shown, smoothed = path.positions[0], []
    for position in path.positions:
        shown = shown + (position - shown) * 0.2
        smoothed.append(shown)
    found = explained(block, path._replace(positions=np.array(smoothed)), FEW)
    assert found.smoothed
    assert found.best.constant == pytest.approx(-1 / 60 / np.log(0.8), rel=0.1)


@pytest.mark.parametrize(
    ("strategy", "rate"),
    [
        ("snapshot+interpolation_time=0.1", 60),
        ("one-euro+mincutoff=0.996", 30),  # nearly the usual 1
        ("projective+smoothing_time=0.48", 30),
        ("unity-ngo+tick_latency=3", 144),
    ],
)
def test_one_setting_of_any_strategy_is_found(strategy: str, rate: float) -> None:
    block = recorded()
    engines = [spec for spec in read_specs() if spec.name not in PARTS]
    found = explained(block, drawn(block, strategy, rate), engines)
    assert found.best.candidate.label == strategy
    assert not found.smoothed
    assert not found.tick


@pytest.mark.parametrize(("tick", "rate"), [(30, 60), (50, 60), (60, 144)])
def test_what_is_drawn_at_ticks_is_told_with_their_rate(tick: float, rate: float) -> None:
    block = recorded("figure-eight")
    times = np.arange(1.0, 8.0, 1 / tick)
    own = Redraw(block).draw(read_specs(["lerp"])[0], times)
    frames = np.arange(1.5, 7.9, 1 / rate) + 0.0013
    shown = own[np.searchsorted(times, frames, side="right") - 1]
    found = explained(block, DrawnPath(frames, np.round(shown, 4), 5e-5))
    assert 1 / found.tick == pytest.approx(tick, rel=0.002)
    assert found.best.candidate.label == "lerp"
    assert not found.smoothed


def test_rows_of_the_demo_are_what_epic_drew() -> None:
    """The rows have no arrival times, and two decimals."""
    block = PacketBlock()
    for number in range(240):
        t = number / 20
        state = (5 * np.cos(t), 5 * np.sin(t), 0.0), (-5 * np.sin(t), 5 * np.cos(t), 0.0)
        block.append(Packet(*state, t))
    times = np.arange(2, 230) / 20
    own = Redraw(block).draw(read_specs(["epic"])[0], times)
    found = explained(block, DrawnPath(times, np.round(own, 2), 0.005))
    assert found.best.candidate.label == "epic"
    assert found.found
    assert not found.smoothed


def test_each_entity_has_its_own_figures() -> None:
    one, other = recorded(seed=1), recorded(seed=2)
    paths = {"a": drawn(one, "snapshot", constant=0.05), "b": drawn(other, "snapshot")}
    found = match({"a": one, "b": other, "c": one}, paths, TAKEN)
    figures = {entity.entity: entity for entity in found.entities}
    assert set(figures) == {"a", "b"}
    if found.smoothed:
        assert figures["a"].constant == pytest.approx(0.05, rel=0.1)
        assert figures["b"].constant < 0.005
    assert figures["a"].lag == pytest.approx(figures["b"].lag + 0.05, abs=0.02)


def test_a_limit_of_extrapolation_is_that_of_an_entity_that_was_away() -> None:
    one = recorded("figure-eight")
    away = movements.alter(one, lambda packet: None if 5 < packet.time < 8 else packet)
    strategy = "buffer+clock=min+delay=0.03+beyond=0.35+low_pass=0.03"
    paths = {"a": drawn(one, strategy), "b": drawn(away, strategy)}
    found = match({"a": one, "b": away}, paths)
    assert found.best.candidate.settings["beyond"] == pytest.approx(0.35, abs=0.01)
    assert all(entity.found for entity in found.entities)


def test_an_entity_of_which_few_frames_differ_is_drawn_alike() -> None:
    one, other = recorded(seed=1), recorded(seed=2)
    strategy = "buffer+clock=min+delay=0.12"
    paths = drawn(one, strategy), drawn(other, strategy)
    paths[1].positions[::100] += 0.3
    found = match_known(strategy, (one, paths[0]), (other, paths[1]))
    assert [entity.found for entity in found.entities] == [True, True]


def rows(*frames: tuple[float, float], entity: str = "") -> dict[str, PacketBlock]:
    block = PacketBlock()
    for time, x in frames:
        block.append(Packet((x, 0.0, 0.0), None, time, entity=entity))
    return {entity: block}


def test_frames_that_cannot_be_used_are_refused_in_a_sentence() -> None:
    many = [(n / 60, n / 10) for n in range(60)]
    for given, entities, told in (
        (rows(*many, entity="a"), {"b": 0, "c": 0}, "it has 'a', the recording has 'b', 'c'"),
        ({}, {"": 0}, "the file has no frames: it needs rows of time and position"),
        (rows(*many), {}, "there are no packets from which it can have been drawn"),
        (rows((0.0, 1.0)), {"": 0}, "it has 1 usable frame of an entity, and 20 are needed"),
        (rows(*many[:30], *many[:30]), {"": 0}, "0 s comes after 0.483333 s"),
        (rows(*((t, np.nan) for t, _ in many)), {"": 0}, "it has 0 usable frames"),
    ):
        with pytest.raises(UnusableDrawing) as error:
            make_drawn_paths(given, entities)
        assert told in str(error.value)


def test_times_that_are_not_those_of_the_packets_are_refused() -> None:
    block = recorded()
    path = drawn(block, "snapshot", late=1000.0)
    with pytest.raises(UnusableDrawing, match=r"the frames are from 1000\.3"):
        explained(block, path)


def test_stamps_in_whole_seconds_are_no_reason_to_fail() -> None:
    block = recorded(seconds=20)
    path = drawn(block, "buffer+stamps=arrival+delay=0.1")
    coarse = movements.alter(block, lambda packet: packet._replace(time=packet.time // 1))
    assert match({"": coarse}, {"": path}).entities


def test_what_does_not_move_is_refused() -> None:
    block = recorded()
    path = drawn(block, "snapshot")
    with pytest.raises(UnusableDrawing, match="nothing moves"):
        explained(block, path._replace(positions=np.zeros_like(path.positions)))


def test_a_low_pass_is_the_lag_frame_by_frame() -> None:
    random = np.random.default_rng(4)
    times = np.cumsum(random.uniform(0.005, 0.05, 300))
    positions = random.normal(0, 1, (300, 3)).cumsum(axis=0)
    shown, expected = positions[0], []
    for before, time, position in zip([times[0], *times], times, positions, strict=False):
        shown = shown + (1 - np.exp(-(time - before) / 0.12)) * (position - shown)
        expected.append(shown)
    expected[0] = positions[0]
    assert apply_low_pass(times, positions, 0.12) == pytest.approx(np.array(expected), abs=1e-9)
    assert apply_low_pass(times, positions, 0.0) is positions


def test_a_sender_with_another_clock_has_no_known_lag() -> None:
    given = recorded(seconds=6.0)
    block = PacketBlock()
    for number in range(len(given)):
        packet = given[number]
        block.append(packet._replace(time=packet.time + 500))
    path = drawn(block, "gambetta")
    found = match({"": block}, {"": path}, read_specs(["gambetta", "lerp"]))
    assert found.best.candidate.label == "gambetta"
    assert found.found
    assert np.isnan(found.lag)


def test_a_teleport_does_not_hide_how_late_it_is() -> None:
    """The drawing lags 200 ms on straight lines, but shows a teleport of 60 units after 70 ms."""
    given, block = recorded(seconds=6.0), PacketBlock()
    for number in range(len(given)):
        packet = given[number]
        x, y, z = packet.position
        block.append(packet._replace(position=(x + 60 * (packet.time > 3), y, z)))
    states = sorted((index.time, *index.position) for index in movements.unpack(block))
    stamps, *axes = np.array(states).T
    times = np.arange(0.5, 6.0, 1 / 60)
    far = times - 0.07 >= stamps[stamps > 3][0]
    axes[0] = axes[0] - 60 * (stamps > 3)
    positions = np.stack([np.interp(times - 0.2, stamps, axis) for axis in axes], axis=1)
    positions[far, 0] += 60
    found = match({"": block}, {"": DrawnPath(times, positions, 1e-9)}, FEW)
    assert found.lag == pytest.approx(0.2, abs=0.002)


def test_the_error_without_leaps_is_a_share_of_the_steps_of_what_moves() -> None:
    """A player stands for most of the time, walks by 0.1 a packet, and teleports once."""
    stamps, times = np.arange(400) / 20, np.arange(0, 19.9, 1 / 60)
    x = np.concatenate([np.zeros(370), 0.1 * np.arange(1, 21), np.full(10, 52.0)])
    positions = np.stack([x, 0 * x, 0 * x], axis=1)
    frames = SimpleNamespace(
        times=times,
        drawn=np.stack([np.interp(times, stamps, axis) for axis in positions.T], axis=1),
        counted=slice(None),
        compute_differences=lambda _: np.tile([0.05, 0.0, 0.0], (len(times), 1)),
    )
    error = measure_calm_error(frames, stamps, positions, None)  # type: ignore[arg-type]
    assert error == pytest.approx(0.5)


def test_an_entity_that_cannot_be_used_does_not_spoil_the_others() -> None:
    block = recorded(seconds=6.0)
    path = drawn(block, "lerp")
    paths = {"a": path, "b": path._replace(times=path.times + 1000), "c": path}
    few = PacketBlock()
    few.append(Packet((0.0, 0.0, 0.0), None, 0.0, 0.1))
    found = match({"a": block, "b": block, "c": few}, paths, FEW)
    assert [entity.entity for entity in found.entities] == ["a"]
    wild = path.positions.copy()
    wild[::7] = 1e12
    assert not match({"a": block}, {"a": path._replace(positions=wild)}, FEW).smoothed


@pytest.mark.parametrize(
    ("begin", "length", "remedy"),
    [(500.0, 20.0, "offset=SECONDS"), (9.0, 20_000.0, "unit="), (500.0, 0.02, "unit=")],
)
def test_frames_at_another_time_have_another_clock_or_unit(
    begin: float, length: float, remedy: str
) -> None:
    times = np.linspace(0.0, 20.0, 1200)
    path = DrawnPath(times, np.zeros((1200, 3)), 1e-3)
    with pytest.raises(UnusableDrawing, match=remedy):
        select_frames(path, begin + 50, begin + 50 + length)
