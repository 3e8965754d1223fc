"""Tests of pacing: the demo's loop, and arrival times, against a slow oracle."""

import math
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import arrival_oracle
from support.arrival_oracle import PlainEpic
from support.oracle import Interpolator, Vector
from support.recordings import draw, draw_samples, examples

from epic_cli import Packet, Timing, replay

ORIGIN = (0.0, 0.0, 0.0)
AT_ONCE = Packet(ORIGIN, ORIGIN, 0.0, 0.0)
ARRIVAL = Timing(pacing="arrival")

FINITE = st.floats(-1000, 1000, width=32)
VECTORS = st.tuples(FINITE, FINITE, FINITE)
ON_A_TICK = st.integers(0, 200).map(lambda index: index * 50 / 1000.0)
NEAR_A_TICK = st.builds(math.nextafter, ON_A_TICK, st.sampled_from((-math.inf, math.inf)))
GAPS = st.one_of(st.floats(0, 0.2), st.just(0.0), st.floats(0.5, 2), ON_A_TICK, NEAR_A_TICK)


@st.composite
def recordings(draw_from: st.DrawFn) -> list[Packet]:
    """Return packets in order of arrival, with bursts, silences, late and equal timestamps."""
    packets, arrival = [], draw_from(st.floats(-3, 3) | ON_A_TICK | NEAR_A_TICK)
    for _ in range(draw_from(st.integers(1, 12))):
        timestamp = arrival - draw_from(st.sampled_from((0.05, 0.1, 0.1, 0.3, -0.05)))
        packets.append(Packet(draw_from(VECTORS), draw_from(VECTORS), timestamp, arrival))
        arrival += max(0.0, draw_from(GAPS))
    return packets


# --------------------------------------------------------------------------------------- arrival


@given(
    packets=recordings(),
    tick=st.sampled_from(("0.05", "1/60", "0.07", "1.5")),
    slop_time=st.sampled_from((0.5, 0.2, 0.0)),
    display_behind=st.sampled_from((0.2, 0.1, 0.0)),
)
@examples(400)
def test_rows_are_those_of_the_oracle(
    packets: list[Packet], tick: str, slop_time: float, display_behind: float
) -> None:
    drawn = replay(packets, tick=tick, slop_time=slop_time, display_behind=display_behind)
    plain = partial(PlainEpic, slop_time=slop_time, display_behind=display_behind)
    expected = arrival_oracle.draw(plain, packets, Fraction(tick))
    assert repr(list(drawn)) == repr(expected)


def row_times(*arrivals: float, tick: str = "0.05") -> list[float]:
    packets = [Packet(ORIGIN, ORIGIN, 0.0, arrival) for arrival in arrivals]
    return [sample.time for sample in replay(packets, tick=tick)]


def test_rows_go_from_the_first_arrival_to_the_last_and_three_ticks_more() -> None:
    assert row_times(0.12) == [0.15, 0.2, 0.25]
    assert row_times(0.1) == [0.1, 0.15, 0.2, 0.25]
    assert row_times(0.1, 0.2) == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    assert row_times(0.26, tick="0.25") == []
    assert row_times(-0.12) == [-0.1, -0.05, 0.0]


@given(
    tick=st.fractions(Fraction(1, 1000), 100, max_denominator=1000),
    index=st.integers(-(2**20), 2**34),  # further out no double resolves the ticks
    aside=st.sampled_from((0, -1, 1)),
)
@examples(300)
def test_a_first_arrival_at_a_tick_or_just_beside_it_finds_that_tick(
    tick: Fraction, index: int, aside: int
) -> None:
    on_the_tick = float(index * tick)
    arrival = math.nextafter(on_the_tick, aside * math.inf) if aside else on_the_tick
    expected = arrival_oracle.ticks_between(arrival, arrival + 0.15, tick)
    assert row_times(arrival, tick=str(tick)) == list(expected)


@pytest.mark.parametrize("latency", [0.08, 0.0, -0.5])
def test_latency_gives_arrival_times_to_packets_that_have_none(latency: float) -> None:
    bare = [Packet((t, 0.0, 0.0), (1.0, 0.0, 0.0), t) for t in (0.0, 0.1, 0.25)]
    timed = [packet._replace(arrival=packet.time + latency) for packet in bare]
    assert list(replay(bare, latency=latency)) == list(replay(timed))
    mixed = [bare[0], timed[1], bare[2]]
    assert list(replay(mixed, latency=latency)) == list(replay(timed))


