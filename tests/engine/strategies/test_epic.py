"""Tests of the demo's interpolator against an independent reimplementation."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.arrival_oracle import PlainEpic
from support.oracle import f32
from support.recordings import draw_samples, examples

from epic_cli import Packet, replay, strategy

ORIGIN = (0.0, 0.0, 0.0)


NUMBERS = st.floats(-1e6, 1e6, width=32)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
TIMESTAMPS = st.floats(-3, 6) | st.integers(-2, 60).map(lambda n: n / 10)
PACKETS = st.tuples(VECTORS, VECTORS, TIMESTAMPS, st.integers(0, 5)).map(
    lambda parts: Packet(*parts[:3], teleport=not parts[3])
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "calc_ahead": st.floats(0, 1),
        "display_behind": st.sampled_from((0.0, 0.00009, 0.0001, 0.00011, 0.2)) | st.floats(0, 1),
        "slop_time": st.floats(0, 1),
    },
)


@given(packets=st.lists(PACKETS, min_size=1, max_size=12), settings=SETTINGS)
@examples(400)
def test_the_compiled_strategy_is_the_plain_one(
    packets: list[Packet], settings: dict[str, Any]
) -> None:
    compiled = list(replay(packets, "epic", **settings))
    assert repr(compiled) == repr(list(replay(packets, lambda: PlainEpic(**settings))))
    timed = [packet._replace(arrival=index / 9) for index, packet in enumerate(packets)]
    compiled = list(replay(timed, "epic", **settings))
    assert repr(compiled) == repr(list(replay(timed, lambda: PlainEpic(**settings))))


@given(packets=st.lists(PACKETS, max_size=12), settings=SETTINGS)
@examples(100)
def test_update_says_whether_the_packet_was_taken(
    packets: list[Packet], settings: dict[str, Any]
) -> None:
    compiled, plain = strategy("epic", **settings), PlainEpic(**settings)
    for packet in packets:
        assert compiled.update(packet, 0.0) is plain.update(packet, 0.0)


def test_a_line_starts_at_the_first_packet_if_it_is_told_to() -> None:
    text = b"7,8,9 / 1,0,0 / 0\n"
    assert draw_samples(text)[0].position[1] == pytest.approx(2)
    first = draw_samples(text, start="packet")[0]
    assert first.position == (f32(7 + 0.05), 8, 9)
    assert first.velocity == (1, 0, 0)


def test_before_the_first_packet_it_draws_the_origin_as_the_demo_does() -> None:
    made = strategy("epic")
    assert not made.update(Packet((1.0, 2.0, 3.0), ORIGIN, -2.0), 0.0)
    assert made.read(-0.6)[1:4] == (ORIGIN, ORIGIN, "extrapolated")
    assert made.read(0.0)[1:4] == (ORIGIN, ORIGIN, "none")


@given(interval=st.floats(0.02, 0.2), latency=st.floats(0, 0.4), display_behind=st.floats(0.1, 0.3))
@examples(60)
def test_it_diverges_beyond_twice_display_behind(
    interval: float, latency: float, display_behind: float
) -> None:
    # the last row along a line is 10 ms before the next packet; slop_time does not cut it short
    elapsed = latency + interval - 0.01
    assume(abs(elapsed - 2 * display_behind) > 0.02)
    made = strategy("epic", display_behind=display_behind, slop_time=10)
    errors = []
    for number in range(100):
        stamp = number * interval
        made.update(Packet((1.0, 0.0, 0.0), ORIGIN, stamp), stamp + latency)
        drawn = made.read(stamp + latency + interval - 0.01).position[0]
        errors.append(abs(drawn - 1))
    # the first line begins at the origin, which is an error of 1
    assert (max(errors[1:]) > 10) is (elapsed > 2 * display_behind)
