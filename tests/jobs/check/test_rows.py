"""Rows parsed back to columns: any text is accepted as rows or refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.places import SAMPLES

from epic_cli import replay
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.check.differences import NotRows, RowTable, compare, parse, recognize_format
from epic_cli.jobs.check.drawing import draw
from epic_cli.jobs.check.spec import ROW_FORMATS, CaseRecording, DrawSpec, Tolerance, Tolerances
from epic_cli.jobs.check.writing import write_tsv


def rows(row_format: str, recording: str = "two_tanks.csv") -> bytes:
    entity = "tank7" if row_format == "epic" else None
    recordings = (CaseRecording("", str(SAMPLES / recording)),)
    lerp = tuple(read_specs(["lerp"]))
    drawing = DrawSpec(recordings, lerp).replace_fields(row_format=row_format, entity=entity)
    return draw(drawing).rows


@pytest.mark.parametrize("row_format", ROW_FORMATS)
def test_what_this_program_writes_is_read_back(row_format: str) -> None:
    text = rows(row_format)
    assert recognize_format(text) == row_format
    table = parse(text, row_format)
    assert len(table.rows) == text.count(b"\n") - (row_format in ("csv", "tsv"))
    assert compare(table, table, Tolerances()) is None
    every = parse(rows("csv"), "csv")
    if row_format != "epic":  # which has fewer digits, and one of the entities
        assert compare(every, table, Tolerances()) is None


@example(junk=b"\xef\xbb\xbf", row_format="csv", place=0)
@given(st.binary(max_size=200), st.sampled_from(ROW_FORMATS), st.integers(0, 3000))
def test_any_bytes_are_rows_or_refused(junk: bytes, row_format: str, place: int) -> None:
    good = TEXTS[row_format]
    place %= len(good)
    for text in (junk, good[:place] + junk, good[:place] + junk + good[place:]):
        for wanted in (row_format, recognize_format(text)):
            refused: list[NotRows] = []
            try:
                table = parse(text, wanted or "csv")
            except NotRows as error:
                refused.append(error)
            else:
                assert all(len(row.cells) == len(table.columns) for row in table.rows)
            assert all(refusal.line >= 1 and refusal.what for refusal in refused)


TEXTS = {name: rows(name)[:3000] for name in ROW_FORMATS}


@pytest.mark.parametrize("recording", ["two_tanks.csv", "jitter.txt"])
def test_samples_are_written_as_rows_are(recording: str) -> None:
    assert write_tsv(replay(SAMPLES / recording, "lerp")) == rows("tsv", recording)


def test_a_tolerance_is_the_larger_of_the_two() -> None:
    one = Tolerance(0.5, 0.1)
    assert one.is_within(1, 1.5)
    assert not one.is_within(1, 1.6)
    assert one.is_within(100, 110)
    assert not one.is_within(100, 111)
    assert one.is_within(float("nan"), float("nan"))
    assert one.is_within(float("inf"), float("inf"))
    assert not Tolerance(1e300, 1.0).is_within(float("nan"), 1.0)
    assert not Tolerance(1e300, 0.0).is_within(float("inf"), -float("inf"))


def test_a_rotation_may_have_either_sign_and_only_as_a_whole() -> None:
    def table(*turn: float) -> RowTable:
        cells = ",".join(map(str, (0.05, 1, *turn)))
        return parse(f"time,x,qx,qy,qz,qw\n{cells}\n".encode(), "csv")

    close = Tolerances(Tolerance(1e-9))
    ours = table(0.1, -0.5, 0.5, 0.7)
    assert compare(ours, table(-0.1, 0.5, -0.5, -0.7), Tolerances()) is None
    assert compare(ours, table(-0.1, 0.5, -0.5, -0.7000000001), close) is None
    for other in ((-0.1, 0.5, -0.5, -0.71), (0.1, 0.5, 0.5, 0.7), (-0.1, -0.5, 0.5, -0.7)):
        assert compare(ours, table(*other), close) is not None
    assert compare(ours, table(-0.1, 0.5, -0.5, -0.7), Tolerances(), literal=True) is not None
