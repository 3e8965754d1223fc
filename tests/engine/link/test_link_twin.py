"""Tests that the compiled link gives the same bits as its plain Python twin."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from support import plain_maths
from support.plain_link import PlainLink

from epic_cli.engine import link as maths
from epic_cli.engine.link import SenderKernel, Tally
from epic_cli.network.link import DISTRIBUTIONS, GilbertElliott, Link, LinkConditions, QueueLimit

PACKETS = 400


def some_conditions(source: random.Random) -> dict[str, Any]:
    """Return random link conditions: about half of the link's words, each with a valid value."""
    share = source.random
    words: dict[str, Any] = {
        "latency": share() * 0.2,
        "jitter": share() * 0.1,
        "distribution": source.choice(DISTRIBUTIONS),
        "correlation": share() * 0.9,
        "loss": share() * 0.5,
        "loss_correlation": share() * 0.9,
        "duplicate": share() * 0.5,
        "reorder": share() * 0.5,
        "reorder_gap": source.randrange(1, 6),
        "reorder_correlation": share() * 0.9,
        "corrupt": share() * 0.3,
        "rate": 10 ** (3 + 3 * share()),
        "queue": source.choice([QueueLimit(share() * 0.3), QueueLimit(packets=3)]),
        "packet_size": source.randrange(1, 2000),
        "in_order": True,
    }
    chosen = {name: value for name, value in words.items() if share() < 0.5}
    if share() < 0.3:
        chosen.pop("loss_correlation", None)
        chosen["loss"] = GilbertElliott(share(), share(), share(), share())
    return chosen


@pytest.mark.parametrize("seed", range(40))
def test_the_same_arrivals_and_counts(seed: int) -> None:
    source = random.Random(seed)
    later = tuple(
        (time, LinkConditions(**some_conditions(source))) for time in (1.0, 1.05, 3.0, 20.0)
    )
    conditions = LinkConditions(**some_conditions(source), later=later[: source.randrange(5)])
    fast, plain = Link(conditions, seed=seed), PlainLink(conditions, seed=seed)
    time = source.random() * 1e6
    for _ in range(PACKETS):
        assert fast.send(time) == plain.send(time)
        time += source.choice([0.0, 0.01, source.random() * 0.05])
    counts = [(link.dropped, link.corrupted, link.clipped) for link in (fast, plain)]
    assert counts[0] == counts[1]


def test_the_same_functions() -> None:
    source = random.Random(1)
    numbers = [source.uniform(-10, 10) * 10 ** source.randrange(-12, 3) for _ in range(4000)]
    numbers += [n / 8 for n in range(-16, 17)] + [5e-324, 1e-300, 700.0, -745.0, -746.0, 1e9 + 0.3]
    assert maths.TURN == plain_maths.TURN
    for x in numbers:
        assert maths.sine_cosine(x) == plain_maths.sine_cosine(x)
        assert maths.exponential(min(x, 709)) == plain_maths.exponential(min(x, 709))
        assert maths.normal_probability(x) == plain_maths.normal_probability(x)
        if x > 0:
            assert maths.logarithm(x) == plain_maths.logarithm(x)


def some_numbers() -> list[float]:
    """Return numbers of many sizes: millionths, half millionths, and the neighbors of both."""
    source = random.Random(2)
    numbers = [0.0, -0.0, 5e-324, 1e300, -1e22, 2.0**53, 0.0000005, 1.0000005, 2.5e-6]
    for _ in range(20_000):
        whole = source.randrange(10 ** source.randrange(1, 17))
        near = whole / 1e6 + source.choice([0.0, 5e-7])
        numbers += [near, math.nextafter(near, 0), -math.nextafter(near, 9e99)]
        numbers.append(source.uniform(-1, 1) * 10 ** source.randrange(-9, 12))
    return numbers


def test_rounding_is_python_s() -> None:
    numbers = some_numbers()
    sender = SenderKernel(None)
    found: list[float] = []
    for n in range(0, len(numbers) - 2, 3):
        x, y, z = numbers[n : n + 3]
        [packet] = sender.packets([("", ((x, y, z), (0.0, 0.0, 0.0), 0, None, None))], x)
        assert packet.time == round(x, 6)
        found += packet.position
    expected = [round(x, 6) + 0.0 for x in numbers]
    assert list(map(repr, found)) == list(map(repr, expected[: len(found)]))


def test_delays_are_kept_to_three_digits() -> None:
    for delay in some_numbers():
        if delay > 0:
            statistics = Tally()
            statistics.count_sent(0.0, (delay,))
            assert statistics.delay(1) == float(f"{delay:.2e}")
