"""Recordings as other people's games write them, and what ``epic diagnose`` reports on them.

Movement, senders, networks and receivers of its own: nothing here is shared with
``epic_cli.network``. Arrivals are those of a receiver that reads once a frame.

python -m endurance.field [--seeds SEEDS] [--faults SEEDS] [--only WORD]
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pool
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epic_cli import Packet, diagnose

Floats = NDArray[np.float64]
Random = np.random.Generator

RATES = (20, 30, 60)
FRAMES = (30, 60, 120, 144)
JITTERS = (0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04)
COUNT = 800


# Movement, in steps of a millisecond: positions (n, 3) and velocities.


def _runner(random: Random, count: int) -> tuple[Floats, Floats]:
    """Return a runner: random keys, friction and acceleration as in Quake, occasional jumps."""
    step, position, velocity = 0.001, np.zeros(3), np.zeros(3)
    wish, until = np.zeros(3), 0
    places, speeds = np.empty((count, 3)), np.empty((count, 3))
    for i in range(count):
        if i >= until:
            turn = random.uniform(0, 2 * np.pi)
            still = random.random() < 0.1
            wish = np.zeros(3) if still else 6 * np.array([np.cos(turn), np.sin(turn), 0.0])
            until = i + int(random.uniform(250, 1500))
            if position[2] <= 0 and random.random() < 0.3:
                velocity[2] = 5.0
        flat = wish[:2] - velocity[:2]
        velocity[:2] += 8.0 * flat * step
        velocity[2] -= 15.0 * step if position[2] > 0 or velocity[2] > 0 else 0.0
        position = position + velocity * step
        if position[2] < 0:
            position[2], velocity[2] = 0.0, 0.0
        places[i], speeds[i] = position, velocity
    return places, speeds


def _car(random: Random, count: int) -> tuple[Floats, Floats]:
    """Return a car that steers and brakes smoothly."""
    knots = count // 1500 + 3
    at = np.linspace(0, knots - 1.001, count)
    place, part = at.astype(int), at - at.astype(int)
    ease = part * part * (3 - 2 * part)

    def smooth(low: float, high: float) -> Floats:
        values = random.uniform(low, high, knots + 1)
        return np.asarray(values[place] + ease * (values[place + 1] - values[place]))

    speed, heading = smooth(5, 25), np.cumsum(smooth(-0.8, 0.8)) * 0.001
    velocity = np.stack((speed * np.cos(heading), speed * np.sin(heading), smooth(-0.3, 0.3)), 1)
    return np.cumsum(velocity, axis=0) * 0.001, velocity


def _drone(random: Random, count: int) -> tuple[Floats, Floats]:
    """Return sums of slow sines on all three axes."""
    t = np.arange(count) * 0.001
    place, speed = np.zeros((count, 3)), np.zeros((count, 3))
    for axis, _ in itertools.product(range(3), range(5)):
        rate, phase = random.uniform(0.3, 4.0), random.uniform(0, 2 * np.pi)
        size = random.uniform(1, 3) / rate
        place[:, axis] += size * np.sin(rate * t + phase)
        speed[:, axis] += size * rate * np.cos(rate * t + phase)
    return place, speed


def _walker(random: Random, count: int) -> tuple[Floats, Floats]:
    """Return a walk from place to place, with a rest at some."""
    place, speed = np.zeros((count, 3)), np.zeros((count, 3))
    begin, where = 0, np.zeros(3)
    while begin < count:
        goal = where + np.append(random.uniform(-8, 8, 2), 0.0)
        long = int(1000 * max(float(np.linalg.norm(goal - where)) / 3.0, 0.5))
        n = np.arange(min(long, count - begin))
        s = n / long
        place[begin : begin + len(n)] = where + np.outer(
            s**3 * (10 - 15 * s + 6 * s * s), goal - where
        )
        rate = 30 * s * s * (1 - s) ** 2 / (long * 0.001)
        speed[begin : begin + len(n)] = np.outer(rate, goal - where)
        begin, where = begin + len(n), goal
        rest = int(random.uniform(0, 1500)) if random.random() < 0.4 else 0
        place[begin : begin + rest] = where
        begin += rest
    return place, speed


MOVEMENTS = {"runner": _runner, "car": _car, "drone": _drone, "walker": _walker}


def _at(path: tuple[Floats, Floats], times: Floats) -> tuple[Floats, Floats]:
    """Return positions and velocities at these times (s)."""
    place, speed = path
    at = np.clip(times * 1000, 0, len(place) - 2)
    low = at.astype(int)
    part = (at - low)[:, None]
    return (
        place[low] + part * (place[low + 1] - place[low]),
        speed[low] + part * (speed[low + 1] - speed[low]),
    )


# Sender, network, receiver.


@dataclass
class Scene:
    """A recording under construction."""

    random: Random
    rate: float
    frames: float  # 0: arrivals as they are
    jitter: float
    movement: str = ""
    shape: str = ""
    digits: int = 9
    count: int = COUNT
    columns: dict[str, Any] = field(default_factory=dict)


def _delays(scene: Scene, sent: Floats) -> Floats:
    """Return delays of a healthy network (s)."""
    random, jitter, count = scene.random, scene.jitter, len(sent)
    base = random.uniform(0.01, 0.12)
    if scene.shape == "uniform":
        more = random.uniform(0, 2 * jitter, count)
    elif scene.shape == "normal":
        more = np.maximum(random.normal(2 * jitter, jitter, count), 0.0)
    elif scene.shape in ("tail", "queue"):
        more = random.exponential(jitter, count) if jitter else np.zeros(count)
        if scene.shape == "queue":  # nothing overtakes
            return np.maximum.accumulate(sent + base + more) - sent
    else:  # waves: delays that hang together over a fifth of a second, packets in order
        keep = np.exp(-1 / (0.2 * scene.rate))
        noise = random.normal(0, 1, count)
        wave = np.empty(count)
        wave[0] = noise[0]
        for i in range(1, count):
            wave[i] = keep * wave[i - 1] + np.sqrt(1 - keep * keep) * noise[i]
        more = np.maximum(jitter * (wave + 2), 0.0)
        return np.maximum.accumulate(sent + base + more) - sent
    return base + more


def _read(scene: Scene, arrivals: Floats) -> Floats:
    """Return when the receiver's next frame begins."""
    if not scene.frames:
        return np.round(arrivals, scene.digits)
    # a screen of 60 Hz has 59.94, or any other rate nearby, as often as 60
    rate = scene.frames * scene.random.choice([1.0, 0.999, 1 + scene.random.uniform(-1e-4, 1e-4)])
    phase = scene.random.uniform(0, 1 / rate)
    number = np.ceil((arrivals - phase) * rate)
    return np.asarray(np.round(phase + number / rate, scene.digits))


