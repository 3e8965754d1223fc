"""Keys and columns that epic does not know are carried from format to format."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.running import epic

from epic_cli import Packet, read_packets
from epic_cli.recordings import list_written_formats
from epic_cli.recordings.extras import MOST_NAMES, is_word

NAMES = (  # none that is taken for a field
    st.text(max_size=6)
    .map("hp{}".format)
    .filter(lambda name: is_word(name) and not set('."') & {*name})
)
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), max_size=9)
VALUES = NUMBERS | st.booleans() | TEXTS | st.sampled_from(["1", "007", "-0", "true", "", " a "])


def convert(recording: bytes, to: str, *options: str) -> bytes:
    done = epic("convert", "-q", "--to", to, *options, stdin=recording)
    assert done.returncode == 0, done.stderr
    return done.stdout


def extras_of(recording: bytes | Path) -> list[dict[str, Any]]:
    source = recording if isinstance(recording, Path) else io.BytesIO(recording)
    return [dict(packet.extras or {}) for packet in read_packets(source)]


def lines(found: list[dict[str, Any]]) -> bytes:
    plain = ({"time": at / 10, **dict.fromkeys("xyz", 0)} for at in range(len(found)))
    own = ({"vx": 1, "vy": 2, "vz": 3, "entity": "a"} for _ in found)
    return b"".join(
        json.dumps({**one, **two, **extras}).encode() + b"\n"
        for one, two, extras in zip(plain, own, found, strict=True)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("extras")


@pytest.mark.parametrize("to", list_written_formats())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), min_size=1, max_size=5), st.data())
def test_extras_are_the_same_in_every_format(
    folder: Path, to: str, found: list[dict[str, Any]], data: st.DataObject
) -> None:
    if to == "parquet":  # a column has one type
        kind = data.draw(st.sampled_from([st.integers(-9, 9), TEXTS]))
        found = [{name: data.draw(kind) for name in extras} for extras in found]
    from epic_cli.jobs.convert.run import run
    from epic_cli.jobs.convert.spec import ConvertSpec
    from epic_cli.recordings.opening import ReadingLog, RecordingSource

    sink = io.BytesIO()
    source = RecordingSource("given", content=io.BytesIO(lines(found)))
    run(ConvertSpec(to), [source], sink, ReadingLog)
    place = folder / f"recording.{to}"
    place.write_bytes(sink.getvalue())
    written = extras_of(place)
    assert written == found
    kinds = [{name: type(value) for name, value in extras.items()} for extras in written]
    assert kinds == [{name: type(value) for name, value in one.items()} for one in found]


@pytest.mark.parametrize("to", list_written_formats())
def test_extras_are_those_of_each_packet_of_a_long_recording(tmp_path: Path, to: str) -> None:
    found = [{"hp": number, "team": f"t{number % 7}"} for number in range(4_200)]
    rows = (f"{at / 10},1,2,3,0,0,0,{one['hp']},{one['team']}\n" for at, one in enumerate(found))
    place = tmp_path / f"recording.{to}"
    place.write_bytes(convert(b"time,x,y,z,vx,vy,vz,hp,team\n" + "".join(rows).encode(), to))
    assert extras_of(place) == found


@pytest.mark.parametrize("to", list_written_formats())
def test_whole_numbers_of_any_size_are_written(tmp_path: Path, to: str) -> None:
    found = [{"most": 2**63 - 1, "more": 2**63, "least": -(2**64)}]
    place = tmp_path / f"recording.{to}"
    place.write_bytes(convert(lines(found), to))
    assert extras_of(place) == found


def test_packet_text_keeps_what_it_does_not_know() -> None:
    line = b'1,2,3 / 4,5,6 / 0.1 hp=80 team=red seq=3 name="New\\u0020York" # note=1\n'
    found = {"hp": 80, "team": "red", "name": "New York"}
    assert extras_of(line) == [found]
    written = b'1,2,3 / 4,5,6 / 0.1 seq=3 hp=80 team=red name="New\\u0020York"\n'
    assert convert(line, "text") == written
    assert convert(line, "csv").splitlines()[1] == b",0.1,1,2,3,4,5,6,,3,0,0,80,red,New York"


def test_quotes_make_a_text_unless_all_is_in_quotes() -> None:
    header = b"time,x,y,z,hp,code\n"
    assert extras_of(header + b'0,1,2,3,80,"007"\n0.1,1,2,3,"79",1.50\n') == [
        {"hp": 80, "code": "007"},
        {"hp": "79", "code": 1.5},
    ]
    assert extras_of(header + b'"0","1","2","3","80",""\n') == [{"hp": 80}]


def test_several_entities_have_their_own_and_what_all_share() -> None:
    wide = b"time,p1_x,p1_y,p1_hp,p2_x,p2_y,p2_hp,map\n0,1,2,80,3,4,70,dust\n"
    found = [{"map": "dust", "hp": 80}, {"map": "dust", "hp": 70}]
    assert extras_of(wide) == found
    players = {name: {"x": 1, "y": 2, "hp": hp} for name, hp in (("ann", 80), ("bob", 70))}
    nested = json.dumps({"t": 0, "map": "dust", "players": players}).encode() + b"\n"
    assert extras_of(nested) == found


def test_names_and_values_that_cannot_be_held_are_told() -> None:
    recording = lines([{"a b": 1, "ok": "two\nlines"}, {"ok": "one", "late": 5}])
    done = epic("convert", "--to", "csv", stdin=recording)
    assert done.stdout.splitlines()[0].endswith(b",a b,ok,late")
    assert (
        b"1 value is not carried over (values that the new format cannot hold): ok" in done.stderr
    )
    done = epic("convert", "--to", "text", stdin=recording)
    assert b"(names that the new format cannot hold): a b" in done.stderr
    assert b'ok="two\\nlines"' in done.stdout


def test_a_table_has_columns_for_what_the_first_packets_have() -> None:
    plain = "".join(f"1,2,3 / 0,0,0 / {at / 10}\n" for at in range(4000))
    late = f"{plain}1,2,3 / 0,0,0 / 400 late=5\n".encode()
    done = epic("convert", "--to", "csv", stdin=late)
    assert done.returncode == 0
    assert b"late" not in done.stdout
    assert b"1 value is not carried over (no column: the first packets decide" in done.stderr
    assert b'"late": 5' in convert(late, "jsonl")


@pytest.mark.parametrize("to", ["csv", "jsonl", "text"])
def test_hostile_names_are_bounded(to: str) -> None:
    names = [f"name{at}" for at in range(3 * MOST_NAMES)]
    many = lines([dict.fromkeys(names[at : at + 20], at) for at in range(0, len(names), 20)])
    done = epic("convert", "--to", to, stdin=many)
    assert done.returncode == 0
    assert b"not carried over" in done.stderr
    assert len(done.stderr) < 1000
    assert len({name for extras in extras_of(done.stdout) for name in extras}) == MOST_NAMES


def test_an_escape_does_not_reach_a_terminal() -> None:
    for to in ("csv", "jsonl", "text"):
        assert b"\x1b" not in convert(lines([{"ok": "\x1b[31mred", "\x1bname": 1}]), to)


def test_packets_of_python_keep_their_extras() -> None:
    packet = Packet((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), 0.5, extras={"hp": 80})
    assert list(read_packets([packet])) == [packet]
    assert extras_of(convert(b"1,2,3 / 0,0,0 / 0.5 hp=80\n", "jsonl")) == [packet.extras]


def test_inspect_names_them() -> None:
    said = epic("inspect", "-", stdin=b"1,2,3 / 4,5,6 / 0.1 hp=80 team=red\n").stdout.decode()
    assert any(line.split() == ["carried", "hp,", "team"] for line in said.splitlines())
