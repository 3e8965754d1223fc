"""Rows of files: strange names, and single packets that turn."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.running import PACKET, epic


@pytest.mark.parametrize("row_format", ["table", "tsv", "csv", "jsonl"])
def test_a_name_cannot_steer_a_terminal_or_end_a_row(tmp_path: Path, row_format: str) -> None:
    name = "a\x1b[2J\u009b\udcff.txt"
    (tmp_path / name).write_bytes(PACKET)
    done = epic("replay", "-f", row_format, "--file-column", "file", name, cwd=tmp_path)
    output = done.stdout
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
