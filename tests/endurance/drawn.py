"""The share of random drawings that ``epic diagnose --drawn`` describes.

python -m endurance.drawn [compositions | engines] [--cases CASES] [--first CASE]

``compositions``: random settings of ``buffer`` and ``chase``, a third of them with parts that
public code has; ``engines``: one setting of any other strategy, changed at random. Movements,
networks, frames and the loop that draws are its own. It fails below 95 %, and where an exact answer
draws anything else.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from epic_cli import Packet, strategy
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.drawn import match
from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
from epic_cli.metrics.drawn_path import DrawnPath

Settings = dict[str, Any]

#: Rows are rounded to 1e-4: half of that, and how far off a row is by that alone, at most (RMS).
HALF, ROUNDED = 5e-5, 1e-4


class Case(NamedTuple):
    """A drawing: the packets, the settings, the frame rate."""

    spec: StrategySpec
    packets: list[Packet]
    path: DrawnPath
    words: str


# ---------------------------------------------------------------- movements, networks, frames


def movement(dice: random.Random, seconds: float, rate: float) -> tuple[Any, Any, Any]:
    """Return stamps, positions and velocities of a body that steers, stops, circles or bounces."""
    kind = dice.choice(["runner", "car", "orbit", "ball", "patrol"])
    step, at = 1 / 240, 0.0
    place, velocity = np.zeros(3), np.zeros(3)
    pace, goal, until = dice.uniform(2, 9), np.zeros(3), 0.0
    heading, turn = dice.uniform(0, 6), 0.0
    places, velocities = [], []
    while at < seconds:
        if kind == "runner":  # accelerates to a wish that changes
            if at >= until:
                angle, goes = dice.uniform(0, 6.3), dice.random() < 0.85
                goal = pace * goes * np.array([np.cos(angle), np.sin(angle), 0])
                until = at + dice.uniform(0.25, 1.6)
            off = goal - velocity
            velocity = velocity + off * min(1, 50 * step / max(float(np.linalg.norm(off)), 1e-9))
        elif kind == "car":  # turns smoothly
            turn += dice.gauss(0, 0.35) - 0.01 * turn
            heading += turn * step
            velocity = pace * 2 * np.array([np.cos(heading), np.sin(heading), 0])
        elif kind == "orbit":
            w = 1.1
            velocity = pace * np.array([np.cos(w * at), np.sin(w * at), 0.3 * np.cos(2.3 * at)])
        elif kind == "ball":  # falls and bounces
            if at == 0:
                velocity = np.array([pace, 0.4 * pace, 6.0])
            velocity = velocity + np.array([0, 0, -9.81]) * step
            if place[2] < 0 and velocity[2] < 0:
                velocity[2] = dice.uniform(4, 8)
                velocity[:2] *= dice.choice([1, -1, 1])
        else:  # straight from point to point
            if np.linalg.norm(goal - place) < pace * step * 2:
                goal = place + np.array([dice.uniform(-8, 8), dice.uniform(-8, 8), 0])
            way = goal - place
            velocity = pace * way / max(float(np.linalg.norm(way)), 1e-9)
        place = place + velocity * step
        at += step
        places.append(place)
        velocities.append(velocity)
    stamps = np.arange(1 / rate, seconds - 0.01, 1 / rate)
    ticks = np.arange(1, len(places) + 1) * step

    def sampled(rows: list[Any]) -> Any:
        return np.stack([np.interp(stamps, ticks, row) for row in np.array(rows).T], axis=1)

    return stamps, sampled(places), sampled(velocities)


def traffic(dice: random.Random, seconds: float, *, same_clock: bool) -> tuple[list[Packet], str]:
    """Return packets in order of arrival, over a network with jitter of 0 to 40 ms and 0 to 5 %
    loss.
    """
    rate = dice.choice([10, 15, 20, 25, 30])
    stamps, places, velocities = movement(dice, seconds, rate)
    jitter, loss = dice.choice([0, 0.003, 0.008, 0.015, 0.025, 0.04]), dice.choice([0, 0.01, 0.05])
    kind, latency = dice.choice(["gauss", "gamma", "spikes"]), dice.uniform(0.015, 0.12)
    ahead = 0.0 if same_clock else dice.choice([0.0, 0.0, -41.7, 3.2])
    with_velocity = dice.random() < 0.7
    packets = []
    for stamp, place, velocity in zip(stamps, places, velocities, strict=True):
        late = {
            "gauss": abs(dice.gauss(0, jitter)),
            "gamma": dice.gammavariate(2, jitter / 2 + 1e-9),
            "spikes": dice.uniform(0, jitter) + (dice.random() < 0.01) * 3 * jitter,
        }[kind]
        if dice.random() < loss:
            continue
        packets.append(
            Packet(
                tuple(np.round(place, 4).tolist()),
                tuple(np.round(velocity, 4).tolist()) if with_velocity else None,
                round(float(stamp) + ahead, 4),
                round(float(stamp) + latency + (late if jitter else 0.0), 5),
            )
        )
    packets.sort(key=lambda packet: packet.arrival or 0.0)
    return packets, f"{rate} Hz, jitter {jitter:g} {kind}, loss {loss:g}"


def frames(dice: random.Random, packets: list[Packet]) -> tuple[Any, str]:
    """Return times of frames that jitter by a millisecond."""
    rate = dice.choice([30, 50, 60, 60, 75, 120, 144])
    begin, end = packets[0].arrival or 0.0, packets[-1].arrival or 0.0
    at = begin - 0.02 + np.arange(0, end - begin, 1 / rate)
    at += np.array([dice.uniform(-0.001, 0.001) for _ in at])
    return np.unique(np.round(at, 5)), f"{rate} frames"


def draw(spec: StrategySpec, packets: list[Packet], times: Any) -> Any:
    """Return the position drawn in each frame, NaN for nothing, by one ``read`` after the other."""
    made: Any = strategy(spec.name, **spec.settings)
    rows, waiting = [], iter(packets)
    packet = next(waiting, None)
    for at in times.tolist():
        while packet is not None and (packet.arrival or 0.0) <= at:
            made.update(packet, packet.arrival)
            packet = next(waiting, None)
        sample = made.read(at)
        rows.append(sample.position if sample.status != "none" else (np.nan,) * 3)
    return np.array(rows, float)


# ---------------------------------------------------------------- what draws


def buffer(dice: random.Random) -> Settings:
    """Return random settings of a delay buffer; seconds have three decimals."""
    stamps = dice.choice(["sender", "sender", "sender", "arrival", "ticks"])
    found: Settings = {"stamps": stamps}
    if stamps != "arrival":
        clocks = ["first", "min", "mean", "median", "max", "newest", "pll"]
        found["clock"] = dice.choice([*["agree"] * (stamps == "sender"), *clocks])
    if found.get("clock") in ("min", "mean", "median", "max"):
        found["clock_time"] = dice.choice([0.5, 1.0, 2.0, 5.0, 10.0, "session"])
    least = 0.1 if found.get("clock") == "agree" else 0.04
    found["delay"] = round(dice.uniform(least, 0.3), 3)
    if dice.random() < 0.35:
        found["delay"] = f"{dice.uniform(1, 3.5):.2g}i"
    if dice.random() < 0.2:
        found["jitter_margin"] = dice.choice([1.0, 2.0, 3.0])
    found["curve"] = dice.choice(["linear", "linear", "linear", "hermite", "catmull-rom"])
    found["beyond"] = dice.choice(
        ["hold", "hold", "hold", "freeze", "unlimited", round(dice.uniform(0.03, 0.4), 2)]
    )
    if dice.random() < 0.2:
        found["catch_up"] = dice.choice(["rate", "rate", "none"])
        if found["catch_up"] == "rate":
            found["catch_up_rate"] = dice.choice([0.02, 0.05, 0.1, 0.2])
    if dice.random() < 0.25:
        found["low_pass"] = round(dice.uniform(0.01, 0.15), 3)
    return found


def newer_buffer(dice: random.Random) -> Settings:
    """Return random settings of a buffer with a part that public code has."""
    kind = dice.choice(
        [
            "queue", "timer", "share", "frame", "oldest", "spring", "behind", "back",
            "dequeue", "packet", "mean", "hold", "empty", "count", "soft", "uneven",
        ]
    )  # fmt: skip
    delay = round(dice.uniform(0.05, 0.25), 3)
    found: Settings = {"stamps": "arrival", "delay": delay}
    if kind == "queue":
        found = {"catch_up": "queue"}
        if dice.random() < 0.5:
            found["interval"] = dice.choice([0.05, 0.04, 0.1, 1 / 30])
    elif kind == "timer":
        interval = dice.choice([0.05, 0.04, 0.1])
        found = {"stamps": "ticks", "delay": "1i", "interval": interval, "catch_up": "timer"}
        found["phase"] = round(dice.uniform(0, interval), 3)
    elif kind == "share":
        share = dice.choice([0.05, 0.1, 0.2])
        found = {"clock": "mean", "clock_share": share, "delay": delay}
    elif kind == "frame":
        found = {"clock": "newest", "start": "last", "delay": delay}
    elif kind == "oldest":
        found |= {"beyond": "oldest", "keep": dice.choice([8, 10, 20, 32])}
    elif kind == "spring":
        found |= {"follow": "spring", "low_pass": round(dice.uniform(0.02, 0.12), 3)}
    elif kind == "behind":
        found |= {"follow": "share", "follow_share": round(dice.uniform(0.1, 0.6), 2)}
    elif kind == "dequeue":
        found = {"stamps": "arrival", "catch_up": "dequeue", "reserve": dice.choice([0, 1, 2])}
    elif kind == "packet":
        found = {"clock": dice.choice(["newest", "min"]), "delay": delay, "every": "packet"}
    elif kind == "mean":
        found |= {"delay": f"{dice.uniform(1, 3):.2g}i", "interval": "arrivals"}
        found["interval_count"] = dice.choice([5, 10, 20])
    elif kind == "empty":
        found |= {"beyond": "chase", "beyond_share": dice.choice([0.1, 0.15, 0.3])}
    elif kind == "count":
        clock = dice.choice(["median", "mean", "min"])
        found = {"clock": clock, "clock_count": dice.choice([5, 10, 20]), "delay": delay}
    elif kind == "soft":
        found = {"clock": "newest", "delay": delay, "catch_up": "rate", "when_empty": "run"}
        found |= {"catch_up_rate": dice.choice([0.05, 0.1]), "catch_up_limit": 0.1}
    elif kind == "uneven":
        found = {"clock": "mean", "clock_share": 0.1, "delay": delay, "jitter": "intervals"}
        found["jitter_margin"] = dice.choice([1.0, 2.0, 3.0])
    elif kind == "hold":
        found = {"stamps": dice.choice(["sender", "arrival"]), "delay": delay, "between": "hold"}
    else:
        found |= {"beyond": round(dice.uniform(0.05, 0.2), 2), "beyond_then": "return"}
    if found.get("stamps") == "arrival" and dice.random() < 0.3:
        found["late"] = "insert"
    if dice.random() < 0.15:
        found["rounding"] = 0.01
    return found


def newer_chase(dice: random.Random) -> Settings:
    """Return random settings of a chase with a part that public code has."""
    kind = dice.choice(
        [
            "ticks", "packet", "measured", "fed back", "velocity", "interval", "silence", "short",
            "drift", "fading", "nudges",
        ]
    )  # fmt: skip
    time = round(dice.uniform(0.05, 0.3), 3)
    found: Settings = {"how": dice.choice(["exponential", "lerp", "spring"]), "time": time}
    if kind == "ticks":
        found = {"how": "share", "share": round(dice.uniform(0.1, 0.5), 2)}
        found["every"] = dice.choice([0.02, 1 / 30, 0.05, round(dice.uniform(0.03, 0.08), 4)])
        found["between"] = dice.choice(["hold", "lerp"])
    elif kind == "packet":
        found = {"how": "share", "share": round(dice.uniform(0.2, 0.9), 2), "every": "packet"}
    elif kind in ("measured", "fed back"):
        found = {"how": "linear" if kind == "measured" else "growing", "time": "1i"}
        found |= {"interval": dice.choice(["frames", "arrivals"]), "start": "last"}
        if dice.random() < 0.5:
            found |= {"ahead": "interval", "ahead_time": "unlimited"}
        elif dice.random() < 0.5:
            found |= {"interval_share": dice.choice([0.1, 0.2, 0.5])}
    elif kind == "velocity":
        found |= {"ahead": "velocity", "age": "arrival", "ahead_time": "unlimited"}
    elif kind in ("drift", "fading"):
        found["how"], found["drift"] = dice.choice(["exponential", "lerp"]), 1.0
        found |= {"ahead": "velocity"} if kind == "fading" else {}
    elif kind == "nudges":
        found = {"how": "share", "share": round(dice.uniform(0.2, 0.9), 2), "every": "packet"}
        found["drift"] = 1.0
    elif kind == "interval":
        found = {"how": "interval", "interval": round(dice.uniform(0.05, 0.2), 3)}
    elif kind == "short":
        found = {"how": dice.choice(["linear", "eased"]), "time": time, "end": "short"}
        found["start"] = dice.choice(["drawn", "last", "frame"])
    else:
        found |= {"snap_after": round(dice.uniform(0.3, 1.0), 1)}
    if dice.random() < 0.3:
        found["late"] = "take"
    if dice.random() < 0.15:
        found["rounding"] = 0.01
    return found


def chase(dice: random.Random) -> Settings:
    """Return random settings of a chase."""
    how = dice.choice(
        ["exponential", "lerp", "share", "spring", "speed", "interval", "linear", "eased"]
    )
    found: Settings = {"how": how}
    if how in ("exponential", "lerp", "spring", "linear", "eased"):
        found["time"] = round(dice.uniform(0.04, 0.3), 3)
        if dice.random() < 0.15:
            found["time"] = f"{dice.uniform(0.8, 3):.2g}i"
    elif how == "share":
        found["share"] = round(dice.uniform(0.04, 0.6), 2)
    elif how == "speed":
        found["speed"] = round(dice.uniform(3, 25), 1)
    if how == "eased":
        found["ease"] = dice.choice(["smoothstep", "in-out-sine", "out-quad", "in-out-quint"])
    if dice.random() < 0.3:
        found["ahead"] = dice.choice(["velocity", "arrival", "step"])
    return found


def composition(seed: int) -> Case:
    """Return 20 to 60 s of a random composition."""
    dice = random.Random(f"composition {seed}")
    is_buffer, newer = dice.random() < 0.6, seed % 3 == 0
    kinds = (newer_chase, newer_buffer) if newer else (chase, buffer)
    settings = kinds[is_buffer](dice)
    same_clock = newer or settings.get("clock") == "agree" or not is_buffer
    spec = StrategySpec("buffer" if is_buffer else "chase", settings)
    return _drawn(dice, spec, dice.uniform(20, 60), same_clock)


def engine(seed: int) -> Case:
    """Return one setting of an engine's strategy that changes what it draws here."""
    dice = random.Random(f"engine {seed}")
    names = [spec.name for spec in read_specs() if spec.name not in ("buffer", "chase")]
    name = names[seed % len(names)]
    settings = [setting for setting in get_declaration(name).settings if _may_change(setting)]
    if not settings:
        return _drawn(dice, StrategySpec(name, {}), dice.uniform(20, 40), True)
    while True:
        spec = StrategySpec(name, {(one := dice.choice(settings)).name: _value(dice, one)})
        case = _drawn(dice, spec, dice.uniform(20, 40), True)
        usual = draw(StrategySpec(name, {}), case.packets, case.path.times)
        apart = np.linalg.norm(usual - case.path.positions, axis=1)
        if not np.nanmean(apart) < 5 * ROUNDED:
            return case


