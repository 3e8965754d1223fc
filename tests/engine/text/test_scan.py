"""Packet text to packets: keys, pieces of 1023 bytes, and what is wrong with a line."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.recordings import cut, examples, scan_all, scan_packets, scan_problems

from epic_cli.engine.text import TextScanner

GOOD = b"1,2,3 / 4,5,6 / 0.1"


# ------------------------------------------------------------------------------------------ keys


@pytest.mark.parametrize("tail", ["abc", "/9", ",", " hello", " # seq=x", " Seq=x", " x=1",
                                  "entity=glued", " =1", " \0 seq=x"])  # fmt: skip
def test_anything_else_there_is_passed_over(tail: str) -> None:
    [packet] = scan_packets(TextScanner(), GOOD + tail.encode("ascii"))
    assert packet == ((1, 2, 3), (4, 5, 6), 0.1, None, "", False, None, 0.0, *3 * [None])


def test_a_name_is_refused_if_it_is_not_utf_8() -> None:
    # bytes on both sides of every boundary in the definition of UTF-8
    edges = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 ed ee ef f0 f4 f5 ff")
    names = [bytes(name) for length in (1, 2, 3) for name in product(edges, repeat=length)]
    names += [bytes(name) for name in product(b"\xf0\xf4", edges, edges, edges)]
    lines = [GOOD + b" entity=" + name + b"\n" for name in names]
    refused: list[bytes] = []
    for begin in range(0, len(lines), 4000):  # as many entities as one recording may have
        found = scan_problems(TextScanner(), lines[begin : begin + 4000])
        assert {problem.what for problem in found} == {"the entity's name is not UTF-8"}
        refused += [problem.text for problem in found]
    assert refused == [line for line, name in zip(lines, names, strict=True) if not is_utf_8(name)]


def is_utf_8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_a_refused_name_is_pointed_at() -> None:
    line = GOOD + b" entity=\xff\n"
    [found] = scan_problems(TextScanner(), line)
    assert (found.caret, found.column) == (line.index(b"\xff"), line.index(b"\xff") + 1)


# ---------------------------------------------------------------------------------- wrong lines


def test_a_line_beyond_1023_bytes_is_read_in_pieces_that_count_as_one_line() -> None:
    data = b"\n" + b"x" * 1023 + GOOD + b"\n" + b"y\n"
    found = scan_problems(TextScanner(), data)
    assert [(problem.line, len(problem.text)) for problem in found] == [(2, 1023), (3, 2)]
    assert scan_packets(TextScanner(), data)[0].time == 0.1
    junk = scan_problems(TextScanner(), b"x" * 5000)
    assert [(refusal.line, refusal.column) for refusal in junk] == [
        (1, 1 + 1023 * n) for n in range(5)
    ]


@pytest.mark.parametrize("end", [b"q", b"quite", b"\0"])
def test_a_line_that_begins_with_q_or_nul_ends_it_all(end: bytes) -> None:
    scanner = TextScanner()
    block = scanner.scan(GOOD + b"\n" + end + b"\n" + GOOD + b"\n")
    assert (len(block), block.refusals, scanner.ended) == (1, [], True)
    block = scanner.scan(GOOD + b"\n", final=True)
    assert (len(block), block.refusals) == (0, [])


def test_q_is_only_the_end_at_the_beginning_of_a_line() -> None:
    data = b" q\n\tq\nQ\n1q\n"
    assert len(scan_problems(TextScanner(), data)) == 4


# ------------------------------------------------------------------------------------- any input

SHREDS = st.sampled_from(
    (
        *(b"1", b",", b"/", b" ", b"\n", b"\r\n", b"\0", b"q", b"0x1p", b"nan", b"1e39", b"\xff"),
        *(b" entity=", b"arrival=1", b"seq=7", b"teleport=1", b"=", b"#", b"9" * 1000),
        *(GOOD, GOOD + b"\n", "é".encode()),
    )
)
BYTES = st.one_of(st.binary(max_size=200), st.lists(SHREDS, max_size=30).map(b"".join))


@given(data=BYTES, size=st.integers(1, 1500))
@examples(500)
def test_packets_and_problems_do_not_depend_on_how_the_input_is_cut(data: bytes, size: int) -> None:
    whole, pieces = TextScanner(), TextScanner()
    assert repr(scan_packets(whole, data)) == repr(scan_packets(pieces, cut(data, size)))
    assert scan_problems(TextScanner(), data) == scan_problems(TextScanner(), cut(data, size))
    assert whole.ended == pieces.ended


@given(data=BYTES)
@examples(500)
def test_every_line_is_a_packet_or_a_problem(data: bytes) -> None:
    blocks = list(scan_all(TextScanner(), data))
    pieces = list(oracle.split_lines(data))
    taken = sum(len(block) for block in blocks)
    told = taken + sum(len(block.refusals) for block in blocks)
    assert len(pieces) - len(oracle.remarks(data)) <= told <= len(pieces)
    assert taken <= sum(oracle.scan_line(piece) is not None for piece in pieces)


def test_a_line_that_is_not_whole_yet_waits_for_its_end() -> None:
    scanner = TextScanner()
    assert len(scanner.scan(GOOD)) == 0
    assert len(scanner.scan(b"5\n")) == 1
    assert len(scanner.scan(GOOD)) == 0
    assert scanner.scan(b"", final=True)[0].time == 0.1