def scene_of(seed: int, rate: float, frames: float, jitter: float, count: int = COUNT) -> Scene:
    """Return a recording with the given properties; all others are random."""
    random = np.random.default_rng([seed, int(rate), int(frames), int(jitter * 1e4)])
    scene = Scene(random, rate, frames, jitter, count=count)
    scene.movement = str(random.choice(sorted(MOVEMENTS)))
    scene.shape = str(random.choice(["uniform", "normal", "tail", "waves", "queue"]))
    scene.digits = int(random.choice([3, 4, 6, 9])) if frames else 9
    return scene


def clean(scene: Scene) -> dict[str, Any]:
    """Return the columns of a healthy recording, in the order of sending."""
    random = scene.random
    path = MOVEMENTS[scene.movement](random, int(1000 * (scene.count / scene.rate + 3)))
    sent = 0.5 + np.arange(scene.count) / scene.rate
    place, speed = _at(path, sent)
    wire = sent + random.uniform(0, 0.0005, scene.count)
    arrivals = _read(scene, wire + _delays(scene, sent))
    lost = random.random(scene.count) < random.choice([0.0, 0.0, 0.004, 0.01])
    return {
        "time": np.round(sent, 6),
        "place": place,
        "speed": speed,
        "arrival": arrivals,
        "seq": np.arange(scene.count),
        "kept": ~lost,
        "path": path,
        "sent": sent,
        "entity": np.full(scene.count, "", object),
    }


