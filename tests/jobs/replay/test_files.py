"""Rows of files: strange names, and single packets that turn."""

from __future__ import annotations

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
