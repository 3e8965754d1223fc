"""Tests of the tick clocks: the demo's, which drifts, and the exact one."""

import math
import struct
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import add, f32
from support.recordings import count_samples, draw, draw_samples, examples

from epic_cli import Packet, Timing, strategy
from epic_cli.engine.replay import ExactClock, SingleClock
from epic_cli.engine.replay.playback import Ratio, SampleStream
from epic_cli.engine.text import TextScanner
from epic_cli.recordings.wording import FrontEnd, Problem, word_refusal

ORIGIN = (0.0, 0.0, 0.0)
SINGLE, EXACT = Timing(), Timing(clock="exact")


def stream(timing: Timing) -> SampleStream:
    return SampleStream(lambda: strategy("epic"), timing)


def rows_to(timestamp: float, timing: Timing) -> tuple[int, float]:
    """Return the number of rows that a packet with this timestamp makes, and the last time."""
    return count_samples(stream(timing), Packet(ORIGIN, ORIGIN, timestamp))


def problems_with(timestamp: object, timing: Timing) -> list[Problem]:
    """Return the refusals of a single packet, without drawing all its rows."""
    block = TextScanner().scan(f"0,0,0 / 0,0,0 / {timestamp}\n".encode("ascii"))
    drawing = stream(timing)
    refusals = block.refusals
    if next(drawing.feed(block), None) is not None:
        assert drawing.replay is not None
        refusals = drawing.replay.refusals()
    return [word_refusal(refusal, FrontEnd.COMMAND_LINE) for refusal in refusals]


def next_float(number: float) -> float:
    """Return the next greater float32 of a positive float32."""
    (bits,) = struct.unpack("<i", struct.pack("<f", number))
    return float(struct.unpack("<f", struct.pack("<i", bits + 1))[0])


# ---------------------------------------------------------------------------------------- single


@pytest.mark.parametrize(
    ("timestamp", "rows"),
    [
        *((0, 3), (0.05, 4), (0.1, 5), (0.15, 6), (0.2, 7), (0.5, 13), (1, 23), (1.5, 34), (2, 44)),
        *((-1, 0), (-0.15, 0), (-0.149, 1), (-0.1, 2), (-0.0, 3)),
    ],
)
def test_a_packet_has_as_many_rows_as_in_the_demo(timestamp: float, rows: int) -> None:
    assert rows_to(timestamp, SINGLE)[0] == rows


@pytest.mark.parametrize(
    ("timestamp", "total", "last"),
    [(10, 203, "10.150"), (100, 2003, "100.152"), (1000, 20_007, "1000.179")],
)
def test_the_single_clock_drifts_as_the_demo_does(timestamp: int, total: int, last: str) -> None:
    rows = draw(b"0,0,0/0,0,0/%d\n" % timestamp).rows.splitlines()
    assert len(rows) == total
    assert rows[-1].endswith(b"time: " + last.encode("ascii"))


def test_the_last_time_that_the_demo_gets_to() -> None:
    assert rows_to(1048575.875, SINGLE) == (18_073_720, 1048576.0)


@pytest.mark.parametrize("text", ["1048575.875", "1048575.90625", "-1e30", "-inf", "nan"])
def test_the_single_clock_takes_what_rounds_to_a_time_that_it_gets_to(text: str) -> None:
    assert problems_with(text, SINGLE) == []


@pytest.mark.parametrize("text", ["1048575.9062500001", "1048575.9375", "3e38", "1e39", "inf"])
def test_the_single_clock_refuses_a_time_that_it_never_passes(text: str) -> None:
    [problem] = problems_with(text, SINGLE)
    assert float(text) > 1e30 or "no clock" not in problem.what
    assert float(text) < 1e30 or problem.what == "no clock gets to this time"


@pytest.mark.parametrize("tick", [(3, 10)])
def test_the_single_clock_stands_still_where_a_tick_is_lost_in_rounding(tick: Ratio) -> None:
    length = f32(tick[0] / tick[1])
    end = 1.0
    while add(end, length) != end:
        end *= 2
    step = end * 2**-24  # between neighboring floats below the end
    last = next(t for t in count(end, -step) if add(t, f32(0.15)) <= end)
    assert rows_to(last, Timing(tick))[1] == end
    assert problems_with(repr(next_float(last)), Timing(tick))