def _vector(row: Floats) -> tuple[float, float, float]:
    x, y, z = row.tolist()
    return x, y, z


def packets(columns: dict[str, Any]) -> list[Packet]:
    """Return the receiver's log, in order of arrival."""
    order = np.argsort(columns["arrival"], kind="stable")
    found = []
    for i in order[columns["kept"][order]]:
        arrival, seq = columns["arrival"][i], columns["seq"]
        found.append(
            Packet(
                _vector(columns["place"][i]),
                _vector(columns["speed"][i]),
                float(columns["time"][i]),
                None if columns.get("no arrival") else float(arrival),
                str(columns["entity"][i]),
                False,
                None if seq is None else int(seq[i]),
            )
        )
    return found


# Faults: what is in the recording, and the cause that says so.


def _equal_stamps(scene: Scene, c: dict[str, Any], strength: float) -> None:
    again = np.flatnonzero(scene.random.random(scene.count - 1) < 0.18 * strength) + 1
    for i in again:
        c["time"][i] = c["time"][i - 1]


def _receive_stamps(scene: Scene, c: dict[str, Any], strength: float) -> None:
    c["kept"] = scene.random.random(scene.count) >= 0.004
    late = scene.random.normal(0.06, 0.025 * strength, scene.count)
    c["time"] = c["arrival"] = _read(scene, c["sent"] + np.maximum(late, 0.002))


def _noise(scene: Scene, c: dict[str, Any], strength: float) -> None:
    c["place"] = c["place"] + scene.random.normal(0, 0.01 * strength, c["place"].shape)


