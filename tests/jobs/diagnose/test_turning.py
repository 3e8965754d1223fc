"""Causes in rotations: which are reported, and which normal rotations are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.faulty_traffic import LINKS, Case, Columns, clean, make_table_traffic
from support.faulty_turning import KINDS, attitude, recorded, turning
from support.recordings import few_of, seeds

from epic_cli import Packet, diagnose
from epic_cli.jobs.diagnose import run as of_traffic
from epic_cli.jobs.diagnose.detectors import Finding
from epic_cli.network.paths import PATHS

#: Other steps of angles than those of bits.
DEGREES = (1, 2, 2.5, 3, 4, 8, 10, 15, 30, 7.5, 5, 1.5, 0.5)


def case(seed: int, rate: float = 30.0, duration: float = 30.0) -> Case:
    path = sorted(PATHS)[seed % len(PATHS)]
    link = list(LINKS.values())[seed % 4]
    rows = clean(path, link, rate, seed, duration)
    return Case(rows, 1 / rate, np.random.default_rng(seed), 1.0)


def found(rows: Columns) -> list[Finding]:
    return list(of_traffic.diagnose(make_table_traffic({"": rows})).findings)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found_where_nothing_is_wrong(kind: str) -> None:
    rates = (10, 30, 128)
    alarms = {
        seed: of for seed in seeds(3, 2) if (of := found(turning(kind, case(seed, rates[seed]))))
    }
    assert alarms == {}


@pytest.mark.parametrize(
    "bits", few_of([3, 7, 9, *np.log2(360 / np.array(DEGREES[::-1])), 6, 8], 8)
)
def test_how_far_angles_are_apart_is_reported(bits: float) -> None:
    step = 2 * math.pi / 2**bits
    for seed, (kind, order) in enumerate((("look", "ZYX"), ("around", "YXZ"))):
        one = case(seed, 20, 15.0)
        rows = recorded(one, attitude(kind, one), None)
        angles = Rotation.from_quat(rows[10:14].T).as_euler(order)
        rows[10:14] = Rotation.from_euler(order, np.round(angles / step) * step).as_quat().T
        (of,) = found(rows)
        assert of.cause == "coarse-angles"
        assert of.values["step"] == pytest.approx(math.degrees(step), rel=1e-9)
        assert of.values["bits"] == pytest.approx(bits, abs=1e-9)


def test_who_runs_in_eight_directions_and_looks_ahead_is_not_rounded() -> None:
    """A keyboard's directions, some of them reached through a third direction."""
    for seed in seeds(8, 3):
        random = np.random.default_rng(seed)
        turns = np.repeat(random.integers(0, 8, 60), random.integers(4, 30, 60)) * math.pi / 4
        ways = np.stack((np.cos(turns), np.sin(turns), 0 * turns), axis=1)
        places = np.cumsum(ways, axis=0) * 0.2
        made = [
            Packet(
                tuple(place),
                tuple(4 * way),
                k / 20,
                rotation=(0, 0, math.sin(t / 2), math.cos(t / 2)),
            )
            for k, (place, way, t) in enumerate(
                zip(places.tolist(), ways, turns.tolist(), strict=True)
            )
        ]
        assert [of.cause for of in diagnose(made).findings] == []


@pytest.mark.parametrize("spins", [True, False])
@pytest.mark.parametrize("lag", [0.06, 0.13, 0.3])
def test_how_late_rotations_are_is_reported(lag: float, spins: bool) -> None:
    for seed in (0, 4):
        one = case(seed, 30)
        true = attitude("around" if spins else "heading", one)
        late = true._replace(times=true.times + lag)
        (of,) = found(recorded(one, late, true if spins else None))
        assert of.cause == "late-turns"
        assert of.values["lag"] == pytest.approx(lag, abs=0.011)
        assert of.values["against"] == ("its angular velocity" if spins else "its movement")


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (math.degrees(1), "degrees a second"),
        (1 / math.tau, "turns a second"),
        (1 / 60, "per tick at 60 Hz"),
        (-1.0, "backwards"),
        (3.3, "3.3 times as fast"),
    ],
)
def test_the_unit_of_spins_is_reported(factor: float, words: str) -> None:
    for seed, kind in enumerate(("look", "around", "tumble")):
        one = case(seed, duration=15.0)
        true = attitude(kind, one)
        rows = recorded(one, true, true)
        rows[14:] *= factor
        (of,) = found(rows)
        assert of.cause == "spin"
        assert words in str(of.values["kind"])


def test_spins_of_the_body_in_degrees_are_both_reported() -> None:
    one = case(5)
    true = attitude("tumble", one)
    rows = recorded(one, true, true)
    rows[14:] = np.degrees(Rotation.from_quat(rows[10:14].T).inv().apply(rows[14:].T).T)
    (of,) = found(rows)
    assert "body" in str(of.values["kind"])
    assert "degrees" in str(of.values["kind"])


def test_spins_that_are_missing_now_and_then_hide_nothing() -> None:
    for seed in seeds(3, 1):
        one = case(seed)
        true = attitude("tumble", one)
        rows = recorded(one, true, true)
        rows[14:] *= 60
        rows[14:, ::20] = np.nan
        assert [of.cause for of in found(rows)] == ["spin"]
        late = true._replace(times=true.times + 0.2)
        rows = recorded(one, late, true)
        rows[14:, ::20] = np.nan
        assert [of.cause for of in found(rows)] == ["late-turns"]


def test_a_half_turn_is_told_with_its_moment_and_seam() -> None:
    """A turn from 170 to 190 degrees, smoothed as a number: 20 degrees become 340."""
    times = np.arange(0, 30, 1 / 60)
    aim = np.where((times // 5) % 2 == 0, 170.0, -170.0) + 3 * np.sin(times)
    yaw = aim.copy()
    for k in range(1, len(yaw)):
        yaw[k] += (yaw[k - 1] - yaw[k]) * math.exp(-1 / 60 / 0.1)
    made = [
        Packet((t, 0.0, 0.0), None, t, rotation=tuple(Rotation.from_euler("z", y, True).as_quat()))
        for t, y in zip(times.tolist(), yaw, strict=True)
    ]
    (of,) = diagnose(made).findings
    assert of.cause == "half-turns"
    assert of.values["times"] == 5
    assert of.values["seam"] == "-180 to 180"
    assert of.first == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize("known", [0, 5, 19])
def test_few_known_rotations_are_none(known: int) -> None:
    rows = turning("tumble", case(2))
    rows[10:14, known:] = np.nan
    assert found(rows) == []