@pytest.mark.parametrize("tick", [0.0, -0.05, math.inf, math.nan, 1e-50])
def test_a_single_clock_needs_a_tick(tick: float) -> None:
    with pytest.raises(ValueError, match="a tick must be longer than 0 s"):
        SingleClock(tick)


# ----------------------------------------------------------------------------------------- exact


@given(tick=st.fractions(Fraction(1, 1000), 100, max_denominator=10_000), ticks=st.floats(-5, 300))
@examples(200)
def test_exact_rows_go_to_the_first_tick_that_is_not_behind(tick: Fraction, ticks: float) -> None:
    timestamp = ticks * float(tick)
    timing = Timing((tick.numerator, tick.denominator), "exact")
    text = f"0,0,0/0,0,0/{timestamp!r}\n".encode("ascii")
    times = [0.0, *(sample.time for sample in draw_samples(text, timing=timing))]
    assert times == [float(k * tick) for k in range(len(times))]
    assert times[-1] >= timestamp + 0.15 or len(times) == 1
    assert len(times) == 1 or times[-2] < timestamp + 0.15


def test_the_exact_clock_draws_no_more_than_five_million_ticks_at_once() -> None:
    second = Timing((1, 1), "exact")
    assert rows_to(2e6, second)[0] == 2_000_001
    [problem] = problems_with(5_000_000.5, second)
    assert problem.what == "this is more than 5,000,000 ticks after the last row"
    assert problem.caret == problem.text.index(b"5000000.5")
    assert problems_with(5_000_000.5, Timing((3600, 1), "exact")) == []


@pytest.mark.parametrize(("begin", "tick"), [(0, 100), (4 * 10**15, 60)])
def test_a_packet_asks_for_a_bounded_number_of_rows_however_far_a_clock_jumps(
    begin: int, tick: int
) -> None:
    text = b"0,0,0/1,0,0/0 arrival=%d\n1,0,0/1,0,0/1 arrival=%d\n"
    recording = text % (begin, begin + 5_500_000 * tick)
    drawn = draw(recording, timing=Timing((tick, 1), pacing="arrival"))
    assert len(drawn.problems) == 1
    assert drawn.rows.count(b"\n") <= 1


@pytest.mark.parametrize("text", ["1e39", "inf", "1e15"])
def test_the_exact_clock_refuses_a_time_that_no_double_resolves(text: str) -> None:
    [problem] = problems_with(text, EXACT)
    assert problem.what == "no clock gets to this time"
    assert problem.expected == "a time below 2.25e+14 s"


@pytest.mark.parametrize("text", ["nan", "-inf", "-1e30"])
def test_the_exact_clock_has_no_rows_for_times_before_it_starts(text: str) -> None:
    assert problems_with(text, EXACT) == []
    assert draw(f"0,0,0/0,0,0/{text}\n".encode("ascii"), timing=EXACT).rows == b""


def test_after_a_refused_packet_the_next_one_goes_on() -> None:
    good = [b"1,0,0/1,0,0/0.1\n", b"2,0,0/1,0,0/0.2\n"]
    for timing in (SINGLE, EXACT):
        drawn = draw(good[0] + b"9,9,9/9,9,9/1e30\n" + good[1], timing=timing)
        assert drawn.rows == draw(b"".join(good), timing=timing).rows
        assert [problem.line for problem in drawn.problems] == [2]


def test_a_single_clock_refuses_a_tick_that_it_cannot_add_twice() -> None:
    with pytest.raises(ValueError, match="a tick is too long for single precision"):
        SingleClock(3e38)


@pytest.mark.parametrize("ratio", [(0, 1), (-1, 20), (1, 0), (1, -20)])
def test_an_exact_clock_needs_a_tick(ratio: Ratio) -> None:
    with pytest.raises(ValueError, match="a tick must be longer than 0 s"):
        ExactClock(*ratio)


@pytest.mark.parametrize("ratio", [(1, 2**40 + 1), (2**40 + 1, 3)])
def test_an_exact_clock_refuses_a_ratio_that_it_could_not_multiply(ratio: Ratio) -> None:
    with pytest.raises(ValueError, match="a tick has too many digits"):
        ExactClock(*ratio)
