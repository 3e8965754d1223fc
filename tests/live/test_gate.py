"""Which packets of strangers are let in."""

import math

from epic_cli.engine.contract import Packet
from epic_cli.live.gate import Gate
from epic_cli.live.refused import Refused

STILL = (0.0, 0.0, 0.0)
NEVER = -math.inf


def packet(time: float, entity: str = "", x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), STILL, time, entity=entity)


def test_the_clock_starts_with_the_first_packet_and_no_forgery_moves_it() -> None:
    gate = Gate(2)
    assert gate.now(100.0) is None
    for time in (math.nan, math.inf, 1e308, -1e308, 1e12):
        assert gate.admit(packet(time), 100.0, NEVER) in (Refused.NOT_FINITE, Refused.FAR_TIME)
    assert gate.now(100.0) is None
    first = gate.admit(packet(7.0), 100.0, NEVER)
    assert isinstance(first, Packet)
    assert first.arrival == 7.0
    assert gate.now(101.0) == 8.0
    forged = (math.nan, 1e308, 0.0 - 3600, 8 + 3601.0)
    assert {gate.admit(packet(time), 101.0, NEVER) for time in forged} == {
        Refused.NOT_FINITE,
        Refused.FAR_TIME,
    }
    assert gate.admit(packet(8.0, x=math.inf), 101.0, NEVER) is Refused.NOT_FINITE
    second = gate.admit(packet(7.5), 101.25, NEVER)
    assert isinstance(second, Packet)
    assert (second.time, second.arrival) == (7.5, 8.25)


def test_arrivals_do_not_go_back_nor_before_what_is_drawn() -> None:
    gate = Gate(2)
    times = [(10.0, NEVER), (10.5, NEVER), (10.4, NEVER), (10.6, 0.7)]
    found = [gate.admit(packet(0.0), machine, drawn) for machine, drawn in times]
    assert [one.arrival for one in found if isinstance(one, Packet)] == [0, 0.5, 0.5, 0.7]


def test_unix_times_count_from_the_first_unless_an_origin_is_given() -> None:
    unix = 1_700_000_000.25
    for origin, expected in ((None, 0.0), (math.nan, 0.0), (1.7e9, 0.25), (0.0, unix)):
        found = Gate(2, origin).admit(packet(unix), 5.0, NEVER)
        assert isinstance(found, Packet)
        assert (found.time, found.arrival) == (expected, expected)


def test_names_are_bounded() -> None:
    gate = Gate(2)
    names = ["a", "\x1b[2J", "b" * 65, " c", "d", *(f"e{n}" for n in range(10000)), "a", "d"]
    found = [gate.admit(packet(0.0, name), 1.0, NEVER) for name in names]
    assert [one for one in found if isinstance(one, Refused)] == (
        [Refused.BAD_NAME] * 3 + [Refused.TOO_MANY_ENTITIES] * 10000
    )
    assert gate.entities == len(gate._names) == 2
    assert Gate(2, single=True, only="x").admit(packet(0.0, "y"), 1.0, NEVER) is None
    single = Gate(2, single=True)
    assert isinstance(single.admit(packet(0.0, "y"), 1.0, NEVER), Packet)
    assert single.admit(packet(0.0, "z"), 1.0, NEVER) is Refused.SECOND_ENTITY
