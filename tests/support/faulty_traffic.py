"""Recordings with one fault each, put into clean recordings that ``simulate`` has made.

A recording is its ``packet_table``, in the order of sending.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli.metrics import traffic
from epic_cli.metrics.arrays import ARRIVAL, POSITION, SEQUENCE, TIME, VELOCITY
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate
from support import faulty_turning

if TYPE_CHECKING:
    Random = np.random.Generator

Columns = NDArray[np.float64]

MOVEMENTS = ("circle", "strafe", "figure-eight")

LINKS = {
    "perfect": LinkConditions(latency=0.03),
    "lan": LinkConditions(latency=0.005, jitter=0.001),
    "wifi": LinkConditions(latency=0.02, jitter=0.01, distribution="gamma", loss=0.01),
    "lte": LinkConditions(
        latency=0.05, jitter=0.015, distribution="normal", correlation=0.3, loss=0.005
    ),
    "3g": LinkConditions(latency=0.12, jitter=0.04, distribution="gamma", loss=0.02),
    "satellite": LinkConditions(latency=0.6, jitter=0.02, loss=0.01),
}


def make_table_traffic(tables: dict[str, Columns]) -> traffic.Traffic:
    """Return the traffic of tables by entity; the tables are copied."""
    return traffic.make_table_traffic({name: rows.copy() for name, rows in tables.items()})


def clean(movement: str, link: LinkConditions, rate: float, seed: int, duration: float) -> Columns:
    """Return a recording without faults."""
    path = PathMovement(PATHS[movement](5.0, 5.0, seed))
    packets = simulate(path, send_rate=rate, duration=duration, channel=Link(link, seed=seed))
    rows = [
        (
            packet.time,
            *packet.position,
            *(packet.velocity or ()),
            packet.arrival,
            packet.sequence,
            packet.teleport,
        )
        for packet in packets
    ]
    columns = np.array(rows, float).T
    return columns[:, np.argsort(columns[TIME], kind="stable")]


#: Those that faults are put into.
USUAL = ("perfect", "lan", "wifi", "lte")


class Case(NamedTuple):
    """A clean recording with its period (s), a random generator, and the strength of the fault."""

    rows: Columns
    period: float
    random: Random
    strength: float


class Fault(NamedTuple):
    """The expected cause, and a function that puts it into a recording, in place or as a copy."""

    cause: str
    make: Callable[[Case], Columns | None]


def _drift(case: Case) -> None:
    rows = case.rows
    rows[TIME] *= 1 + case.random.choice([-1, 1]) * 800e-6 * case.strength


def _clock_step(case: Case) -> None:
    rows = case.rows
    moved = rows[TIME] > rows[TIME, -1] * case.random.uniform(0.3, 0.7)
    rows[TIME, moved] += case.random.choice([-1, 1]) * 0.25 * case.strength


def _stamps(case: Case) -> None:
    rows = case.rows
    rows[TIME] += case.random.uniform(0, 0.3 * case.strength * case.period, rows.shape[1])


def _fixed_step(case: Case) -> None:
    rows = case.rows
    step = 1 / 64
    late = rows[TIME] - np.floor(rows[TIME] / step + 1e-9) * step
    rows[POSITION] -= rows[VELOCITY] * late


def _rounded(case: Case) -> None:
    step = case.random.uniform(0.45, 0.95) * case.period * max(case.strength, 0.5)
    case.rows[TIME] = np.floor(case.rows[TIME] / step) * step


def _uneven_ticks(case: Case) -> None:
    rows = case.rows
    delays = rows[ARRIVAL] - rows[TIME]
    lasted = np.resize(np.array([2, 2, 1]), rows.shape[1]) * 0.6 * case.period
    rows[TIME] = np.cumsum(lasted) - lasted
    rows[ARRIVAL] = rows[TIME] + delays


def _irregular(case: Case) -> Columns:
    rows = case.rows
    kept = np.cumsum(1 + (case.random.random(rows.shape[1]) < 0.35 * case.strength))
    rows = rows[:, kept[kept < rows.shape[1]]]
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _stall(case: Case) -> Columns:
    rows = case.rows
    gone = np.zeros(rows.shape[1], bool)
    for begin in case.random.choice(np.arange(20, rows.shape[1] - 40), 6, replace=False):
        gone[begin : begin + max(2, round(6 * case.strength))] = True
    rows = rows[:, ~gone]
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _loss(case: Case) -> Columns:
    rows = case.rows
    return rows[:, case.random.random(rows.shape[1]) >= 0.1 * case.strength]


def _bursty_loss(case: Case) -> Columns:
    rows = case.rows
    lost, bad = np.zeros(rows.shape[1], bool), False
    for index in range(rows.shape[1]):
        bad = case.random.random() < (0.8 if bad else 0.015 * case.strength)
        lost[index] = bad
    return rows[:, ~lost]


def _queue(case: Case) -> None:
    rows = case.rows
    for place in case.random.uniform(0.1, 0.9, 3):
        middle, half = rows[TIME, -1] * place, case.random.uniform(2, 5)
        hill = np.maximum(0, 1 - np.abs(rows[TIME] - middle) / half)
        rows[ARRIVAL] += 0.15 * case.strength * hill


def _route(case: Case) -> None:
    rows = case.rows
    later = rows[TIME] > rows[TIME, -1] * case.random.uniform(0.3, 0.7)
    rows[ARRIVAL, later] += 0.08 * case.strength


def _reordering(case: Case) -> None:
    rows = case.rows
    held = np.flatnonzero(case.random.random(rows.shape[1]) < 0.15 * case.strength)
    rows[ARRIVAL, held] += case.random.uniform(1.5, 3, len(held)) * case.period


def wait_until(rows: Columns, begin: int, until: float) -> None:
    """Let the packets from ``begin`` on that arrive before ``until`` (s) arrive then."""
    waiting = (np.arange(rows.shape[1]) >= begin) & (rows[ARRIVAL] < until)
    rows[ARRIVAL, waiting] = until


def _head_of_line(case: Case) -> None:
    rows = case.rows
    for begin in case.random.choice(
        np.arange(10, rows.shape[1] - 20), round(10 * case.strength) + 1
    ):
        waits = max(0.2, 6 * case.period) * case.random.uniform(1, 1.5)
        wait_until(rows, int(begin), rows[ARRIVAL, begin] + waits)


def _late_sender(case: Case) -> None:
    rows = case.rows
    # each packet has jitter of its own, on the stillest line too
    rows[ARRIVAL] += case.random.exponential(0.05 * case.period, rows.shape[1])
    for begin in np.linspace(20, rows.shape[1] - 60, round(4 * case.strength) + 2).astype(int):
        leaves = rows[TIME, begin] + max(0.25, 7 * case.period) * case.random.uniform(1, 1.4)
        owed = (rows[TIME] >= rows[TIME, begin]) & (rows[TIME] < leaves)
        rows[ARRIVAL, owed] += leaves - rows[TIME, owed]


def _bursts(case: Case) -> None:
    rows = case.rows
    every = 4 * case.period * max(case.strength, 0.75)
    rows[ARRIVAL] = np.ceil(rows[ARRIVAL] / every) * every + case.random.uniform(0, 0.002)


def _frame_stall(case: Case) -> None:
    rows = case.rows
    frames = np.ceil(rows[ARRIVAL] * 60)
    for _ in range(round(8 * case.strength) + 1):
        begin = case.random.uniform(0, frames.max())
        length = max(15, round(60 * 6 * case.period))
        frames[(frames > begin) & (frames < begin + length)] = np.ceil(begin + length)
    rows[ARRIVAL] = frames / 60


def _leap(rows: Columns, random: Random, strength: float, over: int) -> None:
    usual = float(np.median(np.linalg.norm(np.diff(rows[POSITION], axis=1), axis=0)))
    for begin in random.choice(np.arange(10, rows.shape[1] - 10), 5, replace=False):
        angle = random.uniform(0, 2 * np.pi)
        way = np.array([[np.cos(angle)], [np.sin(angle)], [0.0]])
        ramp = np.clip((np.arange(rows.shape[1]) - begin) / over, 0, 1)
        rows[POSITION] += way * ramp * usual * 15 * strength * over


def _teleport(case: Case) -> None:
    rows = case.rows
    _leap(rows, case.random, case.strength, 1)


def _smeared(case: Case) -> None:
    rows = case.rows
    _leap(rows, case.random, case.strength, 4)


def _velocity_scale(case: Case) -> None:
    rows = case.rows
    rows[VELOCITY] *= 1 + 0.6 * case.strength


def _velocity_axes(case: Case) -> None:
    rows = case.rows
    rows[VELOCITY] = rows[[5, 4, 6]]


def _velocity_late(case: Case) -> None:
    rows = case.rows
    rows[VELOCITY] = np.roll(rows[VELOCITY], max(1, round(3 * case.strength)), axis=1)


def _coarse(case: Case) -> None:
    rows = case.rows
    usual = float(np.median(np.linalg.norm(np.diff(rows[POSITION], axis=1), axis=0)))
    step = float(f"{0.4 * case.strength * usual:.2g}")
    rows[POSITION] = np.round(np.round(rows[POSITION] / step) * step, 6)


def _halves(case: Case) -> None:
    rows = case.rows
    rows[POSITION] += 900.0
    rows[POSITION] = rows[POSITION].astype(np.float16)


def _noise(case: Case) -> None:
    rows = case.rows
    usual = float(np.median(np.linalg.norm(np.diff(rows[POSITION], axis=1), axis=0)))
    rows[POSITION] += case.random.normal(0, 0.08 * case.strength * usual, (3, rows.shape[1]))


def _frozen(case: Case) -> None:
    rows = case.rows
    for begin in case.random.choice(np.arange(10, rows.shape[1] - 40), 4, replace=False):
        end = begin + max(4, round(8 * case.strength))
        rows[POSITION, begin:end] = rows[POSITION, begin : begin + 1]


def _copies(case: Case) -> Columns:
    rows = case.rows
    again = rows[:, case.random.random(rows.shape[1]) < 0.08 * case.strength].copy()
    again[ARRIVAL] += 0.01
    return np.concatenate((rows, again), axis=1)


def _on_change(case: Case) -> Columns:
    rows = case.rows
    # rests are put in: what comes after them is moved back to where it rested
    count = rows.shape[1]
    moved = np.diff(rows[POSITION], axis=1, prepend=rows[POSITION, :1])
    rests = np.zeros(count, bool)
    for begin in case.random.choice(np.arange(10, count - 40), 6, replace=False):
        rests[begin : begin + max(5, round(20 * case.strength))] = True
    moved[:, rests] = 0
    rows[POSITION] = rows[POSITION, :1] + np.cumsum(moved, axis=1)
    rows[VELOCITY, rests] = 0
    rows = rows[:, ~(rests & np.roll(rests, 1))]  # that it has come to rest is sent
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _threshold(case: Case) -> Columns:
    # now fast, now slow on the same way; sent is what has moved far enough since it was last sent
    rows = case.rows
    times = rows[0].copy()
    since = times - times[0]
    slower = times[0] + 0.6 * since + 0.35 * np.sin(1.2 * since)
    pace = 0.6 + 0.42 * np.cos(1.2 * since)
    for place in (*range(*POSITION.indices(12)), *range(*VELOCITY.indices(12))):
        rows[place] = np.interp(slower, times, rows[place])
    rows[VELOCITY] *= pace
    size = 3 * case.strength * float(np.median(np.linalg.norm(np.diff(rows[POSITION]), axis=0)))
    kept = [0]
    for at in range(1, rows.shape[1]):
        if np.linalg.norm(rows[POSITION, at] - rows[POSITION, kept[-1]]) > size:
            kept.append(at)
    rows = rows[:, kept]
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _lost(case: Case, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which packets arrive despite other losses, and which begin a chain."""
    there = case.random.random(case.rows.shape[1]) >= share * case.strength
    begins = np.asarray(case.rows[SEQUENCE] % round(1 / case.period) == 0)
    return np.asarray(there), begins


