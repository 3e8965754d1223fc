"""Check that following ``epic diagnose --drawn`` helps, on sessions it has not seen.

    python -m endurance.advice [--cases CASES] [--first CASE]

Movements, senders, networks, drawings and measures are its own; each printed command is run as it
is by ``epic replay`` over another session of the same kind, and compared there, by the true
movement, with what the game would have drawn.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = Any
SECONDS = 40.0


# ---------------------------------------------------------------- movements, each 1 ms a step


def _wander(dice: Any, count: int, pace: float, hold: float) -> Array:
    """Return a movement that accelerates towards a randomly changing velocity, with occasional
    rests.
    """
    wish, velocity, until, rows = np.zeros(2), np.zeros(2), 0, np.empty((count, 2))
    place = np.zeros(2)
    for row in range(count):
        if row >= until:
            angle = dice.uniform(0, 2 * np.pi)
            wish = pace * (dice.random() < 0.9) * np.array([np.cos(angle), np.sin(angle)])
            until = row + int(1000 * dice.uniform(0.3, hold))
        velocity = velocity + (wish - velocity) * 0.008
        place = place + velocity * 0.001
        rows[row] = place
    return np.column_stack((rows, np.zeros(count)))


def _car(dice: Any, count: int) -> Array:
    knots = dice.normal(0, 0.9, count // 1500 + 3)
    turn = np.interp(np.arange(count) / 1500, np.arange(len(knots)), knots)
    heading = np.cumsum(turn) * 0.001
    speed = 9 + 4 * np.sin(np.arange(count) * 0.0004 + dice.uniform(0, 6))
    steps = speed[:, None] * np.column_stack((np.cos(heading), np.sin(heading), 0 * heading))
    return np.cumsum(steps, axis=0) * 0.001


def _orbit(dice: Any, count: int) -> Array:
    t = np.arange(count) * 0.001
    rates, phases = dice.uniform(0.5, 2.2, 6), dice.uniform(0, 6, 6)
    rows = [3 * np.sin(rates[k] * t + phases[k]) + np.sin(2 * rates[k + 3] * t) for k in range(3)]
    return np.column_stack(rows)


def _hops(dice: Any, count: int) -> Array:
    rows = _wander(dice, count, 5.0, 1.5)
    t = np.arange(count) * 0.001
    since = t % dice.uniform(1.1, 1.9)
    rows[:, 2] = np.maximum(0.0, 4.5 * since - 4.9 * since**2)
    return rows


MOVEMENTS: dict[str, Callable[[Any, int], Array]] = {
    "runner": lambda dice, count: _wander(dice, count, 6.0, 1.6),
    "walker": lambda dice, count: _wander(dice, count, 2.0, 3.0),
    "car": _car,
    "orbit": _orbit,
    "hops": _hops,
}


# ---------------------------------------------------------------- senders and networks


class Kind(NamedTuple):
    """The properties of a session except its random numbers."""

    movement: str
    rate: float
    latency: float
    jitter: float
    shape: str
    loss: float
    ahead: float
    drift: float
    frames: float
    drawing: str
    delay: float
    number: float


class Session(NamedTuple):
    """Packets in order of arrival (stamps, arrivals, positions), frames, and the true movement."""

    stamps: Array
    arrivals: Array
    places: Array
    frames: Array
    truth: Array

    def true(self, times: Array) -> Array:
        """Return the true movement at these times of the receiver's clock."""
        grid = np.arange(len(self.truth)) * 0.001
        return np.stack([np.interp(times, grid, axis) for axis in self.truth.T], axis=1)


def kind_of(seed: int) -> Kind:
    """Return a random kind of session, one in four of which is clean."""
    dice = np.random.default_rng(seed)
    drawing = str(dice.choice(list(DRAWINGS)))
    return Kind(
        str(dice.choice(list(MOVEMENTS))),
        float(dice.choice([10, 15, 20, 20, 30, 60])),
        float(dice.uniform(0.02, 0.12)),
        float(dice.choice([0.0, 0.004, 0.01, 0.02, 0.03])),
        str(dice.choice(["gauss", "gamma", "spikes"])),
        float(dice.choice([0, 0, 0, 0.01, 0.05, 0.1])),
        float(dice.choice([0.0, 0.0, -41.7, 3.2])) if drawing in FREE else 0.0,
        float(dice.choice([0, 0, 0, 1e-4, -2e-4])) if drawing in FREE else 0.0,
        float(dice.choice([30, 60, 60, 60, 120, 144])),
        drawing,
        float(dice.choice([0.6, 1.0, 1.5, 2.0, 3.0])),
        float(dice.uniform(0, 1)),
    )


