"""Recordings of real programs: the required understanding of each, and the messages."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest
from support.recordings import EXHAUSTIVE
from support.running import epic

from epic_cli import Packet, read_packets
from epic_cli.recordings.read_spec import ReadSpec

WILD = Path(__file__).parent / "wild"
INDEX = tomllib.loads((WILD / "index.toml").read_text())


def packets(name: str, how: str) -> tuple[list[Packet], ReadSpec | None]:
    with read_packets(WILD / name, read=how) as reader:
        return list(reader), reader.layout


def test_each_file_is_in_the_index() -> None:
    assert {path.name for path in WILD.iterdir()} - {"index.toml"} == set(INDEX)
    assert all(item["program"] for item in INDEX.values())


@pytest.mark.parametrize("name", INDEX)
def test_what_must_be_understood(name: str) -> None:
    expected = INDEX[name]
    found, layout = packets(name, expected.get("read", ""))
    assert len(found) == expected["packets"]
    assert len({packet.entity for packet in found}) == expected["entities"]
    for packet, state in ((found[0], expected["first"]), (found[-1], expected["last"])):
        assert [packet.time, *packet.position] == pytest.approx(state, abs=0.05, rel=1e-3)
    if layout is not None:  # what was said can be pasted, and says the same
        assert packets(name, layout.write())[0] == found


@pytest.mark.parametrize("name", [*INDEX][:: 1 if EXHAUSTIVE else 3])
def test_the_command_line_reads_it_also_from_a_stream_or_says_how(name: str) -> None:
    how = INDEX[name].get("read", "")
    data = (WILD / name).read_bytes()
    whole = epic("convert", "--to", "csv", "--read", how, name, cwd=WILD)
    assert whole.returncode == 0, whole.stderr
    assert whole.stdout.count(b"\n") == INDEX[name]["packets"] + 1
    done = epic("convert", "--to", "csv", "--read", how, stdin=data)
    if name.endswith((".xlsx", ".db")):
        assert done.returncode == 2
        assert b"epic convert FILE" in done.stderr
    else:
        assert done.stdout == whole.stdout
    assert len(list(read_packets(io.BytesIO(data), read=how))) == INDEX[name]["packets"]


def test_sheets_and_tables_are_chosen(tmp_path: Path) -> None:
    calamine = epic("convert", "--to", "csv", "--read", "table=About", "pandas.xlsx", cwd=WILD)
    assert calamine.returncode in (1, 2)
    none = epic("convert", "--to", "csv", "--read", "table=ann", "match.db", cwd=WILD)
    assert none.returncode == 2
    assert b"'players', 'states'" in none.stderr
    (tmp_path / "cut.db").write_bytes((WILD / "match.db").read_bytes()[:3000])
    (tmp_path / "cut.xlsx").write_bytes((WILD / "pandas.xlsx").read_bytes()[:3000])
    for name in ("cut.db", "cut.xlsx"):
        done = epic("replay", name, cwd=tmp_path)
        assert done.returncode == 2
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", [name for name, one in INDEX.items() if "findings" in one])
def test_what_is_in_doubt_is_found_and_how_to_read_it_mends_it(name: str) -> None:
    how = INDEX[name].get("read", "")
    found = epic("inspect", "--format", "json", name, cwd=WILD)
    assert found.returncode == 1
    codes = [load["code"] for load in json.loads(found.stdout)["findings"]]
    assert set(INDEX[name]["findings"]) <= set(codes)
    if how:
        mended = epic("inspect", "--format", "json", "--read", how, name, cwd=WILD)
        assert json.loads(mended.stdout)["doubts"] == []
