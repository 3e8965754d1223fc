"""What a command reads, it does not write over."""

from __future__ import annotations

from pathlib import Path

import pytest

from epic_cli.ui.main import main

PACKETS = "".join(f"{t / 20},0,0 / 1,0,0 / {t / 20} arrival={t / 20 + 0.05}\n" for t in range(60))


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "a.txt", "--link-out", "a.txt"),
        ("diagnose", "f", "--link-out", "f/b.txt"),
        ("diagnose", "a.txt", "--drawn", "d.csv", "--link-out", "./d.csv"),
        ("compare", "a.txt", "-s", "lerp", "--html", "linked.txt"),
        ("compare", "linked.txt", "-s", "lerp", "--svg", "a.txt"),
        ("compare", "a.txt", "f", "-s", "lerp", "--html", "f/b.txt"),
        ("compare", "a.txt", "-s", "lerp", "--truth", "d.csv", "--svg", "d.csv"),
        ("compare", "a.txt", "-s", "lerp", "--drawn", "d.csv", "--html", "d.csv"),
        ("tune", "f", "-s", "lerp", "--svg", "f/b.txt"),
        ("simulate", "--truth", "d.csv", "-o", "d.csv"),
        ("simulate", "--truth", "d.csv", "--truth-out", "d.csv"),
    ],
)
def test_what_is_read_is_not_overwritten(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").mkdir()
    Path("a.txt").write_text(PACKETS)
    Path("f/b.txt").write_text(PACKETS)
    Path("linked.txt").symlink_to("a.txt")
    drawn = "time,x,y,z\n" + "".join(f"{t / 60},{t / 60},0,0\n" for t in range(180))
    Path("d.csv").write_text(drawn)
    assert main(list(words)) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert f"epic: {words[-2]} would overwrite " in err
    assert Path("a.txt").read_text() == Path("f/b.txt").read_text() == PACKETS
    assert Path("d.csv").read_text() == drawn
