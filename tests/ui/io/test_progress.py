"""How far a longer piece of work has come is told in bytes, over all files."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.places import SAMPLES

from epic_cli.ui.io import progress
from epic_cli.ui.io.replaying import ReplayOptions, run

FILES = (str(SAMPLES / "turn.txt"), str(SAMPLES / "jitter.txt"))


class Told(progress.Progress):
    """Keeps what it is told."""

    told: list[tuple[int, int]] = []  # noqa: RUF012 - of all of them

    def __call__(self, done: int, total: int) -> None:
        self.told.append((done, total))


def test_a_replay_into_a_file_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "Progress", Told)
    monkeypatch.setattr(Told, "told", [])
    run(ReplayOptions(FILES, output=str(tmp_path / "rows.txt")))
    first, second = (Path(file).stat().st_size for file in FILES)
    assert set(Told.told) == {(first, first + second), (first + second, first + second)}
    assert Told.told[-1][0] == first + second


def test_a_replay_among_whose_rows_a_bar_would_stand_has_none(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(progress, "Progress", Told)
    monkeypatch.setattr(Told, "told", [])
    run(ReplayOptions(FILES[:1]))
    assert Told.told == []
    assert capfdbinary.readouterr().out.startswith(b"pos: ")


def test_a_file_whose_size_nobody_knows_counts_nothing() -> None:
    told: list[tuple[int, int]] = []
    first, second = progress.report_each(lambda *one: told.append(one), ["-", FILES[0]])
    size = Path(FILES[0]).stat().st_size
    first(0)
    second(size)
    assert told == [(0, size), (size, size)]
