"""Samples as a structured array."""

import subprocess
import sys

import numpy as np
import pytest
from support.places import ROOT

from epic_cli import Packet, RefusedPacket, SettingError, read_packets, replay, replay_array

SAMPLES = ROOT / "sample_inputs"
FIELDS = ("time", "x", "y", "z", "vx", "vy", "vz", "status", "entity")


@pytest.mark.parametrize("name", ["turn.txt", "two_tanks.csv", "hop.jsonl"])
@pytest.mark.parametrize("chosen", ["epic", "snapshot"])
def test_the_array_has_what_the_samples_have(name: str, chosen: str) -> None:
    array = replay_array(SAMPLES / name, chosen, tick="60hz")
    samples = replay(SAMPLES / name, chosen, tick="60hz")
    rows = [
        (sample.time, *sample.position, *sample.velocity, sample.status, sample.entity)
        for sample in samples
    ]
    assert rows
    assert array.tolist() == rows
    assert list(replay_array(list(read_packets(SAMPLES / name)), chosen, tick="60hz")) == list(
        array
    )


def test_the_array_is_one_that_tables_take_and_files_keep() -> None:
    array = replay_array(SAMPLES / "two_tanks.csv")
    assert array.dtype.names == FIELDS
    assert [array.dtype[name] for name in FIELDS[:7]] == [np.dtype("f8")] * 7
    assert (array.dtype["status"].kind, array.dtype["entity"]) == ("U", np.dtype("U5"))
    # what pandas, polars and numpy.save ask for: one dimension, packed
    interface = array.__array_interface__
    assert interface["shape"] == (len(array),)
    assert interface["strides"] is None
    assert [name for name, _ in interface["descr"]] == list(FIELDS)
    assert array.flags.writeable


def test_without_packets_the_array_is_empty() -> None:
    array = replay_array([])
    assert array.shape == (0,)
    assert array.dtype.names == FIELDS


@pytest.mark.parametrize("names", [("a", "b"), ("a", "a longer name", "日本語", "")])
def test_rows_before_a_longer_name_or_a_rotation_are_kept(names: tuple[str, ...]) -> None:
    turned = 0.0, 0.0, 0.6, 0.8
    packets = [
        Packet(
            (n, 0.0, 0.0),
            None,
            n / 20,
            entity=names[n * len(names) // 12_000],
            rotation=turned if n > 10_000 else None,
        )
        for n in range(12_000)
    ]
    array = replay_array(packets, "lerp")
    drawn = list(replay(packets, "lerp"))
    assert array["x"].tolist() == [sample.position[0] for sample in drawn]
    assert array["entity"].tolist() == [sample.entity for sample in drawn]
    turns = array[["qx", "qy", "qz", "qw"]].tolist()
    assert [None if turn[0] != turn[0] else turn for turn in turns] == [
        sample.rotation for sample in drawn
    ]


def test_errors_are_those_of_the_replay() -> None:
    with pytest.raises(SettingError):
        replay_array([], calc_ahead=-1)
    good = [Packet((0.0, 0.0, 0.0), None, t / 10) for t in range(5)]
    with pytest.raises(RefusedPacket) as refused:
        replay_array([*good, Packet((0.0, 0.0, 0.0), None, 1e9), *good])
    assert refused.value.packet.time == 1e9


def test_numpy_is_loaded_for_arrays_alone() -> None:
    program = (
        "import sys, epic_cli; epic_cli.replay, epic_cli.read_packets, epic_cli.replay_array\n"
        "list(epic_cli.replay(sys.argv[1])); print('numpy' in sys.modules)\n"
        "epic_cli.replay_array(sys.argv[1]); print('numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(SAMPLES / "turn.txt")]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\nTrue\n"
