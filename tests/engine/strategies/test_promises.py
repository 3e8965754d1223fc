"""Tests of the guarantees that every registered strategy makes."""

import math
import random
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pytest
from support.places import GOLDEN
from support.variants import VARIANTS, Variant

from epic_cli import Declaration, Packet, Sample, replay, strategies, strategy
from epic_cli.engine.strategies import list_remote_names

#: What each says of itself, with the promises that its original does not keep.
DECLARED = {declaration.name: declaration for declaration in strategies()}

NAMES = list(DECLARED)


def those(which: Callable[[Declaration], bool]) -> list[str]:
    """Return the names of the strategies that declare this property."""
    return [name for name, declared in DECLARED.items() if which(declared)]


SPEED = (2.0, -3.0, 0.5)


def at_constant_velocity(time: float) -> tuple[float, float, float]:
    x, y, z = SPEED
    return (10 + x * time, 20 + y * time, 30 + z * time)


def packet(time: float, arrival: float | None = None, teleport: bool = False) -> Packet:
    return Packet(at_constant_velocity(time), SPEED, time, arrival, teleport=teleport)


def packets(count: int, period: float = 0.05, latency: float = 0.08) -> list[Packet]:
    """Return packets of a steady sender over a steady network."""
    return [packet(k * period, k * period + latency) for k in range(count)]


class Straight(NamedTuple):
    """A sample's distance along the straight path, and its distance from the path."""

    time: float
    along: float
    off: float


def straight(sample: Sample) -> Straight:
    """Return when the truth passed the drawn position, and its distance from the path."""
    begin, squared = at_constant_velocity(0), math.fsum(v * v for v in SPEED)
    moved = [p - b for p, b in zip(sample.position, begin, strict=True)]
    along = math.fsum(w * v for w, v in zip(moved, SPEED, strict=True)) / squared
    return Straight(sample.time, along, math.dist(sample.position, at_constant_velocity(along)))


def numbers(samples: list[Sample]) -> list[float]:
    return [value for sample in samples for value in (*sample.position, *sample.velocity)]


@pytest.mark.parametrize("name", NAMES)
def test_a_steady_line_is_drawn_as_that_line_with_one_lag(name: str) -> None:
    drawn = [straight(s) for s in replay(packets(200), name) if 6 < s.time < 9.5]
    lags = [sample.time - sample.along for sample in drawn]
    assert max(sample.off for sample in drawn) < 1e-4
    wavering = DECLARED[name].lag_varies
    assert max(lags) - min(lags) < max(1e-4, wavering.seconds if wavering else 0)
    assert -0.3 < min(lags) < 1.0


every = pytest.mark.parametrize("variant", VARIANTS, ids=str)


@every
def test_nothing_is_drawn_before_the_first_packet(variant: Variant) -> None:
    sample = variant.make().read(1.0)
    assert sample == Sample(1.0, (0, 0, 0), (0, 0, 0), "none")


def hostile() -> Iterator[Packet]:
    """Yield packets with duplicates, late packets, equal stamps, a long gap and huge values.

    The packets are in order of arrival.
    """
    for k in range(20):
        yield packet(k * 0.05, k * 0.05 + 0.08)
    yield packet(0.95, 1.04)  # a duplicate
    yield packet(0.5, 1.05)  # late
    yield Packet((7, 7, 7), SPEED, 0.95, 1.06)  # the timestamp of another state
    yield packet(11.0, 11.08)  # after 10 s of nothing
    yield packet(11.05, 11.08)  # with the one before it
    yield Packet((1e15, -1e15, 1e15), (1e9, 1e9, -1e9), 11.1, 11.2)
    yield Packet((-1e15, 1e15, 0), (-1e9, 0, 0), 11.15, 11.25)
    yield packet(11.2, 11.3)
    yield packet(11.2 - 1e-9, 11.35)
    yield packet(11.25, 11.35 + 1e-12)


#: Delay buffers and filters keep what would overflow elsewhere: the largest numbers that there are.
BUFFERS = {"gambetta", "geckos", "james-frowen", "mirror", "quake3", "source", "unity-ngo"}
FILTERS = {"alpha-beta", "dis", "kalman", "one-euro", "projective", "robocat", "spline", "unreal"}


