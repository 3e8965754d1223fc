"""Tests of blocks of packets: entity numbers, and conversion to Python and back."""

import math
import pickle
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet, strategy
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.engine.replay import DemoPacing, Replay, SingleClock
from epic_cli.engine.text import TextScanner

ORIGIN = (0.0, 0.0, 0.0)

NUMBERS = st.floats(allow_nan=False)
PACKETS = st.builds(
    Packet,
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    NUMBERS,
    st.none() | NUMBERS,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.none() | st.integers(0, 2**63 - 1),
    NUMBERS,
    st.none() | st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.none() | st.tuples(NUMBERS, NUMBERS, NUMBERS),
    extras=st.none(),
).map(lambda packet: packet if packet.rotation else packet._replace(spin=None))


def block_of(*entities: str) -> PacketBlock:
    """Return a block with one packet for each of these entities, one a line."""
    text = "".join(
        f"1,2,3/4,5,6/{n}{f' entity={e}' if e else ''}\n" for n, e in enumerate(entities)
    )
    return TextScanner().scan(text.encode())


def entities_of(block: PacketBlock) -> list[str]:
    return [block[index].entity for index in range(len(block))]


# ---------------------------------------------------------------------------------------- blocks


@given(packets=st.lists(PACKETS, max_size=5))
@examples(200)
def test_a_packet_comes_out_as_it_went_in(packets: list[Packet]) -> None:
    block = PacketBlock()
    for packet in packets:
        block.append(packet)
    assert [block[index] for index in range(len(block))] == packets


def test_an_unknown_arrival_is_none_whichever_way_it_is_said() -> None:
    block = PacketBlock()
    block.append(Packet(ORIGIN, ORIGIN, 0.0, math.nan))
    assert block[0].arrival is None
    assert not block.begins_with_arrival()


@pytest.mark.parametrize("arrival", [0.0, -1.0, math.inf])
def test_any_other_arrival_is_known(arrival: float) -> None:
    block = PacketBlock()
    assert not block.begins_with_arrival()
    block.append(Packet(ORIGIN, ORIGIN, 0.0, arrival))
    block.append(Packet(ORIGIN, ORIGIN, 0.0))
    assert block.begins_with_arrival()


@pytest.mark.parametrize("index", [1, 2, 2**62])
def test_there_is_nothing_behind_the_last_packet(index: int) -> None:
    with pytest.raises(IndexError):
        block_of("a")[index]


