"""Rows of tables and lines of JSON in the engine, against the same lines field by field."""

import csv
import datetime
import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import ALL_FIELDS, FIELDS, JsonScanner, RecordScanner, TableScanner

ROW = dict(zip(FIELDS, ("1", " 2 ", "3", "4e0", "5", "0x6", ".1"), strict=True))


def packets_of(block: PacketBlock) -> list[Packet]:
    return [block[index] for index in range(len(block))]


def one(fields: dict[str, str], **units: object) -> object:
    """Return the packet of these fields, or what is wrong with them."""
    block = PacketBlock()
    scanner = RecordScanner(block.entities, **units)  # type: ignore[arg-type]
    return scanner.add(block, fields, 1, 0, 0) or block[0]


# ------------------------------------------------------------------------------- separate fields


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("", Reason.FIELD_MISSING),
        (" ", Reason.FIELD_MISSING),
        ("1x", Reason.FIELD_NOT_A_NUMBER),
        ("1 2", Reason.FIELD_NOT_A_NUMBER),
        ("½", Reason.FIELD_NOT_A_NUMBER),
    ],
)
def test_a_wrong_field_is_named(number: str, reason: Reason) -> None:
    assert one({**ROW, "vy": number}) == (reason, "vy")


def test_all_three_velocities_may_be_missing_and_not_some_of_them() -> None:
    nothing = {"vx": "", "vy": " ", "vz": ""}
    packet = one({**ROW, **nothing})
    assert packet == ((1, 2, 3), None, 0.1, None, "", False, None, 0.0, *3 * [None])
    assert one({**ROW, **nothing, "vx": "1"}) == (Reason.FIELD_MISSING, "vy")


# ------------------------------------------------------------------------------------------ units


def moment(**units: object) -> tuple[float, float | None]:
    """Return time and arrival of ``1700000000123.456`` and of 50 more, in these units."""
    fields = {"time": "1700000000123.456", "x": "0", "y": "0", "z": "0"}
    packet = one({**fields, "arrival": "1700000000173.456"}, **units)
    return packet.time, packet.arrival  # type: ignore[attr-defined]


def test_times_have_units_and_an_origin_that_arrivals_share() -> None:
    assert moment() == (1700000000123.456, 1700000000173.456)
    assert moment(per_second=1e3) == (1700000000.123456, 1700000000.173456)
    assert moment(per_second=1e3, origin=None) == (0, 0.05)
    assert moment(per_second=1e3, origin=1.7e12) == pytest.approx((0.123456, 0.173456), abs=1e-12)


def test_a_difference_of_unix_times_has_all_its_digits() -> None:
    block = PacketBlock()
    scanner = RecordScanner(block.entities, per_second=1e9, origin=None)
    for time in ("1700000000123456789", "1700000000123456791", "1700000000123456789.5"):
        assert scanner.add(block, {"time": time, "x": "0", "y": "0", "z": "0"}, 1, 0, 0) is None
    # 19 digits are a double already, which has steps of 256 ns there
    assert [packet.time for packet in packets_of(block)] == pytest.approx(
        [0, 2e-9, 5e-10], abs=2.6e-7
    )
    block = PacketBlock()
    scanner = RecordScanner(block.entities, per_second=1e6, origin=None)
    for time in ("1700000000123456", "1700000000123457", "1700000000123456.5"):
        assert scanner.add(block, {"time": time, "x": "0", "y": "0", "z": "0"}, 1, 0, 0) is None
    assert [packet.time for packet in packets_of(block)] == [0, 1e-6, 5e-7]


@pytest.mark.parametrize("text", ["-.001", "-1e-3", "-1234567.000000000000001", "-1e300"])
def test_an_instant_before_0_is_the_number_that_is_written(text: str) -> None:
    """Whole and part have one sign: -1 and 0.999 would be -0.0010000000000000009."""
    packet = one({"time": text, "x": "0", "y": "0", "z": "0"}, per_second=1e3)
    assert packet.time == float(text) / 1e3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:34:56.789Z",
        "2024-05-01 12:34:56.789",
        "2024-05-01T14:34:56,789+02:00",
        "2024/05/01 12:34:56.789",
        "1969-12-31T23:59:59.25+00:00",
        "2000-02-29T00:00:00-1130",
        "0001-01-01T00:00Z",
    ],
)
def test_dates_are_seconds_since_1970(text: str) -> None:
    plain = text.replace("/", "-").replace(",", ".").replace(".789", ".789000").replace("Z", "")
    plain = plain.replace("-1130", "-11:30").replace(".25", ".250000")
    date = datetime.datetime.fromisoformat(plain)
    wanted = (date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).timestamp()
    packet = one({"time": text, "x": "0", "y": "0", "z": "0"}, per_second=None)
    assert packet.time == pytest.approx(wanted, abs=1e-6)  # type: ignore[attr-defined]


