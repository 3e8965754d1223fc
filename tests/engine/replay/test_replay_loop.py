"""Tests of the replay loop: blocks, several entities, and strategies that fail."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import arrival_oracle
from support.arrival_oracle import PlainEpic
from support.recordings import draw, draw_samples, examples

from epic_cli import Declaration, Packet, Sample, StrategyFailed, Timing, replay, strategy
from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay import (
    ArrivalPacing,
    DemoPacing,
    ExactClock,
    FramePacing,
    Pacing,
    Replay,
    SingleClock,
)
from epic_cli.engine.replay.playback import PACINGS, PacingName, SampleStream
from epic_cli.engine.text import TextScanner

ORIGIN = (0.0, 0.0, 0.0)
NAN, INF = math.nan, math.inf


# ---------------------------------------------------------------------------------------- blocks


def pacing_of(name: PacingName) -> Pacing:
    if name == "demo":
        return DemoPacing(SingleClock())
    return (FramePacing if name == "frame" else ArrivalPacing)(ExactClock())


def run(
    packets: Sequence[Packet], pacing: PacingName, sizes: Sequence[int], capacity: int
) -> list[Sample]:
    """Replay packets in blocks of these sizes, into sample blocks of this capacity.

    Return the rows.
    """
    out, drawn = SampleBlock(capacity), list[Sample]()
    block = PacketBlock()
    loop = Replay(lambda: strategy("epic"), pacing_of(pacing), block.entities)

    def draw_all() -> None:
        more = True
        while more:
            more = loop.draw(out)
            assert len(out) <= capacity
            drawn.extend(out.samples(loop.entities))
            out.clear()

    waiting = list(packets)
    for size in sizes:
        block = PacketBlock(loop.entities)
        for packet in waiting[:size]:
            block.append(packet)
        del waiting[:size]
        loop.feed(block)
        draw_all()
    loop.finish()
    draw_all()
    assert not waiting
    return drawn


@st.composite
def crowds(draw_from: st.DrawFn) -> list[Packet]:
    """Return packets of several entities in order of arrival."""
    packets, arrival = [], 0.0
    numbers = st.floats(-100, 100, width=32)
    for _ in range(draw_from(st.integers(1, 20))):
        arrival += draw_from(st.sampled_from((0.0, 0.01, 0.05, 0.13, 0.8)))
        position, velocity = (draw_from(st.tuples(numbers, numbers, numbers)) for _ in range(2))
        late = draw_from(st.sampled_from((0.05, 0.1, 0.35)))
        entity = draw_from(st.sampled_from(("", "a", "b", "ü")))
        packets.append(Packet(position, velocity, arrival - late, arrival, entity))
    return packets


def break_off(error: BaseException) -> Iterator[PacketBlock]:
    """Yield a block of one of several entities, then raise the error."""
    block = PacketBlock()
    for number in range(20):
        block.append(Packet(ORIGIN, ORIGIN, number / 20, number / 20, "a"))
    yield block
    raise error


@pytest.mark.parametrize(
    ("error", "asked", "drawn", "told"),
    [
        (KeyboardInterrupt(), True, True, [1]),
        (KeyboardInterrupt(), False, False, []),
        (ValueError(), True, True, []),
    ],
)
def test_rows_that_wait_for_other_entities_come_before_an_error(
    error: BaseException, asked: bool, drawn: bool, told: list[int]
) -> None:
    rows, counts = list[int](), list[int]()
    stream = SampleStream(lambda: strategy("epic"), Timing(), by_time=True)
    found = stream.draw(break_off(error), interrupted=counts.append if asked else None)
    with pytest.raises(type(error)):
        rows.extend(len(samples) for samples, _ in found)
    assert (sum(rows) > 0, counts) == (drawn, told)


@pytest.mark.parametrize("pacing", PACINGS)
@given(packets=crowds(), size=st.integers(1, 20), capacity=st.integers(1, 9))
@examples(150)
def test_samples_do_not_depend_on_where_blocks_end(
    pacing: PacingName, packets: list[Packet], size: int, capacity: int
) -> None:
    whole = run(packets, pacing, [len(packets)], 4096)
    assert run(packets, pacing, [size] * len(packets), capacity) == whole
    assert list(replay(packets, pacing=pacing)) == whole


def test_a_block_is_drawn_before_the_next_one_is_fed() -> None:
    block = PacketBlock()
    for timestamp in (0.0, 1.0):
        block.append(Packet(ORIGIN, ORIGIN, timestamp))
    loop = Replay(lambda: strategy("epic"), pacing_of("demo"), block.entities)
    loop.feed(block)
    assert loop.draw(SampleBlock(2))
    with pytest.raises(RuntimeError, match="packets left to draw"):
        loop.feed(PacketBlock(block.entities))


def test_taken_and_discarded_packets_are_counted() -> None:
    block = PacketBlock()
    for timestamp, entity in ((0.0, "a"), (0.1, "a"), (0.05, "a"), (0.05, "b"), (-2.0, "b")):
        block.append(Packet(ORIGIN, ORIGIN, timestamp, entity=entity))
    loop = Replay(lambda: strategy("epic"), pacing_of("demo"), block.entities)
    loop.feed(block)
    while loop.draw(SampleBlock()):
        pass
    assert (loop.taken, loop.discarded, len(loop.strategies)) == (3, 2, 2)


# ------------------------------------------------------------------------------------- refusals

LINES = (b"1,0,0 / 1,0,0 / 0.1\n", b"2,0,0 / 1,0,0 / inf\n", b"oops\n", b"3,0,0 / 1,0,0 / 0.2\n")


def test_problems_of_lines_and_of_times_come_in_the_order_of_the_lines() -> None:
    drawn = draw(b"".join((*LINES, *LINES)))
    assert [problem.line for problem in drawn.problems] == [2, 3, 6, 7]
    assert drawn.rows == draw(LINES[0] + LINES[3] + LINES[0] + LINES[3]).rows


@pytest.mark.parametrize("bad", LINES[1:3])
def test_a_strict_stream_takes_no_packet_after_a_refused_one(bad: bytes) -> None:
    stream = SampleStream(lambda: strategy("epic"), Timing(), strict=True)
    block = TextScanner().scan(LINES[0] + bad + LINES[3] + LINES[2])
    drawn = sum(len(samples) for samples in stream.feed(block))
    assert drawn == len(draw_samples(LINES[0])) == 5
    assert block.refusals[0].line == 2


# ------------------------------------------------------------------------------ several entities


def test_entities_are_drawn_in_the_order_in_which_they_came_at_every_tick() -> None:
    packets = [Packet(ORIGIN, ORIGIN, 0.0, arrival, name) for arrival, name in
               ((0.01, "z"), (0.02, "a"), (0.12, "m"), (0.13, "a"))]  # fmt: skip
    drawn = [(sample.time, sample.entity) for sample in replay(packets)]
    assert drawn == [
        *((0.05, "z"), (0.05, "a"), (0.1, "z"), (0.1, "a")),
        *((0.15, "z"), (0.15, "a"), (0.15, "m"), (0.2, "z"), (0.2, "a"), (0.2, "m")),
        *((0.25, "z"), (0.25, "a"), (0.25, "m")),
    ]


@given(packets=crowds())
@examples(200)
def test_an_entity_is_drawn_as_if_it_were_alone(packets: list[Packet]) -> None:
    drawn = list(replay(packets))
    assert [sample.time for sample in drawn] == sorted(sample.time for sample in drawn)
    last = arrival_oracle.arrival_of(packets[-1])
    for entity in {packet.entity for packet in packets}:
        own = [packet for packet in packets if packet.entity == entity]
        rows = [sample for sample in drawn if sample.entity == entity]
        alone = list(replay(own))
        assert rows[: len(alone)] == alone
        assert repr(rows) == repr(arrival_oracle.draw(PlainEpic, own, until=last, entity=entity))


def line(entity: str, index: int, speed: int) -> str:
    return f"{index * speed},0,{index} / {speed},0,1 / {index}e-1 entity={entity}\n"


def test_with_demo_pacing_entities_that_are_known_before_the_first_row_are_as_if_alone() -> None:
    indices = [-10, -5, *range(40)]
    both = "".join(line("a", index, 3) + line("b", index, -7) for index in indices)
    drawn = draw_samples(both.encode("ascii"))
    for entity, speed in (("a", 3), ("b", -7)):
        alone = "".join(line(entity, index, speed) for index in indices)
        own = [sample for sample in drawn if sample.entity == entity]
        assert own == draw_samples(alone.encode("ascii"))


def test_with_demo_pacing_no_entity_slows_the_clock() -> None:
    ahead, behind = line("a", 9, 3), line("b", 1, 1)
    drawn = draw_samples((ahead + behind + line("b", 2, 1)).encode("ascii"))
    assert drawn == draw_samples(ahead.encode("ascii"))


# --------------------------------------------------------------------------- broken strategies


class Oops(Exception):
    """The error that the strategies below raise."""


class BreaksAt:
    """A strategy that raises an error in one of its methods, at the n-th call."""

    def __init__(self, method: str, call: int = 1) -> None:
        self.method, self.calls = method, call

    def call(self, method: str) -> None:
        self.calls -= method == self.method
        if not self.calls:
            raise Oops(method)

    def reset(self) -> None:
        self.call("reset")

    def update(self, packet: Packet, now: float) -> bool:
        del packet, now
        self.call("update")
        return True

    def read(self, at: float) -> Sample:
        self.call("read")
        return Sample(at, ORIGIN, ORIGIN, "held")


@pytest.mark.parametrize("method", ["reset", "update", "read"])
def test_what_a_strategy_raises_is_raised(method: str) -> None:
    samples = replay([Packet(ORIGIN, ORIGIN, 0.0)], lambda: BreaksAt(method))
    with pytest.raises(Oops, match=method) as raised:
        list(samples)
    (note,) = raised.value.__notes__
    assert f"BreaksAt failed in {method}" in note
    assert f": Oops: {method} (" in note
    assert ("packet 1 (time 0)" in note) == (method != "reset")


def test_a_strategy_that_raises_later_has_drawn_until_then() -> None:
    packets = [Packet(ORIGIN, ORIGIN, timestamp) for timestamp in (0.0, 0.1, 0.2)]
    drawn = replay(packets, lambda: BreaksAt("update", 3))
    assert len(list(islice(drawn, 5))) == 5
    with pytest.raises(Oops):
        next(drawn)


def test_what_the_maker_of_strategies_raises_is_raised() -> None:
    def make() -> BreaksAt:
        raise Oops("make")

    with pytest.raises(Oops, match="make"):
        list(replay([Packet(ORIGIN, ORIGIN, 0.0)], make))


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (None, "it returned None, not a Sample: it has no position, velocity, status"),
        (ORIGIN, r"it returned \(0.0, 0.0, 0.0\), not a Sample"),
        (Sample(0.0, (1.0, 2.0), ORIGIN, "held"), r"position is \(1.0, 2.0\), not three numb"),  # type: ignore[arg-type]
        (Sample(0.0, ORIGIN, 3.0, "held"), "velocity is 3.0, not three numbers"),  # type: ignore[arg-type]
        (Sample(0.0, ORIGIN, ORIGIN, "asleep"), "status is 'asleep', not one of none, held,"),  # type: ignore[arg-type]
        (Sample(0.0, ("a", "b", "c"), ORIGIN, "held"), "position is .*, not three"),  # type: ignore[arg-type]
        (Sample(0.0, (NAN, 0.0, 0.0), ORIGIN, "held"), r"position is not finite: \(nan, 0.0,"),
        (Sample(0.0, ORIGIN, (0.0, -INF, 0.0), "none"), r"velocity is not finite: \(0.0, -inf"),
    ],
)
def test_a_strategy_that_gives_no_sample_is_told_so(sample: Any, words: str) -> None:
    class Mute(BreaksAt):
        def read(self, at: float) -> Sample:
            del at
            return cast("Sample", sample)

    with pytest.raises(StrategyFailed, match=words) as failed:
        list(replay([Packet(ORIGIN, ORIGIN, 0.0)], lambda: Mute("")))
    assert f"Mute failed in read at 0.05 s, after packet 1 (time 0): {failed.value.what} (" in str(
        failed.value
    )


def test_a_strategy_that_does_not_say_whether_it_took_a_packet_is_told_so() -> None:
    class Forgetful(BreaksAt):
        def update(self, packet: Packet, now: float) -> bool:
            del packet, now
            return None  # type: ignore[return-value]

    with pytest.raises(
        StrategyFailed, match=r"update with packet 1 .*: it returned None, not True"
    ):
        list(replay([Packet(ORIGIN, ORIGIN, 0.0)], lambda: Forgetful("")))


def test_numbers_that_are_not_finite_do_not_get_to_a_strategy_unless_it_wants_them() -> None:
    class Counting(BreaksAt):
        seen = 0

        def update(self, packet: Packet, now: float) -> bool:
            del packet, now
            type(self).seen += 1
            return True

    class Brave(Counting):
        declaration = Declaration("brave", "takes all", "tests", takes_any_number=True)

    packets = [Packet((NAN, 0.0, 0.0), ORIGIN, 0.0), Packet(ORIGIN, (INF, 0.0, 0.0), 0.1)]
    for kind, seen in ((Counting, 0), (Brave, 2)):
        assert list(replay(packets, partial(kind, "")))
        assert kind.seen == seen


def test_rows_are_drawn_as_time_passes_without_a_packet() -> None:
    out = SampleBlock(100)
    loop = Replay(lambda: strategy("epic"), DemoPacing(SingleClock()), PacketBlock().entities)
    block = PacketBlock(loop.entities)
    block.append(Packet(ORIGIN, ORIGIN, 0.0))
    loop.advance(9.0)  # nothing is due before the first packet
    loop.feed(block)
    drawn = []
    for time in (0.0, 1.02, 0.5, 2.02):
        while loop.draw(out):
            pass
        loop.advance(time)
        loop.draw(out)
        drawn.append(len(out))
    assert drawn == [3, 21, 21, 41]  # the demo draws three rows at once
