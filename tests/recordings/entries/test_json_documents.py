"""JSON documents give the same packets as lines with the same objects, however they are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings import BYTE_ORDER_MARK, LONGEST_OBJECT
from epic_cli.recordings.reading import read as read_recording

TEXTS = st.text(st.sampled_from('ab"\\{}[],: \n\r\tä'), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=5,
)
PACKETS = st.fixed_dictionaries(
    {"time": st.integers(0, 99), "x": st.floats(-9, 9), "y": st.just(0), "z": st.just(1)},
    optional={"note": VALUES, "name": st.text("ab{}[]\"\\", max_size=4)},
)  # fmt: skip


def read(data: bytes, size: int = 65536) -> list[PacketBlock]:
    """Return the blocks of a recording that arrives in pieces of this many bytes."""
    pieces = iter([*(data[at : at + size] for at in range(0, len(data), size)), b""])
    return list(read_recording(lambda: next(pieces)))


def packets(blocks: list[PacketBlock]) -> list[Packet]:
    return [block[index] for block in blocks for index in range(len(block))]


def documents(objects: list[dict[str, Any]]) -> list[str]:
    """Return the same objects in the forms that programs write."""
    return [
        json.dumps(objects),
        json.dumps(objects, indent=2),
        "[\n" + ",\n".join(map(json.dumps, objects)) + "\n]\n",
        "\r\n".join(json.dumps(record, indent="\t") for record in objects),
        json.dumps(objects, separators=(",", ":"))[:-1],  # one that was not finished
    ]


@example(
    [
        {"time": 0, "x": 0.0, "y": 0, "z": 1, "note": [[None, None, None]]},
        {"time": 0, "x": 0.0, "y": 0, "z": 1},
    ],
    1,
)
@example(
    [
        {"time": 0, "y": 0, "z": 1, "note": [[None, None, None]], "x": 0.0},
        {"time": 0, "x": 0.0, "y": 0, "z": 1},
    ],
    1,
)
@given(st.lists(PACKETS, min_size=2, max_size=5), st.sampled_from([1, 7, 65536]))
@examples(60)
def test_the_packets_are_those_of_lines(objects: list[dict[str, Any]], size: int) -> None:
    lines = "".join(json.dumps(record) + "\n" for record in objects).encode()
    wanted = packets(read(lines))
    assert len(wanted) == len(objects)
    for text in documents(objects):
        blocks = read(text.encode(), size)
        assert packets(blocks) == wanted
        assert not any(block.refusals for block in blocks)


def test_places_are_those_of_the_document() -> None:
    good, bad = {"t": 1, "x": 1, "y": 2}, {"t": 2, "x": "a", "y": 2}
    text = json.dumps([good, good, bad, good], indent=1).encode()
    (block, rest) = read(BYTE_ORDER_MARK + text)
    assert [block.line(index) for index in range(3)] == [2, 7, 17]
    assert len(rest) == 0
    refusal = block.refusals[0]
    assert (refusal.line, refusal.text.strip()) == (12, b'{ "t": 2, "x": "a", "y": 2 }')
    assert refusal.text[refusal.caret :].startswith(b'"x"')
    one_line = read(json.dumps([good, bad, good]).encode())[0].refusals[0]
    assert (one_line.line, one_line.column) == (1, 1 + json.dumps([good, bad]).index('"x": "a"'))


@pytest.mark.parametrize(
    "bad",
    [b'{"t": 1, "x": }', b"nonsense", b"7", b'{"t": 1, "s": "' + b"x" * LONGEST_OBJECT + b'"}'],
)
def test_what_is_no_packet_is_refused_and_the_rest_is_read(bad: bytes) -> None:
    good = b'{"t": %d, "x": 1, "y": 2}'
    blocks = read(b"[%s,\n%s,\n%s]" % (good % 1, bad, good % 2))
    assert [packet.time for packet in packets(blocks)] == [1, 2]
    assert [refusal.line for block in blocks for refusal in block.refusals] == [2]


def test_a_document_without_an_end_takes_no_memory() -> None:
    pieces = iter([b'{\n"a":\n', *[b'"' + b"a" * 59_999] * 40, b""])
    blocks = list(read_recording(lambda: next(pieces)))
    assert sum(len(block.refusals) for block in blocks) == 1
    assert max(len(block.text) for block in blocks) < LONGEST_OBJECT + 60_000
