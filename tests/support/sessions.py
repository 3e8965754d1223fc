"""Sessions of senders over networks, made from descriptions alone, without ``epic_cli``.

A session is the packets of each entity as rows of ten: time, x, y, z, vx, vy, vz, arrival, sequence
number, teleport; in the order in which they were sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Random = np.random.Generator

#: Steps a second in which paths are computed.
FINE = 480


class Path(NamedTuple):
    """An entity's positions (n, 3) and velocities, at multiples of 1 / ``FINE`` seconds."""

    places: Floats
    velocities: Floats

    def at(self, times: Floats) -> tuple[Floats, Floats]:
        """Return positions and velocities at these times (s)."""
        grid = np.arange(len(self.places)) / FINE
        columns = (*self.places.T, *self.velocities.T)
        found = np.stack([np.interp(times, grid, column) for column in columns], axis=1)
        return found[:, :3], found[:, 3:]


def _path(ways: Floats, speeds: Floats) -> Path:
    velocities = np.zeros((len(ways), 3))
    velocities[:, 0], velocities[:, 1] = speeds * np.cos(ways), speeds * np.sin(ways)
    middles = (velocities[1:] + velocities[:-1]) / 2 / FINE
    places = np.concatenate((np.zeros((1, 3)), np.cumsum(middles, axis=0)))
    return Path(places + 3.7, velocities)


def wander(random: Random, seconds: float) -> Path:
    """Return a car or a boat that turns and changes its speed smoothly, and never stops."""
    times = np.arange(int((seconds + 2) * FINE)) / FINE
    turn, pace = (sum_of_waves(random, times, 4, slowest) for slowest in (9.0, 12.0))
    return _path(2.5 * turn + 0.2 * times, random.uniform(3, 8) * (1 + 0.5 * np.tanh(pace)))