def _swap(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Exchange the names of two entities from time to time."""
    other = MOVEMENTS[scene.movement](scene.random, len(c["path"][0]))
    place, speed = _at(other, c["sent"])
    place = place + np.array([4.0, 3.0, 0.0])
    swapped = np.zeros(scene.count, bool)
    for begin in scene.random.integers(40, scene.count - 60, max(int(4 * strength), 1)):
        swapped[begin : begin + int(scene.random.integers(1, 30))] ^= True
    one, two = np.where(swapped, "b", "a"), np.where(swapped, "a", "b")
    for name, more in {"place": place, "speed": speed}.items():
        c[name] = np.concatenate((c[name], more))
    for name in ("time", "arrival", "seq", "kept", "sent"):
        c[name] = np.concatenate((c[name], c[name]))
    c["entity"] = np.concatenate((one, two)).astype(object)


def _frozen(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Repeat positions for a while; velocities continue."""
    for _ in range(max(int(4 * strength), 1)):
        begin = int(scene.random.integers(40, scene.count - 60))
        long = int(scene.random.uniform(0.3, 0.8) * scene.rate) + 2
        c["place"][begin : begin + long] = c["place"][begin]


def _one_sign(scene: Scene, c: dict[str, Any], strength: float) -> None:
    del strength
    c["speed"][:, int(scene.random.integers(2))] *= -1


def _local(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Write velocities as forward and right of the entity instead of east and north."""
    del strength
    level = np.hypot(c["speed"][:, 0], c["speed"][:, 1])
    slip = 0.05 * np.sin(np.arange(scene.count) * 0.05)
    c["speed"][:, 0], c["speed"][:, 1] = level * np.cos(slip), level * np.sin(slip)


def _turned(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Write velocities in other axes: a quarter turn, or a turn by any angle."""
    del strength
    angle = float(scene.random.choice([np.pi / 2, -np.pi / 2, np.pi, 0.7]))
    x, y = c["speed"][:, 0].copy(), c["speed"][:, 1].copy()
    c["speed"][:, 0] = np.cos(angle) * x - np.sin(angle) * y
    c["speed"][:, 1] = np.sin(angle) * x + np.cos(angle) * y


def _resent(scene: Scene, c: dict[str, Any], sent: Floats) -> None:
    """Replace the sending times, and sample the movement again at these times."""
    c["sent"], c["time"] = sent, np.round(sent, 6)
    c["place"], c["speed"] = _at(c["path"], sent)
    c["arrival"] = _read(scene, sent + _delays(scene, sent))


def _alternating(scene: Scene, c: dict[str, Any], strength: float) -> None:
    _resent(scene, c, c["sent"] + 0.004 * strength * (np.arange(scene.count) % 2))


def _pairs(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Move every second packet closer to the one before it, to 40 % of an interval."""
    _resent(scene, c, c["sent"] - 0.6 * strength / scene.rate * (np.arange(scene.count) % 2))


def _arrive_in_pairs(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Hold up to a quarter of the packets until the next packet arrives."""
    first = np.flatnonzero(scene.random.random(scene.count - 1) < 0.25 * strength)
    first = first[np.diff(first, prepend=-9) > 1]
    c["arrival"][first] = np.maximum(c["arrival"][first], c["arrival"][first + 1])


def _drift(scene: Scene, c: dict[str, Any], strength: float) -> None:
    c["arrival"] = c["arrival"] * (1 + 50e-6 * strength * scene.random.choice([-1, 1]))


def _burst_loss(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Lose 2 % of the packets, three in a row on average."""
    lost, gone = np.zeros(scene.count, bool), False
    for i in range(scene.count):
        gone = scene.random.random() < (2 / 3 if gone else 0.02 * strength / 3 / (1 - 0.02))
        lost[i] = gone
    c["kept"] = ~lost


def _loss(scene: Scene, c: dict[str, Any], strength: float) -> None:
    c["kept"] = scene.random.random(scene.count) >= 0.08 * strength


def _route(scene: Scene, c: dict[str, Any], strength: float) -> None:
    begin = scene.count // 3
    delays = _delays(scene, c["sent"])
    delays[begin : 2 * begin] += 0.06 * strength
    c["arrival"] = _read(scene, c["sent"] + delays)


def _stall(scene: Scene, c: dict[str, Any], strength: float) -> None:
    """Stop the receiver's reading for a while, four times."""
    arrivals = c["arrival"].copy()
    for begin in scene.random.uniform(3, c["sent"][-1] - 3, 4):
        end = begin + 0.25 * strength
        arrivals[(arrivals > begin) & (arrivals < end)] = end
    c["arrival"] = arrivals


def _batches(scene: Scene, c: dict[str, Any], strength: float) -> None:
    step = (2 + 2 * strength) / scene.rate
    c["arrival"] = np.ceil(c["arrival"] / step) * step


def _teleport(scene: Scene, c: dict[str, Any], strength: float) -> None:
    begin = int(scene.random.integers(100, scene.count - 100))
    c["place"][begin:] += np.array([12.0, -9.0, 0.0]) * strength


def _reordering(scene: Scene, c: dict[str, Any], strength: float) -> None:
    late = scene.random.random(scene.count) < 0.06 * strength
    delays = _delays(scene, c["sent"]) + late * 2.5 / scene.rate
    c["arrival"] = _read(scene, c["sent"] + delays)


Make = Callable[[Scene, dict[str, Any], float], None]

#: Fault, the causes of which one must be named (none: nothing may be), what makes it, strengths.
FAULTS: dict[str, tuple[tuple[str, ...], Make, tuple[float, ...]]] = {
    "equal stamps": (("stamps",), _equal_stamps, (0.3, 1.0)),
    "receive stamps": (("stamps",), _receive_stamps, (1.0,)),
    "noise 1 cm": (("noise",), _noise, (1.0,)),
    "ids exchanged": (("identity",), _swap, (0.5, 1.0)),
    "frozen": (("frozen",), _frozen, (0.5, 1.0)),
    "one axis' sign": (("velocity",), _one_sign, (1.0,)),
    "local frame": (("velocity",), _local, (1.0,)),
    "turned": (("velocity",), _turned, (1.0,)),
    "alternating 8 ms": (("send-rate",), _alternating, (2.0,)),
    "pairs 40 %": (("send-rate",), _pairs, (1.0,)),
    "arrive in pairs": (("bursts",), _arrive_in_pairs, (1.0, 2.0)),
    "drift 50 ppm": (("clock-drift",), _drift, (1.0, 4.0)),
    "bursts of loss 2 %": (("loss",), _burst_loss, (1.0, 2.0)),
    "loss 8 %": (("loss",), _loss, (1.0,)),
    "route 60 ms": (("route-change",), _route, (0.5, 1.0)),
    "stalls": (("frame-stall",), _stall, (1.0,)),
    "batches": (("bursts",), _batches, (1.0,)),
    "teleport": (("teleport",), _teleport, (0.5, 1.0)),
    "reordering": (("reordering",), _reordering, (1.0,)),
}


def _told(columns: dict[str, Any]) -> list[str]:
    found = []
    for finding in diagnose(packets(columns)).findings:
        below = "".join(f" <{other.cause}" for other in finding.consequences)
        found.append(finding.cause + below)
    return found


def of_clean(case: tuple[int, float, float, float]) -> tuple[str, list[str]]:
    """Diagnose a healthy recording of this seed, packets a second, frames, jitter (s)."""
    scene = scene_of(*case)
    return f"{scene.movement} {scene.shape} {scene.digits}", _told(clean(scene))


def of_fault(case: tuple[str, float, int]) -> tuple[str, list[str]]:
    """Diagnose a recording with this fault, at this strength, of this seed."""
    name, strength, seed = case
    random = np.random.default_rng([seed, 7])
    frames = float(random.choice([0, 60, 144]))
    scene = scene_of(seed + 5000, float(random.choice(RATES)), frames, random.uniform(0.0, 0.01))
    columns = clean(scene)
    FAULTS[name][1](scene, columns, strength)
    return f"{scene.movement} {scene.rate:g} {scene.frames:g} {scene.shape}", _told(columns)


def main(seeds: int, faults: int, only: str) -> int:
    """Print alarms in healthy recordings, then results for faults; return 1 after an alarm."""
    alarms = 0
    with Pool(2) as pool:
        for frames in (*FRAMES, 0) if seeds else ():
            scenes = [
                (seed, rate, frames, JITTERS[seed % len(JITTERS)])
                for seed, rate in itertools.product(range(seeds), RATES)
            ]
            told = pool.map(of_clean, scenes, chunksize=4)
            bad = [(case, *one) for case, one in zip(scenes, told, strict=True) if one[1]]
            alarms += len(bad)
            count = Counter(cell for row in bad for cell in row[2])
            print(
                f"{frames:3} Hz: {len(bad)} of {len(scenes)} with an alarm", dict(count), flush=True
            )
            for row in bad if only == "all" else ():
                print("  ", *row)
        for name, (wanted, _, strengths) in FAULTS.items():
            if only not in ("all", "") and only not in name:
                continue
            for strength in strengths:
                cases = [(name, strength, seed) for seed in range(faults)]
                found = pool.map(of_fault, cases)
                every = [" <".join(causes).split(" <") for _, causes in found]
                hit = sum(any(cause in row for cause in wanted) for row in every)
                first = [cause.split(" <")[0] for _, causes in found for cause in causes]
                beside = Counter(word for word in first if word not in wanted)
                print(f"{name} x{strength:g}: {hit} of {faults};", dict(beside), flush=True)
                for finding in found if only in name and only else ():
                    print("  ", *finding)
    return min(alarms, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=25, help="of each rate and frame rate")
    parser.add_argument("--faults", type=int, default=15, help="recordings of each fault")
    parser.add_argument("--only", default="", help="one fault, in detail; all: alarms in detail")
    given = parser.parse_args()
    raise SystemExit(main(given.seeds, given.faults, given.only))
