"""Tests of ``:golden NAME``, which makes a passing case of the packets so far."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.typed_session import TypedSession

from epic_cli.jobs.check.case_file import read_case
from epic_cli.main import main

PACKETS = ("0,0,0 / 10,0,0 / 0 entity=a", "1,0,0 / 10,0,0 / 0.1 entity=b", "2,0,0 / 10,0,0 / 0.2")


@pytest.mark.parametrize(
    "view",
    [
        (),
        (":strategy snapshot+interpolation_time=0.1+clock=pll",),
        (":tick 1/60", ":latency 80ms"),
        (":pacing demo", ":clock exact"),
    ],
)
def test_it_holds(view: tuple[str, ...], tmp_path: Path) -> None:
    typed = TypedSession()
    typed.type(*view, *PACKETS)
    said = typed.type(f":golden {tmp_path}/mine")
    assert f"{tmp_path}/mine/case.toml: a case of " in said
    assert main(["check", str(tmp_path)]) == 0
    case = read_case(str(tmp_path / "mine" / "case.toml"))
    assert case.drawing.replay.timing == typed.session.view.timing
    assert case.drawing.candidates[0].name == typed.session.view.strategy.name