def session(kind: Kind, seed: int) -> Session:
    """Return one session of a kind."""
    dice = np.random.default_rng(seed)
    truth = MOVEMENTS[kind.movement](dice, int((SECONDS + 1) * 1000))
    sent = np.arange(0.05 + dice.uniform(0, 0.05), SECONDS - 0.1, 1 / kind.rate)
    late = {
        "gauss": np.abs(dice.normal(0, kind.jitter, len(sent))),
        "gamma": dice.gamma(2, kind.jitter / 2 + 1e-9, len(sent)),
        "spikes": dice.uniform(0, kind.jitter, len(sent))
        + (dice.random(len(sent)) < 0.01) * 3 * kind.jitter,
    }[kind.shape]
    arrivals = sent + kind.latency + late
    came = dice.random(len(sent)) >= kind.loss
    grid = np.arange(len(truth)) * 0.001
    places = np.stack([np.interp(sent, grid, axis) for axis in truth.T], axis=1)
    order = np.argsort(arrivals[came], kind="stable")
    stamps = sent * (1 + kind.drift) + kind.ahead
    frames = np.arange(0.3, SECONDS - 0.2, 1 / kind.frames)
    frames = frames + dice.uniform(-0.0008, 0.0008, len(frames))
    return Session(
        np.round(stamps[came][order], 5), np.round(arrivals[came][order], 5),
        np.round(places[came][order], 4), np.round(frames, 5), truth,
    )  # fmt: skip


# ---------------------------------------------------------------- drawings


def _newest(one: Session) -> Array:
    """Return the index of the newest packet (by stamp) in each frame; -1: none."""
    best = np.maximum.accumulate(
        np.where(one.stamps >= np.maximum.accumulate(one.stamps), np.arange(len(one.stamps)), -1)
    )
    at = np.searchsorted(one.arrivals, one.frames, "right") - 1
    return np.where(at >= 0, best[np.maximum(at, 0)], -1)


def _follow(step: Callable[[Array, Array, float], Array]) -> Callable[[Session, Kind], Array]:
    """Move from the drawn position to the newest state by ``step`` in each frame."""

    def draw(one: Session, kind: Kind) -> Array:
        del kind
        newest, rows, shown = _newest(one), [], None
        before = one.frames[0]
        for now, place in zip(one.frames, newest, strict=True):
            if place >= 0:
                goal = one.places[place]
                shown = goal if shown is None else step(shown, goal, now - before)
            before = now
            rows.append(np.full(3, np.nan) if shown is None else shown)
        return np.array(rows)

    return draw


def _spring(one: Session, kind: Kind) -> Array:
    time = 0.06 + 0.12 * kind.number
    newest, rows, shown, speed = _newest(one), [], None, np.zeros(3)
    before = one.frames[0]
    for now, place in zip(one.frames, newest, strict=True):
        dt, before = now - before, now
        if place >= 0:
            goal = one.places[place]
            if shown is None:
                shown = goal.copy()
            elif dt > 0:
                omega = 2 / time
                x = omega * dt
                decay = 1 / (1 + x + 0.48 * x * x + 0.235 * x**3)
                change = shown - goal
                push = (speed + omega * change) * dt
                speed = (speed - omega * push) * decay
                shown = goal + (change + push) * decay
        rows.append(np.full(3, np.nan) if shown is None else shown.copy())
    return np.array(rows)


