"""The default output of ``epic inspect``, and the output on demand."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.running import shell

from epic_cli.main import main
from epic_cli.recordings.findings import KINDS

MILLISECONDS = "time,x,y\n" + "".join(f"{50 * k},{k},0\n" for k in range(40))


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["inspect", *map(str, words)]) in (0, 1)
    return capsys.readouterr().out


def test_what_a_finding_means_is_said_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "packets.csv").write_text(MILLISECONDS)
    short, whole = printed(capsys, file), printed(capsys, "--explain", file)
    code = next(code for code in KINDS if code in short)
    means = KINDS[code].explanation
    assert means not in " ".join(short.split())
    assert means in " ".join(whole.split())
    assert "Facts of time and speed" in " ".join(whole.split())


def test_columns_without_room_are_where_inspect_has_them(tmp_path: Path) -> None:
    (tmp_path / "packets.csv").write_text(MILLISECONDS)
    done = shell("COLUMNS=30 epic inspect packets.csv", cwd=tmp_path)
    words = " ".join(done.stdout.decode().split())
    assert "Left out at 30 columns" in words
    assert "--format json" in words
    assert "--format csv" not in words
