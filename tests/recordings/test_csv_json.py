"""CSV and JSON lines: their packets, and the place of the mistake in a wrong line."""

import pytest
from support.recordings import problems_of, scan_packets, scan_problems
from support.running import epic

from epic_cli import Packet
from epic_cli.recordings.entries.csv.reader import CsvReader

HEADER = b"time,x,y,z,vx,vy,vz\n"
CSV = HEADER + b"0.1,1,2,3,4,5,6\n0.2,2,3,4,5,6,7\n"
PACKETS = [Packet((1, 2, 3), (4, 5, 6), 0.1), Packet((2, 3, 4), (5, 6, 7), 0.2)]


# ------------------------------------------------------------------------------------------- CSV


def test_columns_may_stand_in_any_order_among_others() -> None:
    data = (
        'vz,"entity", vy ,note,vx,z,y,x,"time",arrival,seq,teleport,delta\n'
        '6,"a, ""b""",5,"x\ty",4,3,2,1,0.1,0.3,7,1,0.02\n'
        " 6 ,,5,,4,3,2,1,0.1,,,0,\n"
    )
    assert scan_packets(CsvReader(), data.encode()) == [
        Packet((1, 2, 3), (4, 5, 6), 0.1, 0.3, 'a, "b"', True, 7, 0.02),
        PACKETS[0],
    ]


def test_without_a_column_nothing_more_is_read() -> None:
    reader = CsvReader()
    block = reader.scan(b"\n" + HEADER.replace(b",z,vx", b"") + b"1,2,3,4,5\n")
    [problem] = problems_of(block)
    assert (problem.line, problem.column, problem.caret) == (2, 1, 0)
    assert problem.what == "the header has no column z, vx"
    assert problem.expected == "the columns x,y,z,vx,vy,vz,time"
    assert reader.ended
    assert len(block) == 0
    assert reader.scan(CSV).refusals == []


@pytest.mark.parametrize("row", ["0.3 1 2 3 ", "0.3 1 2 3\t", "0.3 1 2 3\ta b", "0.3 1\x0b2 3 4 a"])
def test_a_row_of_words_has_a_word_in_each_column(row: str) -> None:
    """The engine and the slow way, which takes the first row, cut words at the same blanks."""
    for place in (1, 2):
        rows = ["time x y z entity", "0.1 1 2 3 a", "0.2 1 2 3 b\xa0c"]
        rows.insert(place, row)
        data = "\n".join(rows).encode()
        assert [packet.entity for packet in scan_packets(CsvReader(), data)] == ["a", "b\xa0c"]
        reasons = [problem.what for problem in scan_problems(CsvReader(), data)]
        assert reasons == [f"the row has {len(row.split())} fields"]


def test_after_a_wrong_row_the_next_one_is_read() -> None:
    wrong = b"\xff\n0.1\n\n0.1,1,2,3,4,5,x\n"
    data = CSV.replace(b"0.2,", wrong + b"0.2,")
    assert scan_packets(CsvReader(), data) == PACKETS
    found = scan_problems(CsvReader(), data)
    assert [(problem.line, problem.what) for problem in found] == [
        (3, "this is not UTF-8"),
        (4, "the row has 1 fields"),
        (6, "vz is not a number"),
    ]


# ------------------------------------------------------------------------------------ JSON lines


@pytest.mark.parametrize(
    "above",
    [
        b"Unity log v1\n",
        b"# recorded by Ann, on 2024-05-01, level 3\n\n",
        b"My Game, Version 2\n\r\nPlayer,Ann\n",
        b"sep=,\n",
        b"Log\n" * 19,
    ],
)
def test_lines_above_a_header_are_passed_over(above: bytes) -> None:
    table = b"Time,PosX,PosY\n0,1,2\n0.1,x,2\n0.2,3,4\n"
    wanted = epic(stdin=table)
    found = epic(stdin=above + table)
    assert found.stdout == wanted.stdout
    lines = above.count(b"\n")
    assert found.stderr == wanted.stderr.replace(b":3:", b":%d:" % (3 + lines))
    given = ("--read", "time=Time,x=PosX,y=PosY")
    assert epic("--read", "csv", *given, stdin=above + table).stdout == wanted.stdout
