"""Tests of typed, pasted and undone packets."""

from __future__ import annotations

import itertools
import random

import pytest
from support.typed_session import TypedSession

from epic_cli.session.hints import propose_packet, write_toolbar

STRANGE = ("nan", "inf", "-inf", "1e300", "0.2", "0.3 arrival=0.4")


def test_words_of_other_programs_are_known() -> None:
    for word in ("help", "?", " HELP "):
        assert ":undo" in TypedSession().type(word)
    for word in ("exit", "quit", "Exit"):
        session = TypedSession()
        session.type(word)
        assert session.ended


@pytest.mark.parametrize(("lines", "rows"), [(3, 1), (6, 1), (7, 2), (24, 19), (25, 20), (99, 20)])
def test_rows_leave_lines_for_the_prompt(lines: int, rows: int) -> None:
    assert TypedSession(size=(80, lines)).screen.room == rows


@pytest.mark.parametrize("times", list(itertools.permutations(STRANGE, 3)), ids="-".join)
def test_no_time_breaks_the_packets_behind_it(times: tuple[str, ...]) -> None:
    session = TypedSession()
    session.confirm = lambda _: False
    for time in (*times, "0.5"):
        said = session.type(f"1,2,3 / 4,5,6 / {time}")
        assert "Error" not in said
        assert "inf s" not in said
        assert write_toolbar(session.session, 80)
        propose_packet(session.session)


@pytest.mark.parametrize("seed", range(6))
def test_redo_brings_back_what_undo_took(seed: int) -> None:
    chance, session, plain = random.Random(seed), TypedSession(), TypedSession()
    kept: list[str] = []
    taken: list[str] = []
    for step in range(60):
        kind = chance.choice(["packet", "packet", "undo", "redo"])
        count = chance.randint(1, 3)
        if kind == "packet":
            kept.append(f"{step},0,0 / 1,0,0 / {step / 10}")
            taken = []
            session.type(kept[-1])
        elif kind == "undo":
            session.type(f":undo {count}")
            count = min(count, len(kept))
            taken = kept[len(kept) - count :] + taken
            kept = kept[: len(kept) - count]
        else:
            session.type(f":redo {count}")
            kept, taken = kept + taken[:count], taken[count:]
        assert [line.decode().strip() for line in session.lines] == kept
    plain.type(*kept)
    assert session.type(":rows 9") == plain.type(":rows 9")
    session.type(":reset")
    assert "nothing" in session.type(":redo")


@pytest.mark.parametrize(
    "pasted",
    ["time,x,y\n0,1,2\n1,2,3\n", '{"time":0,"x":1,"y":2}\n{"time":1,"x":1,"y":2}\n'],
)
def test_a_pasted_table_offers_load(pasted: str) -> None:
    session = TypedSession()
    said = session.type(pasted)
    assert ":load" in said
    assert said.count("\n") == 1
    assert not session.lines
    session.type("# mine\n0,0,0 / 1,0,0 / 0\n1,0,0 / 1,0,0 / 1\n")
    assert len(session.lines) == 2
