"""The built-in cases detect each small fault of a port, and name the packet event before it."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.ports import example, script

from epic_cli import Packet, read_packets
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.check.case_file import make_builtin_cases
from epic_cli.jobs.check.outcome import Outcome, PacketKind, find_circumstances
from epic_cli.jobs.check.port import Port
from epic_cli.jobs.check.report import explain_failure
from epic_cli.jobs.check.run import check
from epic_cli.jobs.check.spec import CheckSpec, DrawSpec
from epic_cli.jobs.check.streams import make_builtin_streams


def test_the_built_in_streams_stay_what_they_are(words: Callable[[str, str], None]) -> None:
    """A stream has these packets everywhere, since a port's rows are compared with a file's."""
    told = ""
    for stream in make_builtin_streams():
        packets = list(read_packets(io.BytesIO(stream.text)))
        stamps = np.sort([packet.time for packet in packets])
        delays = [(packet.arrival or 0.0) - packet.time for packet in packets]
        told += (
            f"{stream.name}: {len(packets)} packets, at most {np.diff(stamps).max(initial=0):g} s"
            f" apart, {min(delays):g} to {max(delays):g} s on the way;"
            f" {hashlib.sha256(stream.text).hexdigest()[:12]}\n"
        )
    words("streams", told)


def outcomes(command: str, names: tuple[str, ...]) -> list[Outcome]:
    """Return the outcomes of a port of ``dumb-terminal`` in these built-in cases."""
    drawing = DrawSpec((), tuple(read_specs(["dumb-terminal"])))
    spec = CheckSpec(Port(tuple(command.split()), 300.0), "jsonl")
    cases = {case.name: case for case in make_builtin_cases(drawing)}
    return [check(cases[f"builtin/{name}"], spec) for name in names]


PORT = example("py")
NOTHING = "if newest is not None:\n        print("


@pytest.mark.parametrize(
    "nothing",
    [
        'print(json.dumps({"time": now}))',
        'print(json.dumps({"time": now, "x": 1, "y": None, "z": 1}))',
        'print(json.dumps({"time": now, "x": None, "y": None, "z": None}))',
    ],
    ids=["no position", "null on one axis", "null"],
)
def test_a_port_may_say_in_many_ways_that_it_draws_nothing(nothing: str, tmp_path: Path) -> None:
    assert NOTHING in PORT
    text = PORT.replace(
        NOTHING, f"if newest is None:\n        {nothing}\n    else:\n        print("
    )
    for outcome in outcomes(script(tmp_path, text), ("circle", "late_packets")):
        assert outcome.holds, explain_failure(outcome)


def test_late_packets_that_are_shown_are_named(tmp_path: Path) -> None:
    text = PORT.replace('packet["time"] >= newest["time"]', "True")
    found = outcomes(script(tmp_path, text), ("circle", "late_packets"))
    differ = {stream.name: explain_failure(stream) for stream in found if not stream.holds}
    assert "builtin/late_packets" in differ
    assert "builtin/circle" not in differ
    assert any("arrives late" in name for name in differ["builtin/late_packets"])
    assert any("right after late packets" in name for name in differ["builtin/late_packets"])
    assert not any("grows" in words for each in differ.values() for words in each)


def packets(*stamps: tuple[float, float]) -> list[Packet]:
    return [Packet((0, 0, 0), (0, 0, 0), time, arrival) for time, arrival in stamps]


STEADY = [(k * 0.1, k * 0.1 + 0.05) for k in range(10)]


@pytest.mark.parametrize(
    ("stamps", "until", "kinds"),
    [
        (STEADY, 0.05, [PacketKind.FIRST]),
        (STEADY, 0.16, [PacketKind.SECOND]),
        (STEADY, 0.35, []),
        (STEADY, 0.4, []),
        (STEADY, 1.5, [PacketKind.SILENCE]),
        ([*STEADY, (0.85, 0.99)], 1.02, [PacketKind.LATE]),
        ([*STEADY, (0.9, 0.99)], 1.02, [PacketKind.SAME_STAMP]),
        ([*STEADY, (1.6, 1.65)], 1.65, [PacketKind.AFTER_SILENCE]),
        ([*STEADY, (1.0, 1.04), (1.1, 1.045)], 1.05, [PacketKind.MANY]),
    ],
)
def test_what_packets_do_in_a_frame(
    stamps: list[tuple[float, float]], until: float, kinds: list[PacketKind]
) -> None:
    found = find_circumstances(packets(*stamps), until - 0.05, until)
    assert [circumstance.kind for circumstance in found] == kinds


def test_a_jump_is_what_velocities_do_not_explain() -> None:
    moving = [Packet((k, 0, 0), (10, 0, 0), k * 0.1, k * 0.1) for k in range(5)]
    there = Packet((50, 0, 0), (10, 0, 0), 0.5, 0.5)
    assert find_circumstances(moving, 0.35, 0.4) == []
    (found,) = find_circumstances([*moving, there], 0.45, 0.5)
    assert (found.kind, found.amount) == (PacketKind.JUMP, 46)


def test_where_a_row_shows_nothing_unusual_the_packet_that_was_is_named() -> None:
    stamps = [(0.0, 0.0), (0.1, 0.1), (0.3, 0.3), (0.2, 0.35), (0.4, 0.4), (0.5, 0.5), (0.6, 0.6)]
    (found,) = find_circumstances(packets(*stamps), 0.45, 0.5)
    assert (found.kind, found.time) == (PacketKind.LATE, 0.2)
    assert find_circumstances(packets(*stamps[:3]), 0.25, 0.3) == []
