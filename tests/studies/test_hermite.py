"""The study of Hermite curves, on movement whose errors can be worked out, without ``epic``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studies import hermite, thinning
from studies.recordings import Floats, Run, Track, tracks

FULL, ACROSS = range(2)


def moving(time: Floats, position: Floats, velocity: Floats, stamps: Floats | None = None) -> Track:
    return Track("ball", "made", [Run(time if stamps is None else stamps, position, velocity)])


def only(track: Track, rate: float, velocities: str) -> thinning.Cell:
    (cell,) = (
        cell for cell in thinning.cells(track) if (cell.rate, cell.velocities) == (rate, velocities)
    )
    return cell


def rms(cell: thinning.Cell, measure: int) -> tuple[float, float]:
    """Return the RMS errors of Hermite and of the line."""
    hermite, line, counts = np.sum(list(cell.blocks.values()), axis=0)
    return float(np.sqrt(hermite[measure] / counts[measure])), float(
        np.sqrt(line[measure] / counts[measure])
    )


def test_on_a_parabola() -> None:
    """A cubic is exact; a line is a T^2 u (1 - u) / 2 off, differences a T^2 |h10 + h11| / 2."""
    time = np.arange(241) / 60
    position = np.stack([5 * time, np.zeros_like(time), 4 * time**2], 1)
    velocity = np.stack([5 + 0 * time, np.zeros_like(time), 8 * time], 1)
    track = moving(time, position, velocity)
    u = np.arange(1, 6) / 6
    line = np.sqrt(np.mean((8 * 0.1**2 * u * (1 - u) / 2) ** 2))
    assert rms(only(track, 10, "recorded"), FULL) == pytest.approx((0, line), abs=1e-9)
    late = np.sqrt(np.mean((8 * 0.1**2 / 2 * (2 * u**3 - 3 * u**2 + u)) ** 2))
    assert rms(only(track, 10, "differences"), FULL)[0] == pytest.approx(late)
    assert rms(only(track, 10, "Catmull-Rom"), FULL)[0] == pytest.approx(0, abs=1e-9)


def test_a_table_on_a_curve_is_what_numpy_makes_of_it() -> None:
    """Hermite's basis and NumPy's interpolation, over every seventh update of three sines."""
    time = np.arange(1401) / 70 + 0.002 * np.sin(np.arange(1401))
    rates, phases = np.array([3.1, 4.7, 2.3]), np.array([0, 1, 2])
    position = np.sin(rates * time[:, None] + phases)
    velocity = rates * np.cos(rates * time[:, None] + phases)
    found = only(moving(time, position, velocity), 10, "recorded")
    sent = np.arange(0, 1401, 7)
    judged = np.array([i for i in range(1401) if i % 7 and sent[1] < i < sent[-2]])
    a = judged // 7 * 7
    step = (time[a + 7] - time[a])[:, None]
    u = (time[judged] - time[a])[:, None] / step
    curve = (
        (1 + 2 * u) * (1 - u) ** 2 * position[a]
        + u * (1 - u) ** 2 * step * velocity[a]
        + u**2 * (3 - 2 * u) * position[a + 7]
        + u**2 * (u - 1) * step * velocity[a + 7]
    )
    line = np.stack([np.interp(time[judged], time[sent], axis[sent]) for axis in position.T], 1)
    expected: dict[int, list[float]] = {FULL: [], ACROSS: []}
    for path in (curve, line):
        off = path - position[judged]
        expected[FULL].append(np.sqrt(np.mean(np.sum(off**2, 1))))
        across = np.cross(off, velocity[judged]) / np.linalg.norm(velocity[judged], axis=1)[:, None]
        expected[ACROSS].append(np.sqrt(np.mean(np.sum(across**2, 1))))
    for measure, errors in expected.items():
        assert rms(found, measure) == pytest.approx(errors, rel=1e-6)
    (row,) = hermite.table([found])
    assert float(row["full"]) == pytest.approx(expected[FULL][0] / expected[FULL][1], abs=1e-3)


def test_the_closed_form_on_impulses_and_noise() -> None:
    """The velocity changes at once now and then; stamps are 4 ms off, velocities 1 m/s."""
    dice = np.random.default_rng(7)
    time = np.arange(0, 700, 1 / 60)
    velocity = np.cumsum(
        dice.normal(size=(len(time), 3)) * (dice.random((len(time), 1)) < 1 / 24), 0
    )
    velocity = 12 * np.sin(velocity)  # bounded
    position = np.cumsum(velocity, 0) / 60
    stamps = time + dice.normal(size=len(time)) * 0.004
    given = velocity + dice.normal(size=velocity.shape) / np.sqrt(3)
    step = 6
    sent = slice(None, None, step)
    bend = np.sqrt(np.mean(np.sum(np.diff(velocity[sent], axis=0) ** 2, 1))) * 0.1
    speed = np.sqrt(np.mean(np.sum(velocity**2, 1)))
    found = hermite.predicted(bend, 0.1, speed * 0.004, r=0.46)
    run = Run(stamps, position, given)
    cut, judged = thinning.thinned(run, step)
    truth = run.part(judged)
    truth = truth._replace(velocity=velocity[judged])
    drawn = (
        thinning.by_hermite(cut, cut.velocity, None, truth.time),
        thinning.by_line(cut, truth.time),
    )
    curve, line = (np.mean(thinning.errors(row, truth, 1.0)[:, FULL]) for row in drawn)
    assert np.sqrt(curve / line) == pytest.approx(found, rel=0.1)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_it_is_better_until_velocities_are_as_wrong_as_they_change(share: float) -> None:
    """The border at constant acceleration is sqrt(105 / 2) 0.1 = 0.72, in the closed form."""
    assert (hermite.predicted(1.0, share, 0.0, r=0) < 1) == (share < 0.72)
    assert (hermite.predicted(1.0, share, 100.0, r=0)) == pytest.approx(1.02, abs=0.01)


def test_a_ball_that_bounces_is_drawn_no_deeper_than_it_goes() -> None:
    """A ball goes up and down at 10 m/s, once a second; the box ends where the lines meet."""
    time = np.arange(0, 20, 1 / 30) + 0.01
    phase = time % 1
    position = np.stack([0 * time, 0 * time, 10 * np.minimum(phase, 1 - phase)], 1)
    velocity = np.stack([0 * time, 0 * time, np.where(phase < 0.5, 10.0, -10)], 1)
    found = list(hermite.bounces(moving(time, position, velocity)))
    low = [bounce for bounce in found if bounce.rate == 5]
    assert len(low) in (37, 38, 39)
    boxes = np.array([bounce.boxes for bounce in low])
    assert boxes[:, 0, :2] == pytest.approx(0)  # a line never leaves the box
    assert boxes[:, 0, 2].max() == pytest.approx(1, abs=0.1)  # and cuts off half an interval
    assert (boxes[:, 1, 2] < boxes[:, 0, 2]).all()


def test_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adsb_flight.csv").write_text("entity,time,x,y,z,vx,vy,vz\n")
    monkeypatch.setattr("sys.argv", ["hermite", "--data", str(tmp_path), "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        hermite.main()
    words = str(stopped.value)
    assert "rocketleague/rl-20.parquet is missing" in words
    assert "adsb_flight.csv is not the file that the figures were made with" in words


def test_recordings_are_cut_where_they_break(tmp_path: Path) -> None:
    """Recordings are cut at a gap and at a jump."""
    rows = [(k / 20 + (k > 20), k / 20 + 50 * (k > 40)) for k in range(61)]
    text = "".join(f"a,{time},{x},0,0,1,0,0\n" for time, x in rows)
    for name in ("slippi_melee_60hz", "quakeworld_duel", "comma2k19_car", "adsb_flight"):
        (tmp_path / f"{name}.csv").write_text("entity,time,x,y,z,vx,vy,vz\n" + text)
    assert {len(run.time) for track in tracks(tmp_path) for run in track.runs} == {20, 21}