def chaos() -> Iterator[Packet]:
    """Yield packets with equal timestamps, duplicates, gaps, and huge and tiny numbers.

    Timestamps begin at 1e9; some packets are late.
    """
    rolls = random.Random(11)
    timestamp, arrival = 1e9, 1e9
    for k in range(300):
        timestamp += rolls.choice((0.0, 0.05, -0.1, 10.0, 1e-7, 0.1))
        arrival += rolls.choice((0.0, 1e-9, 0.05, 0.05, 3.0))
        size = rolls.choice((0.0, 1.0, 1e3, 1e-300, 1e12, 1e150, 1e300, 1.7e308))
        x, y, z = (rolls.choice((-1, 1)) * size for _ in range(3))
        yield Packet((x, y, z), (z, -x, y), timestamp, arrival, teleport=k % 50 == 49)


def extremes(seed: int) -> Iterator[Packet]:
    """Yield packets with steps from the smallest number to days, and positions from 0 to 1e12."""
    dice = random.Random(seed)
    step = dice.choice((5e-324, 1e-310, 1e-310, 1e-300, 1e-30, 1e-9, 1e6))
    timestamp, arrival = dice.choice((0.0, 0.0, 0.0, 1e5)), 0.05

    def vector() -> tuple[float, float, float]:
        x, y, z = (dice.choice((-1, 1)) * dice.choice((0.0, 1.0, 1e12, 1e12)) for _ in range(3))
        return (x, y, z)

    for _ in range(30):
        timestamp += dice.choice((step, step, 2 * step, 0.0, dice.choice((step, 0.05))))
        arrival += dice.choice((step, 0.05, 0.05, 0.0))
        velocity = vector() if dice.random() < 0.7 else None
        yield Packet(vector(), velocity, timestamp, arrival, teleport=dice.random() < 0.05)


def on_x(timestamp: float, arrival: float, x: float, speed: float) -> Packet:
    return Packet((x, 0.0, 0.0), (speed, 0.0, 0.0), timestamp, arrival)


def nasty(variant: Variant) -> Iterator[Iterable[Packet]]:
    """Return several difficult streams of packets, in order of arrival."""
    dice, huge = random.Random(11), 1e300
    yield hostile()
    yield [on_x(*row) for row in ((1, 1, 10, 10), (1, 1, 5, 10), (1, 1.02, -5, 10))]
    yield [on_x(t, 3 + k / 20, 10 * t, 10) for k, t in enumerate((1.0, 1.2, 1.1, 0.1, 1.15))]
    yield [on_x(t, a, 10 * t, 10) for t, a in ((5, 0), (1, 4), (5, 4), (7, 40), (7.01, 40))]
    yield [
        on_x(dice.uniform(0, 5), k / 50, dice.uniform(-9, 9), dice.uniform(-9, 9))
        for k in range(400)
    ]
    for begin in (1e9, -1e9):
        yield [on_x(begin + k / 20, k / 20, 1.0, 10.0) for k in range(9)]
    for seed in range(10):
        yield extremes(seed)
    if variant.name in FILTERS:
        yield chaos()
    if variant.name in BUFFERS and variant.settings.get("trajectory") != "gravity":
        for begin, step in ((0.0, 1e-310), (-4 * huge, huge)):
            yield [on_x(begin + k * step, k / 20, 1.0, 10.0) for k in range(9)]
        yield [
            Packet((huge * (-1) ** k, -huge, 0.0), (huge, huge, -huge), k / 20, k / 20 + 0.1)
            for k in range(40)
        ]


@every
def test_finite_packets_never_give_what_is_not_finite_and_reset_makes_it_as_new(
    variant: Variant,
) -> None:
    used = variant.make()
    for stream in nasty(variant):
        new, waiting = variant.make(), list(stream)
        used.reset()
        for now in sorted({p.arrival + d for p in waiting for d in (0, 0.013, 1.0, 9.0)}):  # type: ignore[operator]
            while waiting and (waiting[0].arrival or 0.0) <= now:
                incoming = waiting.pop(0)
                assert used.update(incoming, now) == new.update(incoming, now)
            sample = used.read(now)
            assert all(map(math.isfinite, numbers([sample]))), sample
            assert sample == new.read(now)


@pytest.mark.parametrize("name", NAMES)
def test_a_first_packet_at_a_late_hour_is_like_any_other(name: str) -> None:
    late = [
        Packet(at_constant_velocity(k * 0.05), SPEED, 1e9 + k * 0.05, 1e9 + k * 0.05 + 0.08)
        for k in range(60)
    ]
    samples = list(replay(late, name))
    assert all(map(math.isfinite, numbers(samples)))
    assert samples[0].time >= 1e9


NOT_FINITE = [
    Packet((math.nan, 0, 0), (0, 0, 0), 0.2),
    Packet((0, math.inf, 0), (0, 0, 0), 0.2),
    Packet((0, 0, 0), (0, -math.inf, 0), 0.2),
    Packet((0, 0, 0), (0, 0, math.nan), 0.2),
    Packet((0, 0, 0), (0, 0, 0), math.nan),
    Packet((0, 0, 0), (0, 0, 0), math.inf),
    Packet((0, 0, 0), (0, 0, 0), -math.inf),
]