def _chains(case: Case) -> Columns:
    rows = case.rows
    kept, full = _lost(case, 0.04)
    before = -1.0
    for at, number in enumerate(rows[SEQUENCE]):
        kept[at] &= full[at] or number == before + 1
        before = number if kept[at] else before
    return rows[:, kept]


def _added_changes(case: Case) -> Columns:
    rows = case.rows
    kept, full = _lost(case, 0.03)
    changes = np.diff(rows[POSITION], axis=1, prepend=0)
    changes[:, 1:] /= np.diff(rows[SEQUENCE])  # those of the last packet alone
    kept[0] = True
    for at in np.flatnonzero(kept & ~full)[1:]:
        before = at - 1 - int(kept[at - 1 :: -1].argmax())
        rows[POSITION, at] = rows[POSITION, before] + changes[:, at]
    return rows[:, kept]


def _repeats(case: Case) -> None:
    # the simulation runs at half the packets' rate, or nearer to it
    rows = case.rows
    step = case.period * (1 + case.strength)
    old = np.floor(rows[TIME] / step + 1e-3) * step  # stamps are rounded
    times = rows[TIME].copy()
    for place in range(*POSITION.indices(12)):
        rows[place] = np.interp(old, times, rows[place])


def _second_message(case: Case) -> Columns:
    # half as often as the first, with a state that is one or two packets old
    rows = case.rows
    later, old = rows[:, 2::2].copy(), int(case.random.integers(2))
    for place in range(*POSITION.indices(12)):
        later[place] = rows[place, 2 - old : rows.shape[1] - old : 2]
    later[[TIME, ARRIVAL]] += 0.6 * case.strength * case.period
    rows = np.concatenate((rows, later), axis=1)
    rows = rows[:, np.argsort(rows[TIME], kind="stable")]
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _holes(case: Case) -> Columns:
    rows = case.rows
    gone = np.zeros(rows.shape[1], bool)
    for share in (0.3, 0.7):
        begin = rows[TIME, -1] * (share + case.random.uniform(-0.1, 0.1))
        gone |= (rows[TIME] > begin) & (rows[TIME] < begin + 3 * case.strength)
    rows = rows[:, ~gone]
    rows[SEQUENCE] = np.arange(rows.shape[1])
    return rows