@pytest.mark.parametrize(
    "wrong",
    [
        "Entities().name(0)",
        "Entities().name(-1)",
        "PacketBlock().make_refusal(0, None, 'time')",
        "PacketBlock().line(0)",
        "drawn().samples(Entities())",
        "RowWriter('csv').rows(drawn(), Entities())",
    ],
)
def test_what_is_not_there_is_an_index_error(wrong: str) -> None:
    # in a process of its own: where it is no error, it is the end of the process
    program = f"""
from epic_cli import Packet, strategy
from epic_cli.engine.replay import SingleClock
from epic_cli.engine.replay import DemoPacing
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay import Replay
from epic_cli.engine.text import RowWriter

def drawn():
    block, samples = PacketBlock(), SampleBlock()
    block.append(Packet((0, 0, 0), (0, 0, 0), 0))
    loop = Replay(lambda: strategy("epic"), DemoPacing(SingleClock()), block.entities)
    loop.feed(block)
    loop.draw(samples)
    assert len(samples) == 3
    return samples

try:
    {wrong}
except IndexError:
    print("index error")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (0, b"index error\n")


def test_the_last_sample_of_a_block_is_the_last_of_its_samples() -> None:
    block = PacketBlock()
    for t in (0.0, 0.1, 0.2):
        block.append(Packet((t, 0.0, 0.0), (1.0, 0.0, 0.0), t, entity="tank"))
    replay = Replay(lambda: strategy("epic"), DemoPacing(SingleClock(0.05)), block.entities)
    replay.feed(block)
    samples = SampleBlock()
    with pytest.raises(IndexError, match="the block is empty"):
        samples.last(block.entities)
    replay.draw(samples)
    assert samples.last(block.entities) == samples.samples(block.entities)[-1]


def test_a_packet_needs_three_coordinates() -> None:
    for vector in ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0)):
        with pytest.raises(TypeError, match=r"its position is .*, not three numbers x, y, z"):
            PacketBlock().append(Packet(vector, ORIGIN, 0.0))  # type: ignore[arg-type]


def test_only_one_entity_can_be_kept() -> None:
    block = block_of("a", "", "b", "a")
    block.keep_entity("a")
    assert entities_of(block) == ["a", "a"]
    block.keep_entity("z")
    assert len(block) == 0


def test_a_block_is_cut_at_the_second_entity() -> None:
    block = block_of("a", "a", "b", "a")
    assert block.cut_at_second_entity() == (3, "b")
    assert entities_of(block) == ["a", "a"]
    assert block.cut_at_second_entity() is None


def test_a_block_is_cut_after_a_line() -> None:
    block = block_of("a", "b", "c")
    block.cut_after_line(2)
    assert entities_of(block) == ["a", "b"]
    block.cut_after_line(0)
    assert len(block) == 0


def test_a_refusal_of_a_packet_points_at_its_time() -> None:
    block = block_of("a", "tank")
    text = b"1,2,3/4,5,6/1 entity=tank\n"
    expected = Refusal(2, 13, text, 12, Reason.TOO_FAR, "time", 7.0)
    assert block.make_refusal(1, Reason.TOO_FAR, "time", 7) == expected


@pytest.mark.parametrize(
    "tail",
    [
        b" arrival=7",
        b"arrival=1 arrival=7",
        b" arrival=1 seq=2 arrival=7 # arrival=3",
        b" arrival=7 x.arrival=1",
        b" arrival=7 entity=arrival=1",
        b" entity=a#b arrival=7 #x arrival=1",
        b" arrival=7\0 arrival=1",
    ],
)
def test_a_refusal_of_a_packet_points_at_the_arrival_that_counts(tail: bytes) -> None:
    block = TextScanner().scan(b"1,2,3/4,5,6/1" + tail + b"\n")
    assert block[0].arrival == 7
    caret = block.text.index(b"arrival=7") + len(b"arrival=")
    refusal = block.make_refusal(0, Reason.ARRIVAL_GOES_BACK, "arrival")
    assert (refusal.caret, refusal.column) == (caret, caret + 1)


def test_a_refusal_of_an_arrival_that_is_not_there_points_at_the_time() -> None:
    refusal = block_of("a").make_refusal(0, Reason.NO_ARRIVAL, "arrival")
    assert (refusal.caret, refusal.field) == (len(b"1,2,3/4,5,6/"), "arrival")


def test_a_refusal_in_a_long_line_counts_its_column_from_the_beginning_of_the_line() -> None:
    block = TextScanner().scan(b"x" * 1023 + b"1,2,3/4,5,6/1\n")
    assert block.make_refusal(0, Reason.TOO_FAR, "time")[:4] == (1, 1036, b"1,2,3/4,5,6/1\n", 12)


def test_a_sample_block_holds_something() -> None:
    assert SampleBlock(1).capacity == 1
    with pytest.raises(ValueError, match="at least one sample"):
        SampleBlock(0)


# -------------------------------------------------------------------------------------- entities


@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=20))
@examples(100)
def test_entities_are_numbered_as_they_come(names: list[str]) -> None:
    entities = Entities()
    distinct = list(dict.fromkeys(names))
    assert [entities.assign_number(name) for name in names] == [distinct.index(n) for n in names]
    assert [entities.name(number) for number in range(len(entities))] == distinct


def test_very_many_entities_are_numbered_in_any_order() -> None:
    entities = Entities()
    names = [f"e{n}" for n in range(50_000)]
    assert [entities.assign_number(name) for name in names] == list(range(50_000))
    places = list(range(50_000))
    random.Random(1).shuffle(places)
    assert [entities.assign_number(names[place]) for place in places] == places
    assert [entities.name(place) for place in places[:1000]] == [names[p] for p in places[:1000]]
    assert len(entities) == 50_000


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        Entities().assign_number("\ud800")


def test_blocks_go_to_another_process_bit_by_bit() -> None:
    block = block_of("a", "", "Zoë", "a")
    other, part = pickle.loads(pickle.dumps([block, block.part(1, 3)]))
    assert [other[at] for at in range(len(other))] == [block[at] for at in range(len(block))]
    assert [part.line(at) for at in range(len(part))] == [2, 3]
    assert part.entities is other.entities
    assert pickle.dumps(other) == pickle.dumps(block)


def test_half_a_packet_is_refused() -> None:
    made: Any = block_of("a").__reduce__()
    make, (entities, content, turns, *others) = made
    with pytest.raises(ValueError, match="not whole packets"):
        make(entities, content[:-1], turns, *others)
    with pytest.raises(ValueError, match="not whole packets"):
        make(entities, content, b"1", *others)


def test_a_packets_line_is_the_next_one_unless_it_is_given() -> None:
    block = PacketBlock()
    for line in (0, 0, 9, 0):
        block.append(Packet((0.0, 0.0, 0.0), None, 0.0), line)
    assert [block.line(index) for index in range(4)] == [1, 2, 9, 4]