def _tween(factor: float) -> Callable[[Session, Kind], Array]:
    """Draw a straight line over ``factor`` send intervals from each arrival."""

    def draw(one: Session, kind: Kind) -> Array:
        time = round(factor / kind.rate, 4)
        newest, rows, shown, start, last = _newest(one), [], None, None, -1
        for now, place in zip(one.frames, newest, strict=True):
            if place >= 0:
                if place != last:
                    start, last = (one.places[place] if shown is None else shown), place
                share = min((now - one.arrivals[place]) / time, 1.0)
                shown = start + (one.places[place] - start) * share
            rows.append(np.full(3, np.nan) if shown is None else shown)
        return np.array(rows)

    return draw


def _buffered(
    one: Session, offsets: Array, axis: Array, delay: float, beyond: float = 0.0
) -> Array:
    """Draw between the states around now - offset - delay; drop late packets."""
    rows: list[Array] = []
    times: list[float] = []
    states: list[Array] = []
    taken = 0
    for now in one.frames:
        while taken < len(axis) and one.arrivals[taken] <= now:
            if not times or axis[taken] > times[-1]:
                times.append(float(axis[taken]))
                states.append(one.places[taken])
            taken += 1
        if not times:
            rows.append(np.full(3, np.nan))
            continue
        wanted = now - offsets[taken - 1] - delay
        if wanted >= times[-1]:
            far = min(wanted - times[-1], beyond)
            slope = np.zeros(3)
            if len(times) > 1:
                slope = (states[-1] - states[-2]) / (times[-1] - times[-2])
            rows.append(states[-1] + slope * far)
            continue
        index = len(times) - 1
        while index > 0 and times[index - 1] > wanted:
            index -= 1
        if index == 0:
            rows.append(states[0])
            continue
        share = (wanted - times[index - 1]) / (times[index] - times[index - 1])
        rows.append(states[index - 1] + (states[index] - states[index - 1]) * share)
    return np.array(rows)


def _delay(kind: Kind, latency: bool = False) -> float:
    """Return a delay that a developer would set: send intervals, plus jitter and latency."""
    base = kind.delay / kind.rate + (kind.jitter if kind.number > 0.4 else 0.0)
    return round(base + (kind.latency if latency else 0.0), 3)


def _windowed(one: Session, pick: Callable[[Array], float], over: float) -> Array:
    measured = one.arrivals - one.stamps
    begins = np.searchsorted(one.arrivals, one.arrivals - over)
    return np.array([pick(measured[b : n + 1]) for n, b in enumerate(begins)])


def _low_pass(frames: Array, rows: Array, time: float) -> Array:
    out, shown = rows.copy(), None
    for n, row in enumerate(rows):
        if np.isnan(row[0]):
            continue
        share = 1 - math.exp(-(frames[n] - frames[n - 1]) / time) if n else 1.0
        shown = row if shown is None else shown + (row - shown) * share
        out[n] = shown
    return out


def _by_mean(one: Session, kind: Kind) -> Array:
    measured, mean, out = one.arrivals - one.stamps, None, []
    for value in measured:
        mean = value if mean is None else mean + 0.1 * (value - mean)
        out.append(mean)
    return _buffered(one, np.array(out), one.stamps, _delay(kind) + kind.jitter)


def _clocked(over: float, pick: Callable[[Array], float]) -> Callable[[Session, Kind], Array]:
    return lambda one, kind: _buffered(one, _windowed(one, pick, over), one.stamps, _delay(kind))


