"""States that are sent more than once: packets come faster than the simulation steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.cures import Cure, buffer_of, command_of
from epic_cli.jobs.diagnose.cures.packets import needed_delay, restamp
from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.arrays import median
from epic_cli.metrics.traffic import (
    FEWEST_STATES,
    Flags,
    Floats,
    Numbers,
    Stream,
    Traffic,
    changes,
    lattice,
)

#: A share of the packets of a moving entity: what repeats less is no slower simulation.
SHARE = 0.08

#: In packets: an entity that stands for longer than so many of its usual changes rests.
RESTS = 1.5

#: Changes of one simulation are so many packets apart, or one more or fewer: this share of them.
EVEN = 0.9

#: Over this many changes what is rounded to packets evens out: by no more than one packet.
BLOCK = 6

#: A share of the changes that come within a packet of a step of the simulation.
CLOSE = 0.95

#: In steps of the simulation: stamps are rounded.
TINY = 0.01

#: Rounded positions repeat where an entity is slow: a usual step of fewer lattice steps says
#: nothing.
FINE = 4.0


class Repeats(NamedTuple):
    """What repeats: the packets between changes on average, and which are ``again`` (n).

    A packet that repeats the one before while the entity moves is sent again.
    """

    between: float
    again: Flags


def repeats_of(stream: Stream) -> Repeats | None:
    """The packets that carry the state of the one before; None: no slower simulation shows."""
    near = stream.intervals < 1.5 * stream.period
    steps = stream.steps
    changed: Numbers = np.flatnonzero(steps > 0) + 1
    if len(changed) < FEWEST_STATES or not (steps == 0).any():
        return None
    # in packets, by stamps: some may be lost
    apart = np.round(np.diff(stream.times[changed]) / stream.period)
    usual = float(np.mean(apart[apart <= 2 * median(apart)]))
    moving = apart <= np.ceil(RESTS * usual)
    # where a packet is missing, a change may have come with it
    holes = np.append(0, np.cumsum(~near))
    whole_runs = moving & (holes[changed[1:]] == holes[changed[:-1] - 1])
    if whole_runs.sum() < FEWEST_STATES:
        return None
    between = float(apart[whole_runs].mean())
    whole = np.floor(between + 1e-9) + np.array([0.0, 1.0])
    if abs(between - round(between)) < 0.02:
        whole = np.array([round(between)], float)
    if 1 - 1 / between < SHARE or np.isin(apart[whole_runs], whole).mean() < EVEN:
        return None
    if not _keeps_time(apart, whole_runs, between) or _rounded(stream):
        return None
    again = np.zeros(len(stream.times), bool)
    for begin, end in zip(changed[:-1][moving], changed[1:][moving], strict=True):
        again[begin + 1 : end] = True
    return Repeats(between, again)


def _keeps_time(apart: Floats, counted: Flags, between: float) -> bool:
    """Whether some changes in a row take as many packets as that many steps of a simulation."""
    if len(apart) <= BLOCK:
        return False
    sums = np.convolve(apart, np.ones(BLOCK), "valid")
    steady = np.convolve(counted, np.ones(BLOCK), "valid") > BLOCK - 0.5
    off = np.abs(sums[steady] - BLOCK * between)
    return bool(len(off) and (off <= 1.01).mean() > EVEN)


def _rounded(stream: Stream) -> bool:
    """Whether positions are so coarse that a slow movement repeats them."""
    axis = stream.positions[:, np.argmax(np.ptp(stream.positions, axis=0))]
    return lattice(axis) * FINE > stream.usual_step


def detect(traffic: Traffic) -> list[Finding]:
    """Positions that change at a lower rate than packets come, evenly."""
    need = needed_delay(traffic)
    return worst((_of(stream.excerpt, need) for stream in traffic.streams), lambda one: one.share)


def _of(stream: Stream, need: float) -> Finding | None:
    """``need`` is the delay (s) that is enough for 95 % of the packets as they are."""
    found = repeats_of(stream)
    if found is None:
        return None
    share, times = 1 - 1 / found.between, Fraction(found.between).limit_denominator(6)
    kind = {2: "each state is sent twice", 3: "each state is sent three times"}.get(
        int(times) if times.denominator == 1 else 0,
        f"{times.numerator} packets carry {times.denominator} states",
    )
    first = int(np.flatnonzero(found.again)[0])
    step = float(times) * stream.period
    rate = 1 / step
    # rarer states need a longer delay, and stamps are up to a packet later than their steps
    later = step if times.denominator > 1 else step - stream.period
    drawing = buffer_of(need + later)
    command = f"--send {rate:.4g}hz {command_of(drawing)}"
    remedy = Cure(command, "step_error", drawing, _sent_once)
    values: dict[str, float | str] = {
        "kind": kind, "rate": 1 / stream.period, "changes": rate,
        "share": share, "step": step,
    }  # fmt: skip
    return Finding(
        "repeats", share, share, SHARE, values, float(stream.times[first]), None, stream.entities,
        remedy=remedy,
    )  # fmt: skip


def _steps_of(stream: Stream) -> Floats:
    """Return the time (s) of the simulation's step of each state; NaN: it repeats the one before.

    A state is stamped with the first packet after its step, up to a packet late: the earliest
    stamps within a step are those of the steps themselves.
    """
    found = repeats_of(stream)
    if found is None:
        return stream.times
    step = float(Fraction(found.between).limit_denominator(6)) * stream.period
    new = stream.times[1:][(stream.steps > 0) & (stream.intervals < 1.5 * stream.period)]
    phases = np.sort(new % step)
    twice = np.append(phases, phases + step)
    within = np.searchsorted(twice, phases + stream.period + TINY * step) - np.arange(len(phases))
    if within.max() < CLOSE * len(phases):
        return np.where(found.again, np.nan, stream.times)
    begin = phases[int(within.argmax())]
    turns = np.floor((stream.times - begin) / step + TINY)
    return np.where(changes(turns), begin + turns * step, np.nan)


def without_repeats(stream: Stream) -> Stream:
    """The states of a stream, each once, at the times of the simulation's own steps."""
    times = _steps_of(stream)
    kept = np.flatnonzero(np.isfinite(times))
    return stream.at(kept).moved((times - stream.times)[kept])


def _sent_once(block: PacketBlock) -> PacketBlock:
    return restamp(block, _steps_of)


def mended(traffic: Traffic) -> Traffic:
    """Each state once."""
    return replace(traffic, streams=tuple(map(without_repeats, traffic.streams)))


DETECTOR = Detector(
    "repeats",
    "states are sent more than once",
    "Positions change {changes:number} times a second, packets come {rate:number} times: {kind}.",
    "What is drawn stands and goes on in turn; velocities by the positions are too large, or zero,"
    " while those that are sent may be right.",
    "Send once each simulation step ({step:s}), with its time as the stamp; receivers skip a"
    " packet whose position is that of the one before while the entity moves.",
    "packets from one change of the position to the next while the entity moves",
    f"{SHARE:.0%} of the packets repeat a position, changes are as many packets apart but for one,"
    f" and in rows of {BLOCK}, too",
    "definition of a simulation that is slower than its sender",
    detect,
    explains=(
        "velocity",
        "fixed-step",
        "stamps",
        "frozen",
        "on-change",
        "noise",
        "send-rate",
        "delta-chain",
    ),
    mended=mended,
    rank=44,
)
