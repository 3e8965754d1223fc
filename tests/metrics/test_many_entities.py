"""Tests of recordings with very many entities: output stays short, cost per entity constant."""

from __future__ import annotations

import pytest

from epic_cli.engine.text.widths import some
from epic_cli.metrics.notes import Adjusted, Unusable, VelocitiesReplaced, describe_notes


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