DRAWINGS: dict[str, Callable[[Session, Kind], Array]] = {
    "newest": _follow(lambda _shown, goal, _dt: goal),
    "share": _follow(lambda shown, goal, _dt: shown + (goal - shown) * 0.15),
    "lerp": _follow(lambda shown, goal, dt: shown + (goal - shown) * min(10 * dt, 1)),
    "exponential": _follow(
        lambda shown, goal, dt: shown + (goal - shown) * (1 - math.exp(-8 * dt))
    ),
    "spring": _spring,
    "tween": _tween(1.0),
    "tween-short": _tween(0.5),
    "tween-long": _tween(2.0),
    "arrivals": lambda one, kind: _buffered(
        one, np.zeros(len(one.stamps)), one.arrivals, _delay(kind)
    ),
    "agree": lambda one, kind: _buffered(
        one, np.zeros(len(one.stamps)), one.stamps, _delay(kind, latency=True)
    ),
    "first": lambda one, kind: _buffered(
        one, np.full(len(one.stamps), one.arrivals[0] - one.stamps[0]), one.stamps, _delay(kind)
    ),
    "min": _clocked(10.0, lambda values: float(values.min())),
    "min-session": _clocked(1e9, lambda values: float(values.min())),
    "median": _clocked(10.0, lambda values: float(np.median(values))),
    "newest-clock": _clocked(0.0, lambda values: float(values[-1])),
    "mean": _by_mean,
    "extrapolates": lambda one, kind: _buffered(
        one, _windowed(one, lambda values: float(values.min()), 1e9), one.stamps,
        0.5 * _delay(kind), 0.25,
    ),
    "low-pass": lambda one, kind: _low_pass(
        one.frames,
        _buffered(
            one, _windowed(one, lambda values: float(values.min()), 1e9), one.stamps,
            _delay(kind),
        ),
        0.08,
    ),
}  # fmt: skip

#: Those that find the sender's clock by themselves.
FREE = ("newest", "share", "lerp", "spring", "tween", "arrivals", "first", "min", "min-session",
        "median", "newest-clock", "mean")  # fmt: skip


# ---------------------------------------------------------------- measures


class Measured(NamedTuple):
    """Step error, lag (s), jumps a minute, share of held frames."""

    step_error: float
    lag: float
    jumps: float
    held: float


def measured(one: Session, times: Array, shown: Array) -> Measured:
    """Return how a drawing differs from the true movement, without the first two seconds."""
    used = np.isfinite(shown[:, 0]) & (times > 2.5) & (times < SECONDS - 0.5)
    times, shown = times[used], shown[used]

    def off(lag: float) -> float:
        return float(np.square(one.true(times - lag) - shown).sum())

    lag = min(np.arange(-0.1, 0.9, 0.01), key=off)
    lag = min(np.arange(lag - 0.01, lag + 0.0101, 0.001), key=off)
    steps = np.diff(one.true(times - lag), axis=0)
    drawn = np.diff(shown, axis=0)
    error = math.sqrt(float(np.square(drawn - steps).sum() / np.square(steps).sum()))
    true, far = np.linalg.norm(steps, axis=1), np.linalg.norm(drawn, axis=1)
    usual = math.sqrt(float(np.square(true).mean()))
    frame = float(np.median(np.diff(times)))
    reach = int(0.5 / frame)
    longest = np.array([true[max(n - reach, 0) : n + reach + 1].max() for n in range(len(true))])
    jumps = (far > 1.5 * longest) & (far > longest + 0.1 * usual)
    held = (far < 0.05 * true) & (true > 0.3 * usual)
    return Measured(error, float(lag), 60 * float(jumps.sum()) / (times[-1] - times[0]),
                    float(held.mean()))  # fmt: skip


# ---------------------------------------------------------------- the program


def _written(folder: Path, one: Session, shown: Array) -> tuple[Path, Path]:
    packets, frames = folder / "packets.csv", folder / "frames.csv"
    rows = [
        f"{stamp:.5f},{arrival:.5f},{x:.4f},{y:.4f},{z:.4f}"
        for stamp, arrival, (x, y, z) in zip(one.stamps, one.arrivals, one.places, strict=True)
    ]
    packets.write_text("\n".join(["time,arrival,x,y,z", *rows]) + "\n")
    rows = [
        f"{time:.5f},{x:.4f},{y:.4f},{z:.4f}"
        for time, (x, y, z) in zip(one.frames, shown, strict=True)
        if not math.isnan(x)
    ]
    frames.write_text("\n".join(["time,x,y,z", *rows]) + "\n")
    return packets, frames