def test_times_of_day_count_from_midnight() -> None:
    packet = one({"time": "01:02:03.5", "x": "0", "y": "0", "z": "0"}, per_second=None)
    assert packet.time == 3723.5  # type: ignore[attr-defined]


def test_a_day_may_end_at_24_hours() -> None:
    ends, begins, late = (
        one({"time": text, "x": "0", "y": "0", "z": "0"}, per_second=None)
        for text in ("2024-01-01T24:00:00", "2024-01-02T00:00:00", "2024-01-01T25:00:00")
    )
    assert ends == begins
    assert late == (Reason.NOT_A_DATE, "time")


@pytest.mark.parametrize("text", ["1.5", "2024-13-01T00:00:00", "2024-01-01", "12:60", "12:00:00x",
                                  "2024-01-01T00:00:00+", "2024-01-01T", "::"])  # fmt: skip
def test_what_is_no_date_is_refused(text: str) -> None:
    fields = {"time": text, "x": "0", "y": "0", "z": "0"}
    assert one(fields, per_second=None) == (Reason.NOT_A_DATE, "time")


@pytest.mark.parametrize(
    ("axes", "position", "velocity"),
    [
        ("xyz", (1, 2, 3), (4, 5, 6)),
        ("xzy", (1, 3, 2), (4, 6, 5)),
        ("xy", (1, 2, 0), (4, 5, 0)),
        ("xz", (1, 3, 0), (4, 6, 0)),
        ("y", (2, 0, 0), (5, 0, 0)),
    ],
)
def test_axes_and_scale(axes: str, position: tuple[int], velocity: tuple[int]) -> None:
    used = {name for name in FIELDS if name == "time" or name[-1] in axes}
    fields = {name: text for name, text in ROW.items() if name in used}
    packet = one(fields, axes=axes, scale=2.0)
    assert packet.position == tuple(2 * value for value in position)  # type: ignore[attr-defined]
    assert packet.velocity == tuple(2 * value for value in velocity)  # type: ignore[attr-defined]


@pytest.mark.parametrize("axes", [*permutations("xyz", 2), *permutations("xyz", 3)], ids="".join)
def test_a_spin_is_reflected_as_its_axes_are(axes: tuple[str, ...]) -> None:
    whole = [*axes, *sorted({*"xyz"} - {*axes})]
    matrix = np.array([[name == axis for name in "xyz"] for axis in whole], float)
    fields = {"time": "0", **dict.fromkeys(axes, "0"), "qx": "0", "qy": "0", "qz": "0", "qw": "1"}
    packet = one({**fields, "wx": "1", "wy": "2", "wz": "3"}, axes="".join(axes))
    expected = np.linalg.det(matrix) * matrix @ [1, 2, 3]
    assert packet.spin == tuple(expected.round())  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["true", "TRUE", "1", "false", "False", "0"])
