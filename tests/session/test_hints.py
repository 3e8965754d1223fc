"""Tests of the hints while a packet is typed, and of the toolbar."""

from __future__ import annotations

import pytest
from support.typed_session import TypedSession

from epic_cli.session.hints import complete_packet, propose_packet, write_toolbar


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", "x,y,z / vx,vy,vz / t"),
        ("1", ",y,z / vx,vy,vz / t"),
        ("1,", "y,z / vx,vy,vz / t"),
        ("1,2,-", " / vx,vy,vz / t"),
        ("1,2,3", " / vx,vy,vz / t"),
        ("1,2,3 ", "/ vx,vy,vz / t"),
        ("1,2,3 /", "vx,vy,vz / t"),
        ("1,2,3 / 4,5,6 / ", "t"),
        ("1,2,3 / 4,5,6 / 7", ""),
        ("1,x", ""),
        ("1,2,3 / 4,5,6 / 7 rotation=", "X,Y,Z,W"),
        ("1,2,3 / 4,5,6 / 7 rotation=0,-1", ",Z,W"),
        ("1,2,3 / 4,5,6 / 7 entity=a rotation=0,0,0,", "W"),
        ("1,2,3 / 4,5,6 / 7 rotation=0,0,0,1", ""),
        ("1,2,3 / 4,5,6 / 7 yaw=", "DEGREES"),
        ("1,2,3 / 4,5,6 / 7 yaw=3", ""),
        ("1,2,3 / 4,5,6 / 7 yaw=3 spin=1,", "Y,Z"),
        ("1,2,3 / 4,5,6 / 7 yaw=3 ", ""),
        ("1,2,3 / 4,5,6 / 7 weapon=", ""),
        (":tick", ""),
        ("q", ""),
    ],
)
def test_the_ghost_is_what_is_missing(text: str, missing: str) -> None:
    assert complete_packet(text) == missing


@pytest.mark.parametrize(
    ("packets", "proposed"),
    [
        ((), "0,0,0 / 1,0,0 / 0"),
        (("0,0,0 / 10,0,0 / 0",), "1,0,0 / 10,0,0 / 0.1"),
        (("0,0,0 / 10,0,0 / 0", "1,0,0 / 10,-5,0 / 0.1"), "2,-0.5,0 / 10,-5,0 / 0.2"),
        (("0,0,0 / 1,0,0 / 1", "0,0,0 / 1,0,0 / 1"), ""),
        (
            ("0,0,0 / 9.979999999999992,0,0 / 0", "1,0,0 / 9.979999999999992,0.1234567891,0 / 1"),
            "10.98,0.123456789,0 / 9.98,0.1234567891,0 / 2",
        ),
        (("0,0,0 / 1,0,0 / 1", "0,0,0 / 1,0,0 / inf"), "0.1,0,0 / 1,0,0 / 1.1"),
        (("0,0,0 / 1,0,0 / 1 entity=\x07", "0,0,0 / 1,0,0 / 2 entity=\x07"), ""),
        (
            (
                "0,0,0 / 1,0,0 / 0 arrival=0.05 seq=1 entity=a",
                "5,0,0 / 1,0,0 / 0 arrival=0.06 seq=1 entity=b",
                "1,0,0 / 1,0,0 / 1 arrival=1.05 seq=2 entity=a teleport=1",
            ),
            "2,0,0 / 1,0,0 / 2 arrival=2.05 entity=a seq=3",
        ),
        (
            ("0,0,0 / 1,0,0 / 0 yaw=0", "1,0,0 / 1,0,0 / 1 yaw=-90 spin=0,0,-1.5"),
            "2,0,0 / 1,0,0 / 2 rotation=0,0,-1,0 spin=0,0,-1.5",
        ),
        (("0,0,0 / 1,0,0 / 0", "1,0,0 / 1,0,0 / 1 yaw=180"), "2,0,0 / 1,0,0 / 2 rotation=0,0,1,0"),
    ],
)
def test_the_proposal_goes_on_as_the_entity_did(packets: tuple[str, ...], proposed: str) -> None:
    typed = TypedSession()
    typed.type(*packets)
    assert propose_packet(typed.session) == proposed


def test_a_proposal_is_a_packet_as_it_stands() -> None:
    typed = TypedSession()
    typed.type("0,0,0 / 0.1,0.2,0.3 / 0", "0.1,1e6,0.3 / 0.1,1e-3,0.3 / 0.1")
    for _ in range(20):
        typed.type(propose_packet(typed.session))
    assert len(typed.session.lines) == 22
    assert typed.session.refused == 0


@pytest.mark.parametrize("columns", [120, 80, 60, 40, 20, 5])
def test_the_toolbar_fits(columns: int) -> None:
    typed = TypedSession()
    typed.type("0,0,0 / 10,0,0 / 0", "1,x", ":strategy epic+calc_ahead=0.1+display_behind=0.3")
    text = write_toolbar(typed.session, columns)
    assert len(text) <= columns
    assert text.startswith(" epi")


def test_the_toolbar_says_what_is_in_force() -> None:
    typed = TypedSession()
    typed.type("0,0,0 / 10,0,0 / 1", "0,0,0 / 10,0,0 / 0.5", "1,x")
    typed.type(":strategy epic+calc_ahead=0.1", ":tick 60hz")
    assert write_toolbar(typed.session, 120) == (
        " epic+calc_ahead=0.1 | single clock, demo pacing | tick 1/60 s"
        " | 2 taken, 1 refused, 1 discarded | last 0.5 s"
    )