def _may_change(setting: object) -> bool:
    return isinstance(setting, (Number, Choice, Switch)) and bool(setting.tune)


def _value(dice: random.Random, setting: Any) -> Any:
    if not isinstance(setting, Number):
        return dice.choice(setting.choices)
    low, high = setting.tune or (0.0, 1.0)
    value = dice.uniform(low, high)
    if setting.scale == "log":
        value = float(np.exp(dice.uniform(*np.log((low, high)))))
    return round(value) if setting.whole else float(f"{value:.3g}")


def _drawn(dice: random.Random, spec: StrategySpec, seconds: float, same_clock: bool) -> Case:
    while True:
        packets, network = traffic(dice, seconds, same_clock=same_clock)
        times, rate = frames(dice, packets)
        own = np.round(draw(spec, packets, times), 4)
        there = np.isfinite(own).all(axis=1)
        if there.sum() > 200:
            path = DrawnPath(times[there], own[there], HALF)
            return Case(spec, packets, path, f"{network}, {rate}")


# ---------------------------------------------------------------- what is said of it


class Outcome(NamedTuple):
    """The outcome for a drawing: ``right`` or not, each ``miss``, and the seconds of CPU time."""

    spec: StrategySpec
    right: bool
    misses: list[str]
    words: str
    seconds: float