def walk(random: Random, seconds: float) -> Path:
    """Return a player with four keys who turns or stops every second or so, within 0.1 s."""
    count = int((seconds + 2) * FINE)
    wanted = np.zeros((count, 2))
    begin, speed = 0, random.uniform(4, 7)
    while begin < count:
        end = begin + int(random.uniform(0.5, 2.2) * FINE)
        angle = random.integers(8) * np.pi / 4
        rests = random.random() < 0.25
        wanted[begin:end] = 0.0 if rests else speed * np.array([np.cos(angle), np.sin(angle)])
        begin = end
    kernel = np.ones(FINE // 10) / (FINE // 10)
    velocities = np.zeros((count, 3))
    for axis in range(2):
        padded = np.concatenate((np.full(len(kernel) - 1, wanted[0, axis]), wanted[:, axis]))
        velocities[:, axis] = np.convolve(padded, kernel, "valid")
    velocities[np.abs(velocities) < 1e-9] = 0.0
    middles = (velocities[1:] + velocities[:-1]) / 2 / FINE
    return Path(np.concatenate((np.zeros((1, 3)), np.cumsum(middles, axis=0))), velocities)


def orbit(random: Random, seconds: float) -> Path:
    """Return a circle at an even speed."""
    times = np.arange(int((seconds + 2) * FINE)) / FINE
    rate = random.uniform(0.5, 1.5) * random.choice([-1, 1])
    return _path(random.uniform(0, 6) + rate * times, np.full(len(times), random.uniform(3, 8)))


def drive(random: Random, seconds: float) -> Path:
    """Return a vehicle that speeds up from a halt and brakes to one, on long bends."""
    times = np.arange(int((seconds + 2) * FINE)) / FINE
    pace = np.clip(0.5 - 0.75 * np.cos(2 * np.pi * times / random.uniform(7, 11)), 0, 1)
    turn = sum_of_waves(random, times, 3, 14.0)
    return _path(1.8 * turn + 0.1 * times, random.uniform(6, 14) * pace)


MOVEMENTS: dict[str, Callable[[Random, float], Path]] = {
    "wander": wander, "walk": walk, "orbit": orbit, "drive": drive,
}  # fmt: skip


def sum_of_waves(random: Random, times: Floats, count: int, slowest: float) -> Floats:
    """Return a smooth random function of some waves, about 1 in size."""
    periods = slowest / random.uniform(1, 4, count)
    begins = random.uniform(0, 2 * np.pi, count)
    waves = np.sin(2 * np.pi * times[:, None] / periods + begins)
    return np.asarray(waves.sum(axis=1) / np.sqrt(count))


class Sent(NamedTuple):
    """A sent state: its time (s), its stamp, and the time on the entity's path that it shows."""

    leaves: Floats
    stamps: Floats
    shows: Floats


# ------------------------------------------------------------------------------------- networks


def _base(random: Random, leaves: Floats, jitter: float) -> Floats:
    """Return delays of UDP on an idle line: some jitter above a base, hardly any overtaking."""
    return random.uniform(0.02, 0.08) + random.gamma(2.0, jitter / 2, len(leaves))


def clean(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a steady line with a jitter far below a period."""
    arrivals = leaves + _base(random, leaves, min(0.003, 0.05 * period))
    return arrivals, np.ones(len(leaves), bool)


def jittery(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a wireless line: jitter of up to a third of a period, and occasional losses."""
    arrivals = leaves + _base(random, leaves, random.uniform(0.08, 0.22) * period)
    return arrivals, random.random(len(leaves)) >= 0.005


def lossy(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Lose packets one by one."""
    arrivals, _ = clean(random, leaves, period)
    return arrivals, random.random(len(leaves)) >= random.uniform(0.07, 0.16)


def bursty(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Lose packets in runs of four on average."""
    arrivals, there = clean(random, leaves, period)
    bad = False
    for index in range(len(leaves)):
        bad = random.random() < (0.75 if bad else 0.025)
        there[index] = not bad
    return arrivals, there


def in_order(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Deliver as TCP: packets after a lost one wait until it has been sent again."""
    arrivals, there = clean(random, leaves, period)
    again = max(0.2, 6 * period)
    for index in np.flatnonzero(random.random(len(leaves)) < 0.25 * period):
        arrivals[index] += again * random.uniform(1.0, 1.6)
    return np.maximum.accumulate(arrivals), there


def full_queue(random: Random, leaves: Floats, period: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Fill the router's buffer by a download for some seconds, now and then."""
    arrivals, there = clean(random, leaves, period)
    for middle in random.uniform(leaves[0], leaves[-1], max(2, int(leaves[-1] / 15))):
        half = random.uniform(1.5, 4)
        arrivals += random.uniform(0.1, 0.25) * np.maximum(0, 1 - np.abs(leaves - middle) / half)
    return arrivals, there


NETWORKS = {
    "clean": clean, "jitter": jittery, "loss": lossy, "bursts": bursty,
    "head of line": in_order, "queue": full_queue,
}  # fmt: skip

#: What a network of its own is to be found as; none: silence.
FOUND_AS = {"clean": "", "jitter": "", "loss": "loss", "bursts": "loss",
            "head of line": "head-of-line", "queue": "queue"}  # fmt: skip


# -------------------------------------------------------------------------------------- senders


class Session(NamedTuple):
    """The packets of each entity, their sender and network, and the correct causes.

    None: no finding.
    """

    name: str
    tables: dict[str, Floats]
    causes: tuple[str, ...]


class Case(NamedTuple):
    """The inputs of a sender: random generator, paths by entity, packets a second, seconds."""

    random: Random
    paths: dict[str, Path]
    rate: float
    seconds: float
    speeds: bool  # whether velocities are sent

    @property
    def ticks(self) -> Floats:
        """The ticks (s) of a sender that never stops."""
        return np.arange(int(self.seconds * self.rate)) / self.rate


def _rows(case: Case, path: Path, sent: Sent) -> Floats:
    places, velocities = path.at(sent.shows)
    rows = np.zeros((10, len(sent.leaves)))
    rows[0], rows[1:4], rows[4:7] = sent.stamps, places.T, velocities.T
    if not case.speeds:
        rows[4:7] = np.nan
    rows[7], rows[8] = sent.leaves, np.arange(len(sent.leaves))
    return rows


Tables = dict[str, Floats]


def _fixed(case: Case) -> Tables:
    ticks = case.ticks
    return {name: _rows(case, path, Sent(ticks, ticks, ticks)) for name, path in case.paths.items()}


def _slower(case: Case, ratio: float, own: bool) -> Tables:
    """Simulate at this share of the packets' rate; velocities are those of its ``own`` steps."""
    ticks, tables = case.ticks, {}
    old = np.floor(ticks * case.rate * ratio + 1e-6) / (case.rate * ratio)
    for name, path in case.paths.items():
        tables[name] = _rows(case, path, Sent(ticks, ticks, old))
        if not own:
            tables[name][4:7] = _rows(case, path, Sent(ticks, ticks, ticks))[4:7]
    return tables


def _half(case: Case) -> Tables:
    return _slower(case, 0.5, bool(case.random.random() < 0.5))


def _two_thirds(case: Case) -> Tables:
    share = float(case.random.choice([2 / 3, 1 / 3, 0.75, 0.6]))
    return _slower(case, share, bool(case.random.random() < 0.5))


def send_by_threshold(case: Case, beyond: Callable[[Floats, Floats, Floats], float], size: float,
                  heartbeat: float) -> Tables:  # fmt: skip
    """Send at 60 frames a second the states beyond a threshold, and one at each heartbeat (s)."""
    frames = np.arange(int(case.seconds * 60)) / 60
    tables = {}
    for name, path in case.paths.items():
        places, velocities = path.at(frames)
        kept = [0]
        for at in range(1, len(frames)):
            last = kept[-1]
            far = beyond(places[at] - places[last], velocities[at], velocities[last])
            if far > size or frames[at] - frames[last] >= heartbeat:
                kept.append(at)
        times = frames[kept]
        tables[name] = _rows(case, path, Sent(times, times, times))
    return tables


def _usual_speed(case: Case) -> float:
    speeds = [np.linalg.norm(path.velocities, axis=1) for path in case.paths.values()]
    pace = np.concatenate(speeds)
    return float(np.median(pace[pace > 0.1]))


def _threshold(case: Case) -> Tables:
    size = _usual_speed(case) * float(case.random.uniform(0.05, 0.25))
    beat = float(case.random.choice([1.0, 2.0, np.inf]))
    return send_by_threshold(case, lambda way, _now, _last: float(np.linalg.norm(way)), size, beat)


def _axis_threshold(case: Case) -> Tables:
    size = _usual_speed(case) * float(case.random.uniform(0.05, 0.25))
    return send_by_threshold(case, lambda way, _now, _last: float(np.abs(way).max()), size, np.inf)


def _angle(now: Floats, last: Floats) -> float:
    sizes = float(np.linalg.norm(now) * np.linalg.norm(last))
    return float(np.arccos(np.clip(now @ last / sizes, -1, 1))) if sizes > 1e-6 else 0.0


def _direction(case: Case) -> Tables:
    size = np.radians(float(case.random.uniform(5, 12)))
    return send_by_threshold(case, lambda _way, now, last: _angle(now, last), size, 1.0)


def _on_change(case: Case) -> Tables:
    ticks, tables = case.ticks, {}
    for name, path in case.paths.items():
        places, _ = path.at(ticks)
        moved = np.abs(np.diff(places, axis=0, prepend=places[:1] - 1)).max(axis=1) > 0
        kept = ticks[moved | np.append(False, moved[:-1])]  # that it has stopped is sent once
        tables[name] = _rows(case, path, Sent(kept, kept, kept))
    return tables


def _on_change_by_ticks(case: Case) -> Tables:
    """Send by a threshold, with the number of the tick in each packet."""
    tables = _on_change(case)
    for rows in tables.values():
        rows[8] = np.round(rows[0] * case.rate)
    return tables


def _pauses(case: Case, shortest: float, longest: float) -> list[tuple[float, float]]:
    count = max(3, int(case.seconds / 12))
    begins = np.linspace(2, case.seconds - 4, count) + case.random.uniform(-0.8, 0.8, count)
    return [(float(one), float(case.random.uniform(shortest, longest))) for one in begins]


def _stalled(case: Case) -> Tables:
    """Stop the whole server now and then; the world stops as well."""
    ticks = case.ticks
    leaves = ticks.copy()
    for begin, lasts in _pauses(case, max(0.25, 5 / case.rate), max(0.6, 10 / case.rate)):
        leaves[leaves > begin] += lasts
    return {name: _rows(case, path, Sent(leaves, leaves, ticks))
            for name, path in case.paths.items()}  # fmt: skip


def _skipped(case: Case) -> Tables:
    """Stop the server now and then; the next state is where it would have been without the stop."""
    ticks = case.ticks
    gone = np.zeros(len(ticks), bool)
    for begin, lasts in _pauses(case, max(0.25, 5 / case.rate), max(0.6, 10 / case.rate)):
        gone |= (ticks > begin) & (ticks < begin + lasts)
    ticks = ticks[~gone]
    return {name: _rows(case, path, Sent(ticks, ticks, ticks)) for name, path in case.paths.items()}


def _late(case: Case) -> Tables:
    """Delay the sender now and then; it sends all missed ticks at once afterwards."""
    ticks = case.ticks
    leaves = ticks.copy()
    for begin, lasts in _pauses(case, max(0.25, 6 / case.rate), max(0.5, 9 / case.rate)):
        owed = (leaves > begin) & (leaves < begin + lasts)
        leaves[owed] = begin + lasts + 0.0003 * np.arange(int(owed.sum()))
    return {name: _rows(case, path, Sent(leaves, ticks, ticks))
            for name, path in case.paths.items()}  # fmt: skip


def _stale(case: Case) -> Tables:
    """Stop the server now and then; the missed ticks are sent with its current state."""
    ticks = case.ticks
    leaves, shows = ticks.copy(), ticks.copy()
    for begin, lasts in _pauses(case, max(0.3, 7 / case.rate), max(0.6, 10 / case.rate)):
        owed = (ticks > begin) & (ticks < begin + lasts)
        leaves[owed] = begin + lasts + 0.0003 * np.arange(int(owed.sum()))
        shows[owed] = ticks[max(int(np.flatnonzero(owed)[0]) - 1, 0)]
    return _of_stamps(case, leaves, shows)


def _standing(case: Case) -> Tables:
    """Stop the simulation now and then while its sender goes on."""
    ticks = case.ticks
    shows = ticks.copy()
    for begin, lasts in _pauses(case, max(0.3, 7 / case.rate), max(0.6, 10 / case.rate)):
        owed = (ticks > begin) & (ticks < begin + lasts)
        shows[owed] = ticks[max(int(np.flatnonzero(owed)[0]) - 1, 0)]
    return _of_stamps(case, ticks, shows)


def _of_stamps(case: Case, leaves: Floats, shows: Floats) -> Tables:
    """Return states of these times with the stamps of regular ticks, and the velocities of the
    ticks.
    """
    tables = {}
    for name, path in case.paths.items():
        tables[name] = _rows(case, path, Sent(leaves, case.ticks, shows))
    return tables


def _holes(case: Case) -> Tables:
    """Switch the recorder off for some seconds; rows are numbered when they are written."""
    tables = _fixed(case)
    times = case.ticks
    gone = np.zeros(len(times), bool)
    for begin, lasts in _pauses(case, 2.5, 3.5)[: max(2, int(case.seconds / 25))]:
        gone |= (times > begin) & (times < begin + lasts)
    for name in tables:
        tables[name] = tables[name][:, ~gone]
        tables[name][8] = np.arange(tables[name].shape[1])
    return tables


def _two(case: Case) -> Tables:
    """Use one id for two senders, at the same ticks or between them."""
    name, first = next(iter(_fixed(case).items()))
    other = _path_of_another(case)
    ticks = case.ticks + float(case.random.choice([0.0, case.random.uniform(0.2, 0.8)])) / case.rate
    second = _rows(case, other, Sent(ticks, ticks, ticks))
    both = np.concatenate((first, second), axis=1)
    return {name: both[:, np.argsort(both[7], kind="stable")], **_others(_fixed(case))}


def _others(tables: Tables) -> Tables:
    return dict(list(tables.items())[1:])


def _path_of_another(case: Case) -> Path:
    found = wander(case.random, case.seconds)
    return found._replace(places=found.places + np.array([25.0, -12.0, 0.0]))


def _wrapped(case: Case) -> Tables:
    """Write stamps as milliseconds in 16 bits."""
    tables = _fixed(case)
    for rows in tables.values():
        rows[0] = np.round((rows[0] + 60.0) * 1000) % 65536 / 1000
    return tables


def _drifting(case: Case) -> Tables:
    """Let the sender's clock drift by some 30 to 50 ms in all."""
    tables = _fixed(case)
    share = float(case.random.uniform(0.03, 0.05) / case.seconds * case.random.choice([-1, 1]))
    for rows in tables.values():
        rows[0] *= 1 + share
    return tables


def _noisy(case: Case) -> Tables:
    """Add noise of a share of a step to positions; velocities stay right."""
    tables = _fixed(case)
    size = float(case.random.choice([0.05, 0.1, 0.2, 0.4])) * _usual_speed(case) / case.rate
    for rows in tables.values():
        rows[1:3] += case.random.normal(0, size, (2, rows.shape[1]))
    return tables


class Sender(NamedTuple):
    """A maker of packets, and the causes of which one should be named first (none: no finding)."""

    make: Callable[[Case], Tables]
    causes: tuple[str, ...]
    movements: tuple[str, ...] = ("wander", "walk", "orbit", "drive")
    longest: bool = False
    speeds: bool | None = None
    moving: bool = True


SENDERS = {
    "fixed": Sender(_fixed, ()),
    "half rate": Sender(_half, ("repeats",)),
    "two thirds": Sender(_two_thirds, ("repeats",)),
    "threshold": Sender(_threshold, ("threshold",), ("wander", "drive", "walk")),
    "axis threshold": Sender(_axis_threshold, ("threshold",), ("wander", "drive", "walk")),
    "direction threshold": Sender(_direction, ("threshold",), ("wander", "drive"), speeds=True),
    "on change": Sender(_on_change, ("on-change",), ("walk", "drive")),
    "on change, ticks": Sender(_on_change_by_ticks, ("on-change",), ("walk", "drive")),
    "stalls": Sender(_stalled, ("server-stall",)),
    "stalls, world goes on": Sender(_skipped, ("server-stall",)),
    "late, catches up": Sender(_late, ("late-sender",)),
    "late, with the old state": Sender(_stale, ("late-sender",), speeds=True),
    "simulation stands": Sender(_standing, ("frozen",), ("wander", "orbit"), speeds=True),
    "holes": Sender(_holes, ("gap",)),
    "two under one id": Sender(_two, ("two-senders",)),
    "wrapped stamps": Sender(_wrapped, ("clock-step",), longest=True),
    "drift": Sender(_drifting, ("clock-drift",), longest=True),
    "noise": Sender(_noisy, ("noise",), speeds=True),
}


def session(sender: str, network: str, seed: int) -> Session:
    """Return a session over a network; the seed chooses rate, movement, entities and length."""
    random = np.random.default_rng([seed, *sender.encode(), *network.encode()])
    how = SENDERS[sender]
    seconds = float(random.choice([90.0, 120.0] if how.longest else [20.0, 30.0, 45.0, 60.0]))
    rate = float(random.choice([10, 15, 20, 30, 60]))
    movement = str(random.choice(how.movements))
    count = int(random.choice([1, 1, 2, 4, 8]))
    # a threshold's packets differ by entity: no message has all of them
    paths = {f"e{one}" if count > 1 else "": MOVEMENTS[movement](random, seconds)
             for one in range(count)}  # fmt: skip
    speeds = bool(random.random() < 0.6) if how.speeds is None else how.speeds
    case = Case(random, paths, rate, seconds, speeds)
    tables = how.make(case)
    leaves = np.unique(np.concatenate([rows[7] for rows in tables.values()]))
    arrivals, there = NETWORKS[network](random, leaves, float(np.median(np.diff(leaves))))
    for name, rows in tables.items():
        places = np.searchsorted(leaves, rows[7])
        rows[7] = arrivals[places]
        tables[name] = rows[:, there[places]]
    causes = how.causes or tuple(filter(None, (FOUND_AS[network],)))
    words = f"{sender} | {network} | {seed}: {movement} x{count} {rate:g} Hz {seconds:g} s"
    return Session(words + (" with velocities" if speeds else ""), tables, causes)
