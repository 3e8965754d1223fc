"""Recordings by generators that share nothing with ``epic_cli.network``: frames, ids, stamps."""

import re

import pytest
from endurance.field import FAULTS, clean, packets, scene_of
from support.recordings import seeds

from epic_cli import diagnose
from epic_cli.jobs.diagnose.detectors import Finding


def found_of(
    name: str, seed: int, rate: float = 30, frames: float = 60, strength: float = 1.0
) -> list[Finding]:
    scene = scene_of(seed, rate, frames, 0.004)
    columns = clean(scene)
    FAULTS[name][1](scene, columns, strength)
    return list(diagnose(packets(columns)).findings)


@pytest.mark.parametrize(
    "case", [(1000, 60, 60, 0.0), (4016, 30, 30, 0.0), (1019, 30, 144, 0.01)], ids=str
)
def test_ticks_that_beat_against_frames_are_no_drift_and_no_other_route(
    case: tuple[int, float, float, float],
) -> None:
    assert diagnose(packets(clean(scene_of(*case)))).findings == ()


def test_behind_frames_a_route_of_30_ms_more_shows_and_what_overtakes() -> None:
    for name, strength in (("route 60 ms", 0.5), ("reordering", 1.0)):
        found = [
            finding.cause for n in range(6) for finding in found_of(name, n, strength=strength)
        ]
        assert set(found) == set(FAULTS[name][0])
        assert len(found) >= 5, name


def test_a_drift_shows_through_jitter_that_is_no_smaller() -> None:
    shown = [
        finding.cause for seed in range(6) for finding in found_of("drift 50 ppm", seed, 20, 0, 4.0)
    ]
    assert set(shown) == {"clock-drift"}
    assert len(shown) >= 4


def test_states_with_the_stamp_of_the_one_before_are_not_lost() -> None:
    for seed in seeds(4, 2):
        (found,) = found_of("equal stamps", seed)
        assert found.cause == "stamps"
        assert "stamp of the one before" in str(found.values["what"])
        assert found.share == pytest.approx(0.18, abs=0.05)


def test_stamps_that_are_arrivals_are_told_as_that() -> None:
    for seed in seeds(4, 2):
        (found,) = found_of("receive stamps", seed)
        assert found.cause == "stamps"
        assert "times of arrival" in str(found.values["what"])
        assert found.values["spread"] == pytest.approx(0.025, abs=0.008)


def test_exchanged_ids_are_no_teleports() -> None:
    for seed in seeds(4, 2):
        (found,) = found_of("ids exchanged", seed)
        assert (found.cause, found.entities) == ("identity", ("a", "b"))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("one axis' sign", "the sign of"),
        ("local frame", "own axes"),
        ("turned", "around z|backwards"),
    ],
)
def test_it_says_what_makes_velocities_right(fault: str, words: str) -> None:
    for seed in seeds(4, 2):
        (found,) = found_of(fault, seed)
        assert found.cause == "velocity"
        assert re.search(words, str(found.values["kind"]))


def test_milliseconds_in_place_of_seconds_are_no_drift() -> None:
    columns = clean(scene_of(1, 20, 0, 0.005))
    columns["time"] = columns["time"] * 1000
    assert "clock-drift" not in diagnose(packets(columns)).causes