def test_a_teleport_is_a_word_or_a_digit(text: str) -> None:
    packet = one({**ROW, "teleport": text})
    assert packet.teleport == (text.lower() in ("true", "1"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("mark", [".", ","])
def test_numbers_have_at_most_1024_characters(mark: str) -> None:
    for length in (1023, 1024, 1025):
        text = f"0{mark}{'1' * (length - 2)}"
        found = one({**ROW, "x": text}, decimal_comma=mark == ",")
        assert (found == (Reason.FIELD_NOT_A_NUMBER, "x")) == (length > 1024)


def test_a_decimal_comma_is_a_point() -> None:
    packet = one({**ROW, "x": "1,5", "time": "0,25"}, decimal_comma=True)
    assert (packet.position[0], packet.time) == (1.5, 0.25)  # type: ignore[attr-defined]
    assert one({**ROW, "x": "1,5"}) == (Reason.FIELD_NOT_A_NUMBER, "x")
    twice = one({**ROW, "x": "1.234,5"}, decimal_comma=True)
    assert twice == (Reason.FIELD_NOT_A_NUMBER, "x")


# ------------------------------------------------------------------------------------ whole lines

CELLS = st.sampled_from(
    ["", " ", "1", "-2.5", " 3 ", "4e1", "nan", "0x1p3", "1e", "x", '"5"', '"6,5"', '"a""b"', "7,5",
     "true", "é", "\xa08", "9\t", '"', '1"2', "\r", "\x00", "12:00:01.5", "1700000000123"]
)  # fmt: skip


def slowly(scanner: RecordScanner, block: PacketBlock, fields: dict[str, str] | None) -> None:
    if fields is not None:
        scanner.add(block, fields, 1, 0, 0)


@given(
    columns=st.permutations([*ALL_FIELDS, None, None]),
    rows=st.lists(st.dictionaries(st.integers(0, 13), CELLS, max_size=2), min_size=1, max_size=4),
    delimiter=st.sampled_from(",;\t|"),
    per_second=st.sampled_from([1.0, 1e3, None]),
    first=st.booleans(),
)
@examples(300)
def test_a_row_is_read_at_once_as_it_is_cell_by_cell(
    columns: list[str | None],
    rows: list[dict[int, str]],
    delimiter: str,
    per_second: float | None,
    first: bool,
) -> None:
    units = {"per_second": per_second, "origin": None if first else 0.0,
             "decimal_comma": delimiter != ","}  # fmt: skip
    fast = TableScanner(columns, delimiter, **units)  # type: ignore[arg-type]
    slow = RecordScanner(**units)  # type: ignore[arg-type]
    times = ("time", "arrival") if per_second is None else ()
    usual = ["01:00:00" if name in times else "1" for name in columns]
    for odd in rows:
        line = delimiter.join(odd.get(place, cell) for place, cell in enumerate(usual))
        block, wanted = PacketBlock(fast.entities), PacketBlock(slow.entities)
        block.text = (line + "\n").encode()
        if not fast.take_lines(block, 0, 1, 65536)[0]:
            assert odd  # it is left over: there is nothing to compare
            continue
        parsed = next(csv.reader([line], delimiter=delimiter, strict=True))
        assert len(parsed) == len(columns)
        fields = {name: cell for name, cell in zip(columns, parsed, strict=True) if name}
        assert slow.add(wanted, fields, 1, 0, 0) is None, line
        assert repr(block[0]) == repr(wanted[0])


PATHS = {"time": ("header", "t"), "x": ("pos", "0"), "y": ("pos", "1"), "z": ("pos", "2"),
         "vx": ("vel", "x"), "vy": ("vel", "y"), "vz": ("vel", "z"), "entity": ("id",),
         "teleport": ("jump",)}  # fmt: skip
SINGLE = st.sampled_from([
    "1", "-2.5", "0.5e-3", "null", "true", "false", '"3"', '" 4 "', '"é"', '"\\u0031"',
                          "01", ".5", "1.", "+1", "NaN", "[]", "{}", '"a\\"b"'])  # fmt: skip


@given(odd=st.dictionaries(st.integers(0, 8), SINGLE, max_size=2), more=SINGLE, twice=st.booleans())
@examples(300)
def test_an_object_is_read_at_once_as_it_is_value_by_value(
    odd: dict[int, str], more: str, twice: bool
) -> None:
    t, x, y, z, vx, vy, vz, entity, jump = (odd.get(place, "1") for place in range(9))
    again = f', "id": {more}' if twice else ""
    line = (
        f'{{"more": {more}, "header": {{"t": {t}, "n": [{more}, {{}}]}}, "pos": [{x}, {y},{z} ],'
        f'"vel":{{"x": {vx}, "y": {vy}, "z": {vz}}}, "id": {entity}, "jump" : {jump}{again}}}'
    )
    fast, block = JsonScanner(PATHS), PacketBlock()
    block = PacketBlock(fast.entities)
    block.text = (line + " \n").encode()
    if not fast.take_lines(block, 0, 1, 65536)[0]:
        return
    assert not twice
    item = json.loads(line, parse_float=str, parse_int=str, parse_constant=pytest.fail)
    fields = {}
    for field, path in PATHS.items():
        value = item
        for name in path:
            value = value[int(name)] if isinstance(value, list) else value[name]
        assert not isinstance(value, bool) or field == "entity" or field == "teleport"
        fields[field] = str(int(value)) if isinstance(value, bool) else value or ""
    slow = RecordScanner()
    wanted = PacketBlock(slow.entities)
    assert slow.add(wanted, fields, 1, 0, 0) is None, line
    assert repr(block[0]) == repr(wanted[0])


def test_usual_lines_are_not_left_over() -> None:
    table = TableScanner(["time", None, "x", "y", "z", "entity"], "\t")
    block = PacketBlock(table.entities)
    block.text = b'0.1\t"n o"\t1\t2\t 3\t"tank 7"\r\n' + b"0.2\t\t1\t2\t3\t\n" + b"0.3\t1\t2\n"
    assert table.take_lines(block, 0, 5, 65536) == (block.text.index(b"0.3"), 7)
    assert [packet.entity for packet in packets_of(block)] == ["tank 7", ""]
    assert [block.line(index) for index in range(2)] == [5, 6]
    objects = JsonScanner(PATHS)
    block = PacketBlock(objects.entities)
    block.text = b'{"pos":[1,2,3],"id":"\xc3\xa9","header":{"t":0.1}, "vel":null}\n'
    assert objects.take_lines(block, 0, 1, 65536) == (len(block.text), 2)
    assert block[0].entity == "é"
    assert block[0].velocity is None
    assert math.isclose(block[0].time, 0.1)