@every
def test_a_packet_that_is_not_finite_is_discarded_and_changes_nothing(variant: Variant) -> None:
    if DECLARED[variant.name].takes_any_number:
        return  # it spreads it as its original does: the next test
    disturbed, quiet = variant.make(), variant.make()
    for k in range(10):
        now = k * 0.05 + 0.08
        for drawing in (disturbed, quiet):
            drawing.update(packet(k * 0.05), now)
        for wrong in NOT_FINITE:
            assert not disturbed.update(wrong, now)
        assert disturbed.read(now) == quiet.read(now)


@pytest.mark.parametrize("name", those(lambda one: one.takes_any_number))
def test_the_ones_that_take_any_number_spread_it_as_their_originals_do(name: str) -> None:
    one = strategy(name)
    one.update(packet(0.0), 0.0)
    assert one.update(Packet((math.nan, 0, 0), (0, 0, 0), 0.1), 0.1)
    assert math.isnan(one.read(0.2).position[0])


FADINGS = ("linear", "exponential", "frames", "overshooting", "spring", "steps")

#: One falls from where it is put, the others fade a correction that is marked as a teleport.
MOVES_ON = ("quake3-trajectory=gravity", *(f"visual-offset-fading={how}" for how in FADINGS))


@pytest.mark.parametrize("variant", [v for v in VARIANTS if str(v) not in MOVES_ON], ids=str)
def test_a_teleport_is_shown_at_once_and_the_past_forgotten(variant: Variant) -> None:
    moved, new = variant.make(), variant.make()
    for k in range(40):
        moved.update(packet(k * 0.05), k * 0.05 + 0.08)
        moved.read(k * 0.05 + 0.08)
    there = Packet((1000.0, -500.0, 250.0), (0.0, 0.0, 0.0), 2.0, teleport=True)
    assert moved.update(there, 2.08)
    assert moved.read(2.1).position == pytest.approx(there.position)
    # from then on it draws what one draws that knows nothing of the time before but its frames
    new.read(39 * 0.05 + 0.08)
    new.update(there, 2.08)
    new.read(2.1)
    for k in range(40):
        timestamp = 2.05 + k * 0.05
        still = Packet(there.position, there.velocity, timestamp)
        assert moved.update(still, timestamp + 0.08) == new.update(still, timestamp + 0.08)
        assert moved.read(timestamp + 0.09) == new.read(timestamp + 0.09)
        assert moved.read(timestamp + 0.09).position == pytest.approx(there.position)


@every
def test_a_teleport_that_was_overtaken_does_not_move_the_entity_back(variant: Variant) -> None:
    one, other = variant.make(), variant.make()
    for k in range(10):
        one.update(packet(k * 0.05), k * 0.05 + 0.08)
        other.update(packet(k * 0.05), k * 0.05 + 0.08)
    assert not one.update(Packet((9e3, 0, 0), SPEED, 0.2, teleport=True), 0.55)
    assert one.read(0.6) == other.read(0.6)


@pytest.mark.parametrize("name", those(lambda one: one.waits_for_two))
def test_the_ones_that_wait_for_two_states_draw_nothing_of_one(name: str) -> None:
    one = strategy(name)
    one.update(Packet((100.0, 200.0, 300.0), (0.0, 0.0, 0.0), 0.0), 0.0)
    assert one.read(9.0).status == "none"


@pytest.mark.parametrize("name", those(lambda one: not (one.begins_at_origin or one.waits_for_two)))
def test_the_first_packet_is_where_it_begins(name: str) -> None:
    one = strategy(name)
    one.update(Packet((100.0, 200.0, 300.0), (0.0, 0.0, 0.0), 0.0), 0.0)
    assert one.read(0.0).position == pytest.approx((100.0, 200.0, 300.0))


@pytest.mark.parametrize("name", those(lambda one: one.begins_at_origin))
def test_the_ones_that_begin_at_the_origin_do(name: str) -> None:
    one = strategy(name)
    one.update(Packet((100.0, 200.0, 300.0), (0.0, 0.0, 0.0), 0.0), 0.0)
    assert one.read(0.0).position == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", list_remote_names())
def test_every_strategy_has_golden_rows_on_two_recordings(name: str) -> None:
    for recording in ("turn", "jitter"):
        table = (GOLDEN / "strategies" / recording / "expected.tsv").read_text()
        assert table.count(f"\t{name}\n") > 20
