"""Vectors in one cell or text are read like numbers in separate cells."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.refusals import Reason
from epic_cli.recordings.lines import find_numbers
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import make_reader, read

NUMBERS = st.floats(-1e6, 1e6).map(repr) | st.integers(-999, 999).map(str)

#: How engines and spreadsheets write them.
FORMS = ("({}, {}, {})", "{},{},{}", "{};{};{}", "[{} {} {}]", "Vector3({}, {}, {})",
         "V(X={}, Y={}, Z={})", "X={} Y={} Z={}", '{{"x":{},"y":{},"z":{}}}', "<{}, {}, {}>",
         "Vector3 {{ X = {}, Y = {}, Z = {} }}", " ( {} , {} , {} ) ", "({}f, {}f, {}f)",
         )  # fmt: skip


def packets(data: str, columns: str = "") -> list[Packet]:
    """Return the packets of a recording in which nothing is refused."""
    pieces = iter([data.encode(), b""])
    layout = ReadSpec.parse(columns) if columns else None
    blocks = list(read(lambda: next(pieces), layout))
    assert not [refusal for block in blocks for refusal in block.refusals]
    return [block[index] for block in blocks for index in range(len(block))]


@examples(200)
@given(st.lists(NUMBERS, min_size=3, max_size=3), st.sampled_from(FORMS))
def test_a_vector_has_its_numbers(numbers: list[str], form: str) -> None:
    assert find_numbers(form.format(*numbers)) == tuple(numbers)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("(1,5, -2,25, 3,0)", ("1.5", "-2.25", "3.0")),
        ("1,5;2", ("1.5", "2")),
        ("(nan, -Infinity)", ("nan", "-Infinity")),
        ("(X=1,Y=2)", ("1", "2")),
        ("inf inf", ("inf", "inf")),
    ],
)
def test_numbers_have_a_decimal_point(text: str, numbers: tuple[str, ...]) -> None:
    assert find_numbers(text) == numbers


@pytest.mark.parametrize(
    "text",
    ["", "1", "(1)", "1,5, 2", "(1, 2", "1, 2)", "2024-05-01 12:00:00", "12:00:00", "a b",
     "(Y=1, X=2)", "(X=1, 2)", "((1, 2))", "1 2 x", "1,,2",
     "(" * 5000, " ".join("1" * 17), "1 " * 300],
)  # fmt: skip
def test_what_is_no_vector(text: str) -> None:
    assert find_numbers(text) is None


@examples(50)
@given(
    st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=1, max_size=4),
    st.sampled_from(FORMS),
    st.booleans(),
)
def test_cells_and_texts_are_columns(rows: list[list[str]], form: str, as_json: bool) -> None:
    plain = ["t,x,y,z,vx,vy,vz", *(f"{t},{','.join(row)}" for t, row in enumerate(rows))]
    vectors = [(t, form.format(*row[:3]), form.format(*row[3:])) for t, row in enumerate(rows)]
    if as_json:
        lines = [json.dumps({"t": t, "pos": p, "state": {"velocity": v}}) for t, p, v in vectors]
    else:
        cells = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row[1:]] for row in vectors]
        lines = ["t,pos,velocity", *(f"{t},{p},{v}" for t, (p, v) in enumerate(cells))]
    assert packets("\n".join(lines)) == packets("\n".join(plain))


def test_vectors_of_several_entities_are_asked_for() -> None:
    data = 't,ann_pos,bob_pos\n0,"(1, 2)",\n1,"(1, 2)","(3, 4)"\n'
    found = packets(data, "time=t,x=*_pos.0,y=*_pos.1")
    assert [(packet.entity, packet.time) for packet in found] == [
        ("ann", 0),
        ("ann", 1),
        ("bob", 1),
    ]


def test_a_column_with_the_name_of_a_number_is_itself() -> None:
    (packet,) = packets('t,pos.0,pos.1,pos\n0,1,2,"(3, 4)"\n', "x=pos.0,y=pos.1")
    assert tuple(packet.position) == (1, 2, 0)


def test_a_cell_that_is_no_vector_is_refused_where_it_stands() -> None:
    reader = make_reader("csv")
    block = reader.scan(b't,pos\n0,"(1, 2)"\n1,nowhere\n2,"(1)"\n3,\n4,"(1, 2)"\n', True)
    assert len(block) == 2
    assert [(refusal.line, refusal.column, refusal.reason) for refusal in block.refusals] == [
        (3, 3, Reason.FIELD_NOT_A_NUMBER),
        (4, 3, Reason.FIELD_NOT_A_NUMBER),
        (5, 3, Reason.FIELD_MISSING),
    ]
