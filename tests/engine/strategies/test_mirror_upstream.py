"""What Mirror's own tests assert, of the strategy."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load

from epic_cli import Packet, strategy

FUNCTIONS = load("mirror_functions")
FACTS = FUNCTIONS["upstream_test_facts"]
#: A strategy whose clock only a packet or a frame moves.
STILL: dict[str, Any] = {"dynamic_adjustment": "off", "pause": 0}


def at(time: float, x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), time)


@pytest.mark.parametrize("name", ["timescale", "timeline_clamp", "dynamic_adjustment", "sample"])
def test_what_it_asserts_of_a_function_is_what_the_real_code_answered(name: str) -> None:
    """The answers of the real code, all of them, are compared in ``test_mirror``."""
    for fact in FACTS[name]:
        given = {key: value for key, value in fact.items() if key != "expect"}
        (case,) = (
            case for case in FUNCTIONS[name] if {key: case[key] for key in given} == given
        )  # fmt: skip
        answer = case["out"] if "out" in case else [case["from"], case["to"], case["out_t"]]
        assert answer == pytest.approx(fact["expect"], abs=1e-12)


def test_the_thresholds_are_one_send_interval() -> None:
    for case in FUNCTIONS["timescale"]:
        assert (case["neg"], case["pos"]) == (-0.1, 0.1)


def test_insert() -> None:
    same, many = FACTS["insert"]
    assert "same remoteTime twice" in same["op"]
    made: Any = strategy("mirror")
    for _ in range(2):
        made.update(at(1), 0)
    assert made.waiting == same["expect_count"]
    assert "64 distinct with limit 32" in many["op"]
    made.reset()
    for place in range(64):
        made.update(at(place), 0)
    assert made.waiting == many["expect_count"]


@pytest.mark.parametrize("fact", FACTS["init_timeline"])
def test_the_first_packet_sets_the_timeline(fact: dict[str, Any]) -> None:
    buffer_time = fact["buffer_time"]
    made: Any = strategy("mirror", send_interval=1, buffer_time_multiplier=buffer_time, **STILL)
    made.update(at(fact["first_remote"]), 0)
    assert made.timeline == fact["expect_timeline"]


@pytest.mark.parametrize("fact", FACTS["drift"], ids=lambda fact: str(fact["remote_times"]))
def test_drift(fact: dict[str, Any]) -> None:
    made: Any = strategy(
        "mirror", send_interval=1, buffer_time_multiplier=fact["buffer_time"],
        drift_ema_duration=fact["ema_n"], quirks="on", **STILL,
    )  # fmt: skip
    for timestamp in fact["remote_times"]:
        made.update(at(timestamp), 0)
    assert made.drift == pytest.approx(fact["expect_drift_ema"])


@pytest.mark.parametrize("fact", FACTS["step"], ids=lambda fact: str(fact["step"]))
def test_step(fact: dict[str, Any]) -> None:
    made: Any = strategy(
        "mirror", send_interval=fact["buffer_time"], buffer_time_multiplier=1,
        drift_ema_duration=0, **STILL,
    )  # fmt: skip
    for time, x in fact["values"].items():
        made.update(at(float(time), x), 0)
    made.read(0)
    # its first packet, at 10, puts the timeline at 10 - 30
    begin = 10 - fact["buffer_time"]
    drawn = made.read(begin + fact["step"] - made.timeline)
    assert drawn.position[0] == pytest.approx(fact["expect_value"])
    assert made.waiting == fact.get("expect_left", made.waiting)


@pytest.mark.parametrize("sequence", load("mirror_ema")["sequences"], ids=lambda one: one["n"])
def test_the_weight_of_an_average_over_n(sequence: dict[str, Any]) -> None:
    assert sequence["alpha"] == pytest.approx(2 / (sequence["n"] + 1))