def _run(*words: object) -> str:
    command = [sys.executable, "-m", "epic_cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _replayed(packets: Path, command: str, rate: float) -> tuple[Array, Array]:
    assert command.startswith("-s ")
    words = ("replay", *command.split(), "--tick", f"1/{rate:g}", "-f", "csv", packets)
    lines = _run(*words).splitlines()[1:]
    rows = np.array([[float(cell) for cell in line.split(",")[:4]] for line in lines])
    return rows[:, 0], rows[:, 1:4]


class Verdict(NamedTuple):
    """The effect of a printed cure on a session that was not diagnosed."""

    what: str
    command: str
    figure: str
    verdict: str
    before: Measured
    after: Measured


def judge(trial: dict[str, Any], what: str, kind: Kind, seed: int, folder: Path) -> Verdict:
    """Follow a printed command on another session of the same kind."""
    fresh = session(kind, seed)
    shown = DRAWINGS[kind.drawing](fresh, kind)
    packets, _ = _written(folder, fresh, shown)
    before = measured(fresh, fresh.frames, shown)
    command, figure = trial["command"], trial["figure"]
    if figure == "lag_by_frame_rate":
        lags = [measured(fresh, *_replayed(packets, command, rate)).lag for rate in (30, 144)]
        good = abs(lags[0] - lags[1]) < 0.5 * trial["before"]
        return Verdict(what, command, figure, "improves" if good else "worse", before, before)
    after = measured(fresh, *_replayed(packets, command, kind.frames))
    change = getattr(before, figure) - getattr(after, figure)
    least = {"step_error": 0.02, "lag": 0.015, "jumps": 2.0, "held": 0.004}[figure]
    worse = (
        change < -least or after.step_error > before.step_error + 0.03
        or after.jumps > before.jumps + 4 or after.held > before.held + 0.012
    )  # fmt: skip
    verdict = "worse" if worse else "improves" if change > least else "nothing"
    return Verdict(what, command, figure, verdict, before, after)


def follow(seed: int, counts: Counter[str], folder: Path) -> None:
    """Diagnose a session, apply the printed cure to another session, and count the outcome."""
    kind = kind_of(seed)
    one = session(kind, 2 * seed)
    shown = DRAWINGS[kind.drawing](one, kind)
    packets, frames = _written(folder, one, shown)
    before = measured(one, one.frames, shown)
    lines = _run("diagnose", "--drawn", frames, packets, "-f", "jsonl").splitlines()
    records = [json.loads(line) for line in lines]
    drawn = records.pop()["drawn"]
    trials = [("drawing", drawn["cure"])]
    trials += [(record["cause"], record["trial"]) for record in drawn["causes"] + records]
    printed: dict[str, Any] = {}
    for what, trial in trials:
        if trial is not None and trial["command"].startswith("-s "):
            printed.setdefault(trial["command"], (what, trial))
    story = " ".join(f"{key}={value}" for key, value in kind._asdict().items())
    known = "understood" if drawn["found"] else "not understood"
    causes, findings = ([record["cause"] for record in of] for of in (drawn["causes"], records))
    print(f"{seed}: {story}\n   before {_short(before)}; {known}: {drawn['command']};"
          f" findings {findings}; causes {causes}", flush=True)  # fmt: skip
    bad = before.step_error > 0.25 or before.jumps > 20 or before.held > 0.03
    clean = before.step_error < 0.1 and before.jumps < 3 and before.held < 0.005
    counts["sessions"] += 1
    counts["bad sessions"] += bad
    counts["bad sessions without a cure"] += bad and not printed
    counts["clean sessions"] += clean
    counts["clean sessions with a cure"] += clean and bool(printed)
    for what, trial in printed.values():
        found = judge(trial, what, kind, 2 * seed + 1, folder)
        counts["cures"] += 1
        counts[found.verdict] += 1
        print(f"   {found.verdict}: {what}, {found.figure} {trial['before']:.3g} ->"
              f" {trial['after']:.3g}: {found.command}\n"
              f"      fresh {_short(found.before)} -> {_short(found.after)}",
              flush=True)  # fmt: skip


def main() -> None:
    """Count the outcomes of following the printed cures, over many sessions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=80)
    parser.add_argument("--first", type=int, default=91000)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(given.first, given.first + given.cases):
            follow(seed, counts, Path(name))
    print(dict(counts))


def _short(one: Measured) -> str:
    return (f"step {one.step_error:.3f}, lag {one.lag * 1e3:.0f}, jumps {one.jumps:.1f},"
            f" held {one.held * 100:.2f} %")  # fmt: skip


if __name__ == "__main__":
    main()