def _two_senders(case: Case) -> Columns:
    rows = case.rows
    other = rows.copy()
    other[1] = 60 * case.strength - rows[1]
    other[4] = -rows[4]
    late = float(case.random.choice([0.0, 0.4])) * case.period
    other[TIME] += late
    other[ARRIVAL] += late
    return np.concatenate((rows, other), axis=1)


def _second_joins(case: Case) -> Columns:
    both = _two_senders(case)
    first, other = np.hsplit(both, 2)
    joins = case.random.uniform(0.2, 0.5) * case.rows[TIME, -1]
    return np.concatenate((first, other[:, other[TIME] > joins]), axis=1)


FAULTS = {
    "two under one id": Fault("two-senders", _two_senders),
    "a second joins under one id": Fault("two-senders", _second_joins),
    "half the rate": Fault("repeats", _repeats),
    "second message": Fault("repeats", _second_message),
    "holes": Fault("gap", _holes),
    "drift": Fault("clock-drift", _drift),
    "clock step": Fault("clock-step", _clock_step),
    "stamps at sending": Fault("stamps", _stamps),
    "64 Hz steps": Fault("fixed-step", _fixed_step),
    "rounded stamps": Fault("coarse-stamps", _rounded),
    "uneven ticks": Fault("uneven-ticks", _uneven_ticks),
    "irregular sending": Fault("send-rate", _irregular),
    "stalled sender": Fault("server-stall", _stall),
    "loss": Fault("loss", _loss),
    "loss in bursts": Fault("loss", _bursty_loss),
    "queue": Fault("queue", _queue),
    "longer route": Fault("route-change", _route),
    "reordering": Fault("reordering", _reordering),
    "head of line": Fault("head-of-line", _head_of_line),
    "late sender": Fault("late-sender", _late_sender),
    "batches": Fault("bursts", _bursts),
    "stalled frames": Fault("frame-stall", _frame_stall),
    "teleport": Fault("teleport", _teleport),
    "smeared teleport": Fault("teleport", _smeared),
    "velocity scaled": Fault("velocity", _velocity_scale),
    "velocity's axes": Fault("velocity", _velocity_axes),
    "velocity late": Fault("velocity", _velocity_late),
    "coarse positions": Fault("quantization", _coarse),
    "half precision": Fault("quantization", _halves),
    "noisy positions": Fault("noise", _noise),
    "frozen positions": Fault("frozen", _frozen),
    "copies": Fault("duplicates", _copies),
    "sent on change": Fault("on-change", _on_change),
    "sent by a threshold": Fault("threshold", _threshold),
    "broken chains": Fault("delta-chain", _chains),
    "changes added to wrong states": Fault("delta-chain", _added_changes),
    "half turns": Fault("half-turns", faulty_turning.half_turns),
    "coarse angles": Fault("coarse-angles", faulty_turning.coarse_angles),
    "rotations late": Fault("late-turns", faulty_turning.late_turns),
    "wrong spins": Fault("spin", faulty_turning.wrong_spins),
}


def faulty(
    faults: str | tuple[str, ...], movement: str, seed: int, strength: float = 1.0
) -> Columns:
    """Return 40 s with a fault, over a network and at a rate that the seed chooses.

    Several are put in one after the other: those that number the packets anew have to be the first.
    """
    random = np.random.default_rng(seed)
    rate = float(random.choice([10, 20, 30, 60]))
    # where packets overtake each other all the time, one that does so on purpose is none the worse
    calm = [LINKS[name] for name in USUAL if LINKS[name].jitter < 0.3 / rate]
    link = calm[int(random.integers(len(calm)))]
    rows = clean(movement, link, rate, seed, 40.0)
    for fault in (faults,) if isinstance(faults, str) else faults:
        made = FAULTS[fault].make(Case(rows, 1 / rate, random, strength))
        rows = rows if made is None else made
    return rows
