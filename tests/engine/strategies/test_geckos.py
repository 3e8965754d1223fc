"""The snapshot interpolation of geckos.io against runs of the original."""

from __future__ import annotations

from typing import Any

import pytest
from support.delivery import check_rows, load, streams

from epic_cli import Packet, strategy

FUNCTIONS = load("geckos_functions")
COMMON = load("geckos_common_streams")["runs"]
STREAMS = streams()
#: The other runs of the original are about its lists of field names and fields that are missing.
OWN = [
    run
    for run in load("geckos_streams")["streams"]
    if run["params"] in ("x y vx vy", "x, y") and run["name"] != "missing_field"
]


def geckos(**settings: float | str) -> Any:
    return strategy("geckos", **settings)


def at(time: float, x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), time)


def entity(states: list[dict[str, Any]]) -> dict[str, Any]:
    return next(state for state in states if state["id"] == "e")


@pytest.mark.parametrize("quirks", ["off", "on"])
@pytest.mark.parametrize("run", COMMON, ids=lambda run: run["stream"])
def test_common_streams(run: dict[str, Any], quirks: str) -> None:
    made = geckos(server_fps=1000 / STREAMS[run["stream"]]["send_interval_ms"], quirks=quirks)
    compared = check_rows(made, STREAMS[run["stream"]], run["rows"])
    assert compared > 8 or run["stream"] == "single_packet"
    assert made.offset * 1000 == pytest.approx(run["rows"][-1]["time_offset"])


@pytest.mark.parametrize("run", OWN, ids=lambda run: run["name"])
def test_own_streams(run: dict[str, Any]) -> None:
    made = geckos(
        interpolation_buffer=run["buffer_ms"] / 1000,
        auto_correct_time_offset="on" if run["auto_correct"] else "off",
        quirks="on",
    )
    waiting = list(run["packets"])
    last: tuple[float, ...] | None = None
    for row in run["rows"]:
        while waiting and waiting[0]["recv"] <= row["now_ms"]:
            packet = waiting.pop(0)
            state = entity(packet["snap"]["state"])
            made.update(
                Packet(
                    (state["x"], state["y"], 0.0),
                    (state["vx"], state["vy"], 0.0),
                    packet["snap"]["time"] / 1000,
                ),
                packet["recv"] / 1000,
            )
        sample = made.read(row["now_ms"] / 1000)
        assert len(made.timestamps) == row["vault_size"]
        if row["vault_size"]:
            assert made.offset * 1000 == pytest.approx(row["time_offset"])
        if row["out"] is None:
            # the original's caller keeps what was drawn last
            assert sample.status == ("none" if last is None else "held")
        else:
            state = entity(row["out"]["state"])
            last = (state["x"], state["y"])
            assert sample.status == "interpolated"
            if "vy" in run["params"]:
                wanted = (state["vx"], state["vy"])
                assert sample.velocity[:2] == pytest.approx(wanted, abs=1e-9)
        if last is not None:
            assert sample.position[:2] == pytest.approx(last, abs=1e-9)


def test_time_runs_backwards_after_a_late_packet_only_with_quirks() -> None:
    run = next(run for run in OWN if run["name"] == "one_spike_51ms_moves_offset_twice")

    def shown(quirks: str) -> list[float]:
        made = geckos(interpolation_buffer=0.15, quirks=quirks)
        waiting = list(run["packets"])
        drawn = []
        for row in run["rows"]:
            while waiting and waiting[0]["recv"] <= row["now_ms"]:
                packet = waiting.pop(0)
                state = entity(packet["snap"]["state"])
                made.update(at(packet["snap"]["time"] / 1000, state["x"]), packet["recv"] / 1000)
            drawn.append(made.read(row["now_ms"] / 1000).position[0])
        return drawn

    assert shown("on") != sorted(shown("on"))
    assert shown("off") == sorted(shown("off"))
    assert shown("off")[-1] == pytest.approx(shown("on")[-1])


def test_vault_capacity() -> None:
    facts = FUNCTIONS["vault_capacity"]
    made = geckos(quirks="on")
    for time in range(1000, 1130):
        made.update(at(time / 1000), 0)
    timestamps = made.timestamps
    after = facts["after_130_adds"]
    assert (len(timestamps), timestamps[0], timestamps[-1]) == (
        after["size"], after["oldest"] / 1000, after["newest"] / 1000,
    )  # fmt: skip
    for quirks, wanted in (("on", [5, 20, 30]), ("off", [10, 20, 30])):
        made = geckos(vault_size=3, quirks=quirks)
        for time in (10, 20, 30, 5):
            made.update(at(time), 0)
        assert made.timestamps == wanted
    assert facts["max3_add_10_20_30_then_late_5"]["times"] == [5, 20, 30]


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in FUNCTIONS["lerp"]
        if case["method"] == "linear" and 0 <= case["t"] < 1
    ],
    ids=str,
)  # fmt: skip
def test_linear(case: dict[str, Any]) -> None:
    made = geckos(interpolation_buffer=1)
    made.update(at(0, case["start"]), 0)
    made.update(at(1, case["end"]), 1)
    assert made.read(1 + case["t"]).position[0] == pytest.approx(case["result"], abs=1e-12)


def test_a_copy_changes_nothing() -> None:
    made = geckos()
    assert made.update(at(1, 5), 0)
    assert not made.update(at(1, 6), 0.01)
    assert made.timestamps == [1]


def test_an_offset_of_minus_one_millisecond_counts() -> None:
    for quirks, offset in (("off", -0.001), ("on", 0.009)):
        made = geckos(quirks=quirks)
        made.update(at(1.001), 1.0)
        made.update(at(1.051), 1.06)
        assert made.offset == pytest.approx(offset)
