"""The engine prints what the original program printed, byte for byte."""

from typing import Any

import pytest
from support import oracle
from support.conformance import load
from support.recordings import cut, draw

CASES: list[dict[str, Any]] = load("epic_demo")["cases"]


def test_no_case_was_lost() -> None:
    assert len(CASES) == 71
    assert len({case["name"] for case in CASES}) == 71


@pytest.mark.parametrize("size", [1, 7, 1023, 1024, 100_000])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any], size: int) -> None:
    drawn = draw(cut(case["stdin"].encode("latin-1"), size))
    assert drawn.rows.decode("ascii") == case["stdout"]
    silent = oracle.remarks(case["stdin"].encode("latin-1"))
    assert len(drawn.problems) == case["stderr"].count("<E>") - len(silent)