def found(case: Case) -> DrawnMatch:
    """Return the answer for a drawing."""
    block = PacketBlock()
    for packet in case.packets:
        block.append(packet)
    return match({"": block}, {"": case.path})


def outcome(case: Case) -> Outcome:
    """Compare the diagnosis of a drawing with the strategy that drew it."""
    begun = time.process_time()
    said = found(case)
    seconds = time.process_time() - begun
    spec = said.best.candidate if said.mechanism is None else said.mechanism.strategy
    left = redrawn(case, spec)
    # what drew them may itself remember frames before the first that showed something
    tie = left <= max(ROUNDED, 1.05 * redrawn(case, case.spec))
    read_otherwise = said.by_frame or said.behind
    exact = said.mechanism is not None and said.mechanism.exact and not read_otherwise
    is_false = exact and left > max(0.001 * said.step, ROUNDED)
    misses = ["false"] if is_false else []
    if left > 0.01 * said.step:
        misses.append(f"{100 * left / said.step:.2g} % left")
    most = max(left, said.best.residual)
    if most > 0.01 * said.step and abs(left - said.best.residual) > 0.1 * said.best.residual:
        misses.append(f"said {said.best.residual:.2g}, drawn again {left:.2g}")
    right = tie
    if case.spec.name in ("buffer", "chase"):
        right = tie or same_way(case.spec, spec)
        if not right:
            misses.append("not so")
        elif not tie:
            misses += differences(case.spec, spec)
    words = f"{case.spec.label} ({case.words}): {spec.label}"
    return Outcome(case.spec, right, misses, words, seconds)


