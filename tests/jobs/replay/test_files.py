"""Several files in one call: whose rows are whose."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support.running import PACKET, ROWS, epic

FORMATS = ["table", "tsv", "csv", "jsonl"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With two recordings, one of them with a name that needs quotes."""
    (tmp_path / "a.txt").write_bytes(PACKET)
    (tmp_path / 'b,"2".txt').write_bytes(PACKET)
    return tmp_path


def rows(folder: Path, *args: str) -> bytes:
    done = epic("replay", *args, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


BOTH = ("a.txt", 'b,"2".txt')


def test_csv_has_a_column_of_files(folder: Path) -> None:
    table = list(csv.DictReader(io.StringIO(rows(folder, "-f", "csv", *BOTH).decode())))
    alone = list(csv.DictReader(io.StringIO(rows(folder, "-f", "csv", "a.txt").decode())))
    assert table == [item | {"file": file} for file in BOTH for item in alone]


def test_tsv_has_a_column_of_files(folder: Path) -> None:
    lines = rows(folder, "-f", "tsv", *BOTH).decode().splitlines()
    alone = rows(folder, "-f", "tsv", "a.txt").decode().splitlines()
    assert lines[0] == alone[0] + "\tfile"
    assert lines[1:] == [f"{name}\t{file}" for file in BOTH for name in alone[1:]]


def test_json_lines_have_a_file(folder: Path) -> None:
    lines = [json.loads(line) for line in rows(folder, "-f", "jsonl", *BOTH).splitlines()]
    alone = [json.loads(line) for line in rows(folder, "-f", "jsonl", "a.txt").splitlines()]
    assert lines == [item | {"file": file} for file in BOTH for item in alone]


def test_a_table_begins_with_the_file(folder: Path) -> None:
    lines = rows(folder, "-f", "table", *BOTH).decode().splitlines()
    alone = rows(folder, "-f", "table", "a.txt").decode().splitlines()
    width = len(BOTH[1])
    assert lines[0] == "file".ljust(width) + alone[0]
    assert lines[1:] == [file.ljust(width) + name for file in BOTH for name in alone[1:]]


@pytest.mark.parametrize("row_format", FORMATS)
def test_one_file_or_no_column_is_as_before(folder: Path, row_format: str) -> None:
    alone = rows(folder, "-f", row_format, "a.txt")
    assert b"file" not in alone
    header = b"" if row_format == "jsonl" else alone.splitlines(keepends=True)[0]
    both = rows(folder, "-f", row_format, "--file-column", "no", *BOTH)
    assert both == alone + alone.removeprefix(header)


def test_the_demo_s_rows_have_no_column(folder: Path) -> None:
    assert rows(folder, *BOTH) == 2 * ROWS
    assert rows(folder, "--file-column", "no", *BOTH) == 2 * ROWS
    refused = epic("replay", "--file-column", "match", *BOTH, cwd=folder)
    assert refused.returncode == 2
    assert b"choose another --format" in refused.stderr


def test_the_column_has_any_name_but_those_that_are_there(folder: Path) -> None:
    one = rows(folder, "-f", "csv", "--file-column", "match, no.", "a.txt")
    assert one.splitlines()[0].endswith(b',entity,"match, no."')
    assert one.splitlines()[1].endswith(b",,a.txt")
    line = rows(folder, "-f", "jsonl", "--file-column", 'a"b', "a.txt").splitlines()[0]
    assert json.loads(line)['a"b'] == "a.txt"
    for name in ("", "time", "entity"):
        refused = epic("replay", "-f", "csv", "--file-column", name, "a.txt", cwd=folder)
        assert refused.returncode == 2
        assert b"--file-column cannot be" in refused.stderr


def test_standard_input_has_the_name_that_messages_give_it(folder: Path) -> None:
    done = epic("replay", "-f", "tsv", "a.txt", "-", stdin=PACKET, cwd=folder)
    files = [line.rpartition(b"\t")[2] for line in done.stdout.splitlines()]
    assert files == [b"file", *[b"a.txt"] * 5, *[b"<stdin>"] * 5]


@pytest.mark.parametrize("row_format", FORMATS)
def test_a_name_cannot_steer_a_terminal_or_end_a_row(folder: Path, row_format: str) -> None:
    name = "a\x1b[2J\u009b\udcff.txt"
    (folder / name).write_bytes(PACKET)
    output = rows(folder, "-f", row_format, "--file-column", "file", name)
    lines = output.splitlines()
    assert len(lines) == 5 + (row_format != "jsonl")
    output.decode()
    assert row_format == "csv" or b"\x1b" not in output


@pytest.mark.parametrize("words", [("a.txt",), ("-",), ("--entity", "", "a.txt")], ids=" ".join)
def test_one_packet_that_turns_has_rows_that_turn(tmp_path: Path, words: tuple[str, ...]) -> None:
    packet = b"1,2,3 / 4,5,6 / 0 arrival=0.11 rotation=0,0,0,1\n"
    (tmp_path / "a.txt").write_bytes(packet)
    found = epic("replay", "-f", "csv", *words, stdin=packet, cwd=tmp_path).stdout
    assert [row["qw"] for row in csv.DictReader(io.StringIO(found.decode()))] == 3 * ["1"]
