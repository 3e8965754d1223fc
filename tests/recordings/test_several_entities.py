"""Rows and objects with several entities are read like one row or object for each entity."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text import RecordScanner
from epic_cli.recordings import LONGEST_LINE
from epic_cli.recordings.entries.json.reader import JsonlReader, has_no_entries, parse
from epic_cli.recordings.read_spec import ReadSpec, find_star, write_column
from epic_cli.recordings.reading import read as read_from

STATES = st.lists(
    st.dictionaries(
        st.sampled_from(["ann", "bob", "p1", "p10", "Tank7"]),
        st.tuples(st.integers(-99, 99), st.floats(-9, 9), st.none() | st.integers(-9, 9)),
        max_size=4,
    ),
    min_size=1,
    max_size=5,
)


def blocks(data: bytes, layout: ReadSpec | None = None, size: int = 65536) -> list[PacketBlock]:
    """Return the blocks of a recording that arrives in pieces of this many bytes."""
    pieces = iter([*(data[at : at + size] for at in range(0, len(data), size)), b""])
    return list(read_from(lambda: next(pieces), layout))


def packets(found: list[PacketBlock]) -> list[Packet]:
    assert not [refusal for block in found for refusal in block.refusals]
    return [block[index] for block in found for index in range(len(block))]


def told(data: str) -> str:
    """Return the columns that epic reports for a recording."""
    layouts: list[ReadSpec] = []
    pieces = iter([data.encode(), b""])
    list(read_from(lambda: next(pieces), None, layouts.append))
    return layouts[-1].write()


def flat(states: list[dict[str, tuple[int, float, int | None]]]) -> list[dict[str, object]]:
    """Return an object for each state, the form to which all others are equivalent."""
    return [
        {"t": time / 8, "id": name, "x": x, "y": y, "z": 0}
        | ({} if speed is None else {"vx": speed, "vy": 0, "vz": 0})
        for time, state in enumerate(states)
        for name, (x, y, speed) in state.items()
    ]


@examples(100)
@given(STATES, st.integers(1, 99), st.booleans(), st.sampled_from(["list", "object"]))
def test_entries_of_objects_are_objects(
    states: list[dict[str, tuple[int, float, int | None]]], size: int, whole: bool, kind: str
) -> None:
    rows = flat(states)
    if not rows:
        return
    frames: list[dict[str, object]] = []
    for time in range(len(states)):
        now = [{**row} for row in rows if row["t"] == time / 8]
        for row in now:
            del row["t"]
        entries = now if kind == "list" else {str(row.pop("id")): row for row in now}
        frames.append({"t": time / 8, "match": {"id": 7}, "players": entries})
    plain = "\n".join(map(json.dumps, rows)).encode()
    nested = (
        json.dumps({"version": 1, "log": {"note": "]}", "frames": frames}, "end": [{}]}, indent=1)
        if whole
        else "\n".join(map(json.dumps, frames))
    )
    assert packets(blocks(nested.encode(), size=size)) == packets(blocks(plain))


@examples(100)
@given(STATES, st.sampled_from(["{name}_{field}", "{field}_{name}", "pos.{name}.{field}"]))
def test_columns_of_entities_are_rows(
    states: list[dict[str, tuple[int, float, int | None]]], pattern: str
) -> None:
    names = sorted({name for state in states for name in state})
    if len(names) < 2:
        return
    header = [pattern.format(name=name, field=field) for name in names for field in "xyz"]
    lines = [",".join(["t", *header])]
    for time, state in enumerate(states):
        cells = [
            cell
            for name in names
            for cell in (
                [str(state[name][0]), repr(state[name][1]), "0"] if name in state else ["", "", ""]
            )
        ]
        lines.append(",".join([str(time / 8), *cells]))
    rows = sorted(flat(states), key=lambda row: (str(row["t"]), str(row["id"])))
    for row in rows:
        for field in ("vx", "vy", "vz"):
            row.pop(field, None)
    plain = "\n".join(map(json.dumps, rows)).encode()
    expected = packets(blocks(plain)) if rows else []
    assert packets(blocks("\n".join(lines).encode())) == expected


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        ("t,p1_x,p1_y,p2_x,p2_y\n0,1,2,3,4\n", "time=t,x=*_x,y=*_y"),
        ("t,x_red,y_red,x_blue,y_blue\n0,1,2,3,4\n", "time=t,x=x_*,y=y_*"),
        ("t,p1_x,p1_y,p1_vx,p1_vy,p2_x,p2_y,p2_vx,p2_vy\n0,1,2,3,4,5,6,7,8\n",
         "time=t,x=*_x,y=*_y,vx=*_vx,vy=*_vy"),
        ("t,ball.x,ball.z,ann.x,ann.z\n0,1,2,3,4\n", "time=t,x=*.x,z=*.z"),
        ("t,Player1PosX,Player1PosY,Player12PosX,Player12PosY\n0,1,2,3,4\n",
         "time=t,x=*PosX,y=*PosY"),
        ('{"t":0,"m":{"name":"duel"},"units":[{"name":"a","pos":{"x":1,"y":2}}]}\n',
         "time=t,x=units.*.pos.x,y=units.*.pos.y,entity=units.*.name"),
        ('{"t":0,"units":{"a":{"p":[1,2]},"b":{"p":[3,4]}}}\n',
         "time=t,x=units.*.p.0,y=units.*.p.1"),
        ('{"t":0,"units":[]}\n{"t":1,"units":[{"id":1,"x":1,"y":2}]}\n',
         "time=t,x=units.*.x,y=units.*.y,entity=units.*.id"),
    ],
)  # fmt: skip
def test_what_is_told_of_several_entities(data: str, columns: str) -> None:
    assert told(data).removesuffix("' --read axes=xz") == columns
    layout = ReadSpec.parse(columns)
    assert packets(blocks(data.encode(), layout)) == packets(blocks(data.encode()))


def test_what_a_star_stands_for_is_the_name_where_no_other_is_given() -> None:
    rows = b"t,p1_x,p1_y,p2_x,p2_y\n0,1,2,3,4\n0.5,5,6, ,\n"
    found = packets(blocks(rows))
    assert [(packet.entity, packet.time, tuple(packet.position)) for packet in found] == [
        ("p1", 0.0, (1.0, 2.0, 0.0)),
        ("p2", 0.0, (3.0, 4.0, 0.0)),
        ("p1", 0.5, (5.0, 6.0, 0.0)),
    ]


@pytest.mark.parametrize(
    ("data", "columns", "entities"),
    [
        ('{"id":"a","path":[{"t":0,"x":1,"y":2},{"t":1,"x":1,"y":2}]}\n{"id":"b"}\n',
         "time=path.*.t,x=path.*.x,y=path.*.y,entity=id", ["a", "a"]),
        ('{"path":[{"t":0,"x":1,"y":2},{"t":1,"x":1,"y":2}]}\n{}\n',
         "time=path.*.t,x=path.*.x,y=path.*.y", ["", ""]),
        ('{"a":[{"t":0,"x":1,"y":2}],"b":[{"t":0,"x":1,"y":2},{"t":1,"x":1,"y":2}]}',
         "time=*.t,x=*.x,y=*.y", ["a", "b", "b"]),
        ('{"v":1,"log":{"a":[{"t":0,"x":1,"y":2}],"b":[{"t":0,"x":1,"y":2}]},"end":[]}',
         "time=log.*.t,x=log.*.x,y=log.*.y", ["a", "b"]),
        ('{"a":{"t":0,"x":1,"y":2},"b":{"t":0,"x":1,"y":2}}\n', "time=*.t,x=*.x,y=*.y",
         ["a", "b"]),
        ('{"t":0,"m":{"v":1},"a":{"x":1,"y":2}}\n{"t":1,"a":{"x":1,"y":2},"b":{"x":1,"y":2}}\n',
         "time=t,x=*.x,y=*.y", ["a", "a", "b"]),
    ],
)  # fmt: skip
def test_states_and_members_that_are_entities(data: str, columns: str, entities: list[str]) -> None:
    assert told(data) == columns
    for layout in (None, ReadSpec.parse(columns)):
        assert [packet.entity for packet in packets(blocks(data.encode(), layout))] == entities


class Slowly(JsonlReader):
    """A scanner that takes each line value by value."""

    def _scanner(self, layout: ReadSpec) -> RecordScanner:
        return RecordScanner(self.entities, **layout.units)


def _object(pairs: list[tuple[str, str]]) -> str:
    members = ",".join(f'"{name}":{value}' for name, value in pairs)
    return f"{{{members}}}"


VALUES = st.sampled_from(
    ["1", "2.5", "-3e2", "null", "true", '"a"', '" 2 "', '"\\u0061"', "[1]", "01"]
)
ENTRIES = st.one_of(
    VALUES,
    st.lists(
        st.tuples(
            st.sampled_from(["id", "x", "x", "y", "y", "t", "vx", "teleport", "seq"]), VALUES
        ),
        max_size=6,
    ).map(_object),
)
CONTAINERS = st.lists(ENTRIES, max_size=3).map(lambda them: f"[{','.join(them)}]") | st.lists(
    st.tuples(st.sampled_from(["a", "b", "\\u0061", ""]), ENTRIES), max_size=3
).map(_object)


@examples(300)
@given(
    st.lists(st.tuples(st.sampled_from(["t", "id", "seq", "us"]), CONTAINERS | VALUES), max_size=6),
    st.sampled_from(
        [
            "time=t,x=us.*.x,y=us.*.y,entity=us.*.id",
            "time=us.*.t,x=us.*.x,y=us.*.y,entity=id",
            "time=us.*.t,x=us.*.x,y=us.*.y",
            "time=t,seq=us.u.seq,x=us.*.x,y=us.*.y",
            "time=t,x=us.*.x,y=us.*.y",
        ]
    ),
)
def test_entries_are_read_at_once_as_they_are_one_by_one(
    members: list[tuple[str, str]], columns: str
) -> None:
    usual = '{"t":1,"id":"e","seq":1,"us":{"u":{"t":1,"id":"i","seq":1,"x":1,"y":2}}}'
    odd = ",".join(f'"{name}":{value}' for name, value in [("t", "0"), *members])
    data = f"{usual}\n{usual}\n{{{odd}}}\n{{{odd[odd.find(',') + 1 :]}}}\n".encode()
    layout = ReadSpec.parse(columns)
    fast, slow = (reader(layout).scan(data, True) for reader in (JsonlReader, Slowly))
    assert len(fast) >= 2
    assert list(map(repr, map(fast.__getitem__, range(len(fast))))) == list(
        map(repr, map(slow.__getitem__, range(len(slow))))
    )
    assert fast.refusals == slow.refusals


def test_five_hundred_players_are_a_line() -> None:
    state = '{"id":"player%d","x":%d,"y":2,"vx":0.5,"vy":0.25,"health":100,"team":"red","yaw":0.25,'
    players = ",".join(f'{state % (index, index)}"note":"{"-" * 60}"}}' for index in range(500))
    data = f'{{"t":0,"players":[{players}]}}\n{{"t":1,"players":[{players}]}}\n'
    assert len(data) > 2 * LONGEST_LINE
    for text in (data, f'{{"map":"a","frames":[{",".join(data.splitlines())}]}}'):
        assert len(packets(blocks(text.encode()))) == 1000


def test_two_arrays_of_entities_are_a_choice() -> None:
    data = b'{"t":0,"us":[{"x":1,"y":2}],"them":[{"x":1,"y":2}]}\n'
    (refusal,) = [refusal for block in blocks(data) for refusal in block.refusals]
    assert refusal.reason is Reason.COLUMN_AMBIGUOUS
    assert refusal.names == ("us.*.x", "them.*.x")
    layout = ReadSpec.parse("x=them.*.x,y=them.*.y")
    assert len(packets(blocks(data, layout))) == 1


def test_an_entity_that_lacks_a_coordinate_is_refused_alone() -> None:
    data = b'{"t":0,"us":[{"id":"a","x":1,"y":2},{"id":"b","x":1},null,{"id":"c","x":1,"y":2}]}\n'
    found = blocks(data)
    (refusal,) = [refusal for block in found for refusal in block.refusals]
    assert (refusal.reason, refusal.field) == (Reason.KEY_MISSING, "us.*.y")
    assert [block[index].entity for block in found for index in range(len(block))] == ["a", "c"]


def test_objects_that_never_have_an_entity_are_told_at_the_end() -> None:
    (refusal,) = [
        refusal for block in blocks(b'{"t":0,"us":[]}\n' * 9) for refusal in block.refusals
    ]
    assert refusal.reason is Reason.COLUMN_UNCLEAR


def test_documents_behind_one_with_an_array_are_not_lost() -> None:
    one = b'{"a":{"log":[{"t":0,"x":1,"y":2}]},"note":"}"}'
    found = blocks(one + b"\n" + one, size=len(one))
    refusals = [refusal for block in found for refusal in block.refusals]
    assert sum(map(len, found)) == 1
    assert [refusal.line for refusal in refusals] == [2]


def test_the_array_of_a_document_is_where_it_stands() -> None:
    data = (
        b'{\n "map": "de_x",\n "log": [\n  {"t":0,"x":1,"y":2},\n  {"t":"?","x":1,"y":2}\n ]\n}\n'
    )
    (refusal,) = [refusal for block in blocks(data) for refusal in block.refusals]
    assert (refusal.line, refusal.column) == (5, 4)


@examples(200)
@given(st.text("ab*\\,.", max_size=8))
def test_a_star_in_a_name_is_written_so_that_it_is_none(name: str) -> None:
    assert find_star(write_column(name)) == -1


def test_an_array_of_packets_behind_another_is_not_passed_over() -> None:
    states = ",".join(f'{{"t":{time},"x":1,"y":2}}' for time in range(9000))
    others = '"names":["]","[",{"t":1}],"n":[1],"b":\n [ {"t":0,"x":1,"y":2},7]'
    data = f'{{"a":[{states}],{others}}}'
    found = blocks(data.encode())
    (refusal,) = [refusal for block in found for refusal in block.refusals]
    assert (refusal.reason, refusal.line, refusal.column) == (Reason.PACKETS_ELSEWHERE, 2, 4)
    assert sum(map(len, found)) == 9000
    layout = ReadSpec.parse("time=*.t,x=*.x,y=*.y")
    assert [packet.entity for packet in packets(blocks(data.encode(), layout))][8999:] == ["a", "b"]


def test_a_document_that_is_cut_behind_a_bracket_is_whole() -> None:
    data = b'{"note":{"v":"}"},"log":[{"t":0,"x":1,"y":2}]}'
    for size in range(1, len(data)):
        assert len(packets(blocks(data, size=size))) == 1


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        ("home_7_x|home_7_y|away_3_x|away_3_y|ball_x|ball_y", "home_7=01 away_3=23 ball=45"),
        ("p1.px|p1.py|p1.pz|p2.px|p2.py|p2.pz", "p1=012 p2=345"),
        ("world_x_red|world_y_red|world_x_blue|world_y_blue", "red=01 blue=23"),
        ("x_a_px|y_a_px|x_b_px|y_b_px", "a=01 b=23"),
        ("p1_position.x|p1_position.y|p2_position.x|p2_position.y", "p1=01 p2=23"),
        ("p1_position.x|p1_position.y|p1_velocity.x|p1_velocity.y|p2_position.x|p2_position.y"
         "|p2_velocity.x|p2_velocity.y", "p1=01 p2=45"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["csv", "jsonl", "json"])
def test_entities_are_found_on_whichever_side_of_the_axis_they_stand(
    names: str, meant: str, kind: str
) -> None:
    """Each entity gets its own axes, and no axis of another entity."""
    columns = names.split("|")
    rows = [
        {"t": step / 10, **{name: at * 100 + step for at, name in enumerate(columns)}}
        for step in range(8)
    ]
    if kind == "csv":
        data = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])
    else:
        data = json.dumps(rows) if kind == "json" else "\n".join(map(json.dumps, rows))
    source = iter([data.encode(), b""])
    found: dict[str, list[list[float]]] = {}
    for block in read_from(lambda: next(source)):
        assert not block.refusals
        for packet in (block[index] for index in range(len(block))):
            found.setdefault(packet.entity, []).append([*packet.position])
    assert found == {
        name: [[*(int(at) * 100 + step for at in places), 0.0][:3] for step in range(8)]
        for name, _, places in (one.partition("=") for one in meant.split())
    }


def test_only_an_object_whose_own_entries_are_empty_waits_for_some() -> None:
    layout = ReadSpec.parse("time=t,x=players.*.x,y=players.*.y")
    for text, waits in (
        ('{"t": 1, "players": [{"id": 1}], "events": []}', False),
        ('{"t": 1, "players": [], "events": [1]}', True),
        ('{"t": 1, "events": [1]}', True),
    ):
        assert has_no_entries(layout, parse(text)) == waits