def redrawn(case: Case, spec: StrategySpec) -> float:
    """Return the error of a strategy in the frames after the first second (RMS, length)."""
    own = draw(spec, case.packets, case.path.times)
    later = case.path.times >= case.path.times[0] + 1
    apart = np.square(own - case.path.positions).sum(axis=1)[later]
    return float(np.sqrt(apart[np.isfinite(apart)].mean())) if np.isfinite(apart).any() else np.inf


def same_way(spec: StrategySpec, other: StrategySpec) -> bool:
    """Return whether kind, stamps, clock and steps of two strategies are equal."""
    ways = ("stamps", "clock", "how")
    one, two = spec.values, other.values
    return spec.name == other.name and all(one.get(way) == two.get(way) for way in ways)


def differences(spec: StrategySpec, other: StrategySpec) -> list[str]:
    """Return the delays and low-passes that differ."""
    one, two = spec.values, other.values
    off = []
    if "delay" in one and "i" not in f"{one['delay']}{two['delay']}":
        first, second = float(one["delay"]), float(two["delay"])
        if abs(first - second) > max(0.003, 0.03 * first) and not one["jitter_margin"]:
            off.append("another delay")
    if "low_pass" in one and abs(one["low_pass"] - two["low_pass"]) > 0.15 * one["low_pass"]:
        off.append("another low-pass")
    return off


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("compositions", "engines"), nargs="?")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    made = engine if given.what == "engines" else composition
    tally: Counter[str] = Counter()
    worst = total = 0.0
    for seed in range(given.first, given.first + given.cases):
        case = made(seed)
        found = outcome(case)
        tally["right"] += found.right
        for miss in found.misses:
            tally["left" if miss.endswith("left") else " ".join(miss.split()[:1])] += 1
        length = float(case.path.times[-1] - case.path.times[0])
        total, worst = total + found.seconds, max(worst, found.seconds)
        if found.misses:
            print(f"{seed}: {found.words}: {', '.join(found.misses)}; {found.seconds:.1f} s of"
                  f" {length:.0f} s", flush=True)  # fmt: skip
    cost = f"{total / given.cases:.2f} s each, {worst:.1f} s at most"
    print(f"{tally['right']} of {given.cases} right; {dict(tally)}; {cost}")
    raise SystemExit(tally["right"] < 0.95 * given.cases or tally["false"] > 0)


if __name__ == "__main__":
    main()