# -------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "timing", "what"),
    [
        ("", ARRIVAL, "the packet has no arrival time"),
        ("arrival=250000.3", ARRIVAL, "this is more than 5,000,000 ticks after the last row"),
        ("arrival=1e15", ARRIVAL, "no clock gets to this time"),
        (
            "arrival=1048576",
            Timing(pacing="arrival", clock="single"),
            "this is more than 5,000,000 ticks after the last row",
        ),
    ],
)
def test_a_packet_without_a_place_is_refused_and_the_others_are_not(
    line: str, timing: Timing, what: str
) -> None:
    before = b"1,0,0 / 1,0,0 / 0.1 arrival=0.2\n"
    after = b"2,0,0 / 1,0,0 / 0.2 arrival=0.3\n"
    refused = f" 9,9,9 / 9,9,9 / 0.15 {line}\n".encode("ascii")
    drawn = draw(before + refused + after, timing=timing)
    assert drawn.rows == draw(before + after, timing=timing).rows
    [problem] = drawn.problems
    caret = refused.index(b"arrival=") + 8 if line else refused.index(b"0.15")
    assert (problem.what, problem.line, problem.column) == (what, 2, caret + 1)
    assert (problem.text, problem.caret) == (refused, caret)


def test_the_first_row_waits_for_a_packet_with_a_place() -> None:
    text = b"9,9,9/9,9,9/0\n1,0,0/1,0,0/1 arrival=5\n"
    assert draw(text, timing=ARRIVAL).rows == draw(text.split(b"\n")[1], timing=ARRIVAL).rows


def test_a_longer_tick_reaches_further() -> None:
    text = b"1,0,0/1,0,0/0 arrival=0\n1,0,0/1,0,0/0 arrival=%s\n"
    timing = Timing((1, 1000), pacing="arrival")
    assert draw(text % b"5000.2", timing=timing).problems
    assert draw(text % b"1000000", timing=Timing((3600, 1), pacing="arrival")).problems == []


@pytest.mark.parametrize("arrival", [math.inf, -math.inf])
def test_an_endless_arrival_is_refused(arrival: float) -> None:
    with pytest.raises(ValueError, match="no clock gets to this time"):
        list(replay([AT_ONCE._replace(arrival=arrival)]))


def test_an_arrival_that_is_nan_is_none() -> None:
    with pytest.raises(ValueError, match="the packet has no arrival time"):
        list(replay([AT_ONCE._replace(arrival=math.nan)], pacing="arrival"))


# ------------------------------------------------------------------------------------------ demo


@given(packets=recordings(), tick=st.sampled_from(("0.05", "1/60", "0.3")))
@examples(200)
def test_demo_pacing_on_the_exact_clock_is_the_same_loop_without_drift(
    packets: list[Packet], tick: str
) -> None:
    interpolator, index = Interpolator(), 0
    expected: list[tuple[float, Vector, Vector]] = []
    for packet in packets:
        assert packet.velocity
        interpolator.update(packet.position, packet.velocity, packet.time)
        while float(index * Fraction(tick)) < packet.time + 0.15:
            index += 1
            now = float(index * Fraction(tick))
            interpolator.read(now)
            expected.append((now, interpolator.last_return_pos, interpolator.last_vel))
    drawn = replay(packets, tick=tick, pacing="demo", clock="exact")
    assert repr([(s.time, s.position, s.velocity) for s in drawn]) == repr(expected)


def test_demo_pacing_pays_no_heed_to_arrival_times() -> None:
    lines = [b"1,0,0/1,0,0/%.1f" % (n / 10) for n in range(9)]
    bare = b"\n".join(lines)
    timed = b"\n".join(line + b" arrival=%d" % (9 - n) for n, line in enumerate(lines))
    assert draw(timed, timing=Timing(pacing="demo")).rows == draw(bare).rows


def test_the_first_packet_decides_which_pacing_is_the_usual_one() -> None:
    timed, bare = b"1,0,0/1,0,0/0.1 arrival=0.2\n", b"2,0,0/1,0,0/0.2\n"
    assert [problem.line for problem in draw(timed + bare).problems] == [2]
    assert draw(bare + timed.replace(b"0.1 ", b"0.3 ")).problems == []
    assert draw_samples(bare, timing=Timing(latency=1.0))[0].time == 1.2
