"""Tests of the snapshot interpolation of geckos.io against runs of the original."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.conformance import load
from support.delivery import Original, beside, streams

from epic_cli import Packet, Sample, strategy

FUNCTIONS = load("geckos_functions")
COMMON = load("geckos_common_streams")["runs"]
STREAMS = streams()
OWN = load("geckos_streams")["streams"]
#: What the original makes of a list of fields: it looks for the first separator only, so that
#: "y," and "deg)" are names of no field. A field that is not listed is the newer snapshot's.
LISTED = {
    "x y vx vy": ("x", "y", "vx", "vy"),
    "x, y": ("x", "y"),
    "x, y, vx": ("x", "vx"),
    "h(deg)": ("h",),
    "h(deg) x": ("h", "x"),
    "x h(deg)": ("x", "degrees"),
    "x n": (),
}


def geckos(**settings: float | str) -> Any:
    return strategy("geckos", **settings)


def at(time: float, x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), time)


@pytest.mark.parametrize("quirks", ["off", "on"])
@pytest.mark.parametrize("run", COMMON, ids=lambda run: run["stream"])
def test_common_streams(run: dict[str, Any], quirks: str) -> None:
    stream = STREAMS[run["stream"]]
    assert run["buffer_ms"] == 3 * stream["send_interval_ms"]
    made = geckos(server_fps=1000 / stream["send_interval_ms"], quirks=quirks)
    original = Original()
    for row, sample in beside(made, stream, run["rows"]):
        original.check(row["out"], sample)
        check_vault(made, run["buffer_ms"], row["tick_ms"], row, row["percentage"])
        if quirks == "on":
            assert len(made.timestamps) == row["vault_size"]


def check_vault(
    made: Any, buffer_ms: float, now_ms: float, row: dict[str, Any], percentage: float | None
) -> tuple[float, float]:
    """Compare the offset and the drawn place with the original's.

    Return the vault's timestamps, ms.
    """
    # before the first packet the original says -1 for no offset
    assert (row["time_offset"] == -1) == (not made.timestamps)
    if made.timestamps:
        assert made.offset * 1000 == pytest.approx(row["time_offset"])
    if percentage is None:
        return 0, 0
    time = now_ms - row["time_offset"] - buffer_ms
    stamps = [round(timestamp * 1000, 6) for timestamp in made.timestamps]
    older = max(stamp for stamp in stamps if stamp <= time)
    newer = min(stamp for stamp in stamps if stamp > time)
    assert (time - older) / (newer - older) == pytest.approx(percentage)
    return older, newer


class Degrees:
    """Angles (degrees) unwrapped so that each goes the shorter way from the previous one."""

    def __init__(self) -> None:
        self.last: float | None = None

    def unwound(self, angle: float) -> float:
        before = angle if self.last is None else self.last
        self.last = before + (angle - before + 180) % 360 - 180
        return self.last


@pytest.mark.parametrize("run", OWN, ids=lambda run: run["name"])
def test_own_streams(run: dict[str, Any]) -> None:
    listed = LISTED[run["params"]]
    assert run["deep"] == ""
    assert run["server_fps"] is None or run["buffer_ms"] == 3000 / run["server_fps"]
    made: dict[str, Any] = {}
    originals: dict[str, Original] = {}
    angles = Degrees()
    waiting = list(run["packets"])
    sent: dict[str, dict[str, Any]] = {}
    for row in run["rows"]:
        while waiting and waiting[0]["recv"] <= row["now_ms"]:
            packet = waiting.pop(0)
            snapshot = packet["snap"]
            sent[snapshot["id"]] = snapshot
            for state in snapshot["state"]:
                if state["id"] not in made:
                    originals[state["id"]] = Original()
                    made[state["id"]] = geckos(
                        interpolation_buffer=run["buffer_ms"] / 1000,
                        auto_correct_time_offset="on" if run["auto_correct"] else "off",
                        quirks="on",
                    )
                # an angle is drawn as a third coordinate
                angle = state.get("h", 0.0)
                if "degrees" in listed:
                    angle = angles.unwound(angle)
                made[state["id"]].update(
                    Packet(
                        (state["x"], state["y"], angle),
                        (state["vx"], state.get("vy", 0.0), 0.0),
                        snapshot["time"] / 1000,
                    ),
                    packet["recv"] / 1000,
                )
        drawn = {name: one.read(row["now_ms"] / 1000) for name, one in made.items()}
        out = row["out"]
        one = made.get("e") or geckos()
        assert len(one.timestamps) == row["vault_size"]
        ends = check_vault(one, run["buffer_ms"], row["now_ms"], row, out and out["percentage"])
        if out is not None:
            older, newer = (sent[out[name]] for name in ("older", "newer"))
            assert ends == (older["time"], newer["time"])
            check_states(listed, older, newer, out["state"], drawn)
        elif "error" in row:
            # a text is no coordinate: the original gives up where there is something to draw
            assert row["error"] == "Can't interpolate string!"
            assert drawn["e"].status == "interpolated"
            assert isinstance(state["n"], str)
        for name, sample in drawn.items():
            if out is None and "error" not in row:
                originals[name].check(None, sample)
            elif sample.status == "interpolated":
                originals[name].last = sample


def check_states(
    listed: tuple[str, ...],
    older: dict[str, Any],
    newer: dict[str, Any],
    states: list[dict[str, Any]],
    drawn: dict[str, Sample],
) -> None:
    before = {state["id"]: state for state in older["state"]}
    after = {state["id"]: state for state in newer["state"]}
    seen = {state["id"] for state in states}
    assert seen == set(after)
    for name in set(drawn) - seen:  # gone at once in the original; here it stays where it was
        assert drawn[name].status in ("held", "none")
    for state in states:
        sample = drawn[state["id"]]
        if state["id"] not in before:  # comes an interval early in the original, and at rest
            assert state.items() == after[state["id"]].items()
            assert sample.status == "none"
            continue
        assert sample.status == "interpolated"
        found = dict(zip(("x", "y", "h"), sample.position, strict=True))
        found |= dict(zip(("vx", "vy"), sample.velocity[:2], strict=True))
        for field, value in state.items():
            if field == "h" and "degrees" in listed:
                assert (found["h"] - value + 180) % 360 - 180 == pytest.approx(0, abs=1e-9)
            elif field in listed:
                assert found[field] == pytest.approx(value, abs=1e-9)
            else:
                assert value == after[state["id"]][field]
        # a field that one of the two does not have is left out
        assert ("vy" in state) == ("vy" in before[state["id"]] and "vy" in after[state["id"]])


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


def between(start: float, end: float, part: float) -> float:
    """Return the value drawn at a fraction between two snapshots.

    A third snapshot allows drawing at the very end.
    """
    made = geckos(interpolation_buffer=0)
    for time, x in ((0.0, start), (1.0, end), (2.0, end)):
        made.update(at(time, x), time)
    sample = made.read(part)
    assert sample.status == "interpolated"
    return float(sample.position[0])


@pytest.mark.parametrize(
    "case",
    # the strategy asks for no time outside of the two snapshots
    [case for case in FUNCTIONS["lerp"] if case["method"] != "quat" and 0 <= case["t"] <= 1],
    ids=str,
)
def test_lerp(case: dict[str, Any]) -> None:
    start, end = case["start"], case["end"]
    if case["method"] == "linear":
        assert between(start, end, case["t"]) == pytest.approx(case["result"], abs=1e-12)
        return
    # angles are drawn as numbers that go on past a full turn, by the shorter way; the original
    # looks one turn around
    turn = 360 if case["method"] == "deg" else 2 * math.pi
    if abs(end - start) > turn / 2:
        end -= math.copysign(turn, end - start)
    off = math.remainder(between(start, end, case["t"]) - case["result"], turn)
    assert off == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("case", FUNCTIONS["vault_get"], ids=lambda case: str(case["query"]))
def test_the_snapshots_around_a_time(case: dict[str, Any]) -> None:
    made = geckos(interpolation_buffer=0, quirks="on")
    for x, time in enumerate(case["times"]):
        made.update(at(time / 1000, float(x)), time / 1000)
    sample = made.read(case["query"] / 1000)
    older, newer = case["older"], case["newer"]
    if older is None or newer is None:
        assert sample.status == "none"
        return
    x = case["times"].index(older) + (case["query"] - older) / (newer - older)
    assert sample.position[0] == pytest.approx(x)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in FUNCTIONS["interpolate_time_or_percentage"]
        # the original's clock has whole milliseconds, and it asks for times between two snapshots
        if case["time_or_percentage"] in (-1, 0, 1, 2, 5, 10)
    ],
    ids=lambda case: str(case["time_or_percentage"]),
)
def test_a_server_time_of_a_millisecond_or_less_is_a_fraction(case: dict[str, Any]) -> None:
    a, b, time = case["a"], case["b"], case["time_or_percentage"]
    # so the timestamps of the two do not count, and may lie around the time
    shift = min(time, 0) * 5
    made = geckos(interpolation_buffer=0, quirks="on")
    exact = geckos(interpolation_buffer=0)
    for item in (made, exact):
        for stamp, x in ((a["time"], a["x"]), (b["time"], b["x"]), (20, 20)):
            seconds = (stamp + shift) / 1000
            item.update(at(seconds, x), seconds)
    assert made.read(time / 1000).position[0] == pytest.approx(case["x"])
    assert case["x"] == pytest.approx(a["x"] + case["percentage"] * (b["x"] - a["x"]))
    # without quirks a time is a time
    assert exact.read(time / 1000).position[0] == pytest.approx(time - shift)


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
