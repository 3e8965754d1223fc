"""Tests of recordings with very many entities: output stays short, cost per entity constant."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.running import epic

from epic_cli.engine.text.widths import some
from epic_cli.metrics.notes import (
    Adjusted,
    ExclusionReason,
    NothingJudged,
    NotJudged,
    Unusable,
    VelocitiesReplaced,
    describe_notes,
)


@pytest.mark.parametrize("count", [1, 5, 6, 7, 20_000])
def test_names_are_few_and_all_are_counted(count: int) -> None:
    names = [f"p{number}" for number in range(count)]
    text = some(names)
    named = sum(part in names for part in text.replace(" and", ",").split(", "))
    others = int(text.rpartition(" and ")[2].split()[0].replace(",", "")) if count > 5 else 0
    assert named <= 5
    assert named + others == count


def test_notes_that_are_true_of_many_are_said_once() -> None:
    absent = VelocitiesReplaced(Unusable.ABSENT)
    notes = [Adjusted(f"p{number}", absent) for number in range(3000)]
    (line,) = describe_notes(notes)
    assert line.startswith("p0, p1, p2, p3 and 2,996 others: ")
    different = [
        Adjusted(f"p{number}", VelocitiesReplaced(Unusable.MISMATCH, 1 + number / 100))
        for number in range(3000)
    ]
    lines = describe_notes(different)
    assert len(lines) == 6
    assert lines[-1].startswith("2,995 more")


def test_why_nothing_is_judged_has_an_end() -> None:
    notes = tuple(
        NotJudged(f"p{n}", ExclusionReason.TOO_FEW_STATES, states=n % 2) for n in range(5_000)
    )
    assert len(NothingJudged(notes).why) < 400
    assert len(str(NothingJudged(notes))) < 400


def test_an_unknown_entity_of_many(tmp_path: Path) -> None:
    path = tmp_path / "match.csv"
    rows = [f"p{n},{t},{n},{t},0" for t in (0, 0.1) for n in range(2000)]
    path.write_text("\n".join(["entity,time,x,y,z", *rows, ""]))
    for command in ("compare", "replay", "convert"):
        done = epic(command, path, "--entity", "nobody")
        assert done.returncode == 2, command
        assert Counter(done.stderr.split()).total() < 60, command
