"""Stamps that are not the times of the states: taken at sending or at arrival, or by no clock."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.detectors import VELOCITIES, Detector, Finding, select_worst
from epic_cli.jobs.diagnose.remedies import Remedy, make_buffer, write_option
from epic_cli.jobs.diagnose.remedies.packets import measure_needed_delay, number_stamps, restamp
from epic_cli.metrics.arrays import compute_lengths
from epic_cli.metrics.digits import format_seconds, format_share
from epic_cli.metrics.traffic import (
    SHARE,
    Floats,
    Stamping,
    Stream,
    Traffic,
    estimate_sigma,
    round_rate,
)

#: Least spread in periods.
SPREAD = 0.04

#: Largest spread of the movement by numbers, in that by stamps, where the movement follows them.
FOLLOWS = 0.3

#: States over which wrong stamps even out.
AROUND = 31

#: Largest error of a stamp, in standard deviations.
FARTHEST = 6.0

#: An entity moves on a straight line if its positions are off by less than this share of a step.
STRAIGHT = 0.002

_CURE = (
    "Stamp a state with the simulation's own time (tick number times step), not with the clock at"
    " sending; or send delta=, how long before its stamp the state was true."
)


def detect(traffic: Traffic) -> list[Finding]:
    """Find stamps that no clock made, or that disagree with displacement over velocity."""
    rates = {stream.name: _find_rate(stream) for stream in traffic.streams}
    told = [_detect_stamping(name, one, rates.get(name)) for name, one in traffic.stamping.items()]
    need = measure_needed_delay(traffic)
    moved = [_detect_in_stream(stream.excerpt, need) for stream in traffic.streams]
    return select_worst([*told, *moved], by=lambda one: one.share)


def _find_rate(stream: Stream) -> float:
    """Return the sequence numbers per second, rounded to a usual rate if close to one."""
    # over all of it: intervals of rounded stamps are not those of the packets
    return round_rate(float(np.ptp(stream.sequence) / np.ptp(stream.times)))


def _detect_stamping(name: str, stamping: Stamping, rate: float | None) -> Finding:
    values = {"share": stamping.share, "spread": stamping.spread}
    entities = (name,) if name else ()
    if stamping.kind == "received":
        what = (
            "The stamps are the times of arrival, not those of the sender: by the sequence numbers"
            f" they are off by {format_seconds(stamping.spread)} (1 sigma), which is the"
            " network's jitter."
        )
        cure = (
            "Send the sender's own time (tick number times step) with each state, and record it; a"
            " delay behind that clock has to cover the latency, too, not the jitter alone"
        )
    else:
        what = (
            f"{format_share(stamping.share)} of the states have the stamp of the one before, though"
            " their sequence numbers go on: nothing of them is lost."
        )
        cure = "Stamp each state with the simulation's own time (tick number times step), not once"
        cure += " for several of them"
    return Finding(
        "stamps",
        stamping.share,
        stamping.share,
        SHARE,
        {**values, "what": what, "cure": f"{cure}."},
        stamping.first,
        None,
        entities,
        remedy=None
        if rate is None
        else Remedy(f"--read time=seq,unit=ticks@{rate:g}", "step_error", packets=number_stamps),
    )


def number_times(stream: Stream, rate: float) -> Floats:
    """Return stamps (s) by the sequence numbers, of which there are ``rate`` a second."""
    return np.asarray(stream.times[0] + (stream.sequence - stream.sequence[0]) / rate)


def make_numbering(rate: float) -> Remedy:
    """Return a remedy: stamps by the sequence numbers, of which there are ``rate`` a second."""
    count = partial(restamp, change=partial(number_times, rate=rate))
    return Remedy(f"--read time=seq,unit=ticks@{rate:g}", "step_error", packets=count)


def mend_stamps(longer: float, need: float) -> Remedy:
    """Return a remedy: stamps computed from velocities, and a buffer ``longer`` (s) than needed."""
    buffer = make_buffer(need + longer)
    return Remedy(
        f"each state's own time and {write_option(buffer)}",
        "step_error",
        buffer,
        stamp_by_velocity,
    )


def _detect_in_stream(stream: Stream, need: float) -> Finding | None:
    steady = stream.elapsed
    if steady is None:
        return None
    off = steady.took - stream.intervals[steady.steps]
    # no spread is wider than the farthest, as the robust one of two values is
    spread = min(estimate_sigma(off), float(np.sqrt(np.square(off).mean())))
    # rounded and noisy positions make such a spread, too: noise shows across the way as well
    noise = steady.across / stream.usual_speed
    limit = max(SPREAD * stream.period, 4 * steady.rounding, 4 * noise)
    if spread < limit:
        return None
    place, most = int(steady.steps[int(np.abs(off).argmax())]), float(np.abs(off).max())
    back = float((steady.took < 0).mean())
    older = f", and {format_share(back)} of the steps lead back to an older state" if back else ""
    return Finding(
        "stamps",
        min(1.0, spread / stream.period),
        spread,
        limit,
        {
            "spread": spread,
            "worst": most,
            "period": stream.period,
            "what": f"By its velocity an entity moves for {format_seconds(spread)} more or less"
            " (1 sigma;"
            f" at most {format_seconds(most)}) than its stamps say{older}.{_find_other(stream)}",
            "cure": _CURE,
        },
        None,
        float(stream.times[place]),
        stream.entities,
        remedy=_choose_remedy(stream, spread, need),
    )


def _choose_remedy(stream: Stream, spread: float, need: float) -> Remedy:
    """Return stamps by numbers if the movement follows these, else by velocities, as a remedy."""
    steady = stream.elapsed
    if stream.numbered and steady is not None:
        rate = _find_rate(stream)
        off = steady.took - np.diff(number_times(stream, rate))[steady.steps]
        if estimate_sigma(off) < FOLLOWS * spread:
            return make_numbering(rate)
    return mend_stamps(4 * spread, need)


def _find_other(stream: Stream) -> str:
    """Return what else the spread may be on a straight line, across which noise would not show."""
    places = stream.positions - stream.positions.mean(axis=0)
    aside = np.linalg.svd(places, compute_uv=False)[1:] / math.sqrt(len(places))
    if math.hypot(*aside) > STRAIGHT * stream.usual_step:
        return ""
    return (
        " It moves on a straight line, where positions that are noisy along it look the same:"
        " record a curve, or compare with a position that is known."
    )


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic with stamps such that every step agrees with its velocity.

    A step at rest takes as long as usual.
    """
    return replace(traffic, streams=tuple(_restamp_stream(stream) for stream in traffic.streams))


def _restamp_stream(stream: Stream) -> Stream:
    return stream.move_states(_compute_times_by_velocity(stream) - stream.times)


def _compute_times_by_velocity(stream: Stream) -> Floats:
    """Return stamps (s) such that every step agrees with its velocity."""
    steady = stream.elapsed
    if steady is None:
        return stream.times
    speeds = compute_lengths(stream.velocities)
    speeds = np.maximum(speeds[1:], speeds[:-1])  # it starts and stops at once
    with np.errstate(invalid="ignore", divide="ignore"):
        took = np.where(speeds > 0, stream.steps / speeds, stream.period)
    # what is further off are leaps
    most = FARTHEST * estimate_sigma(steady.took - stream.intervals[steady.steps])
    intervals = stream.intervals + np.clip(np.nan_to_num(took - stream.intervals), -most, most)
    intervals[steady.steps] = steady.took
    return np.asarray(stream.times[0] + np.append(0.0, np.cumsum(intervals)))


def stamp_by_velocity(block: PacketBlock) -> PacketBlock:
    """Return the packets with stamps such that every step agrees with its velocity."""

    def compute_stamps(stream: Stream) -> Floats:
        off = _compute_times_by_velocity(stream) - stream.times
        # what adds up over many steps is no stamp's
        around = min(AROUND, len(off) // 2 * 2 - 1)
        padded = np.pad(off, around // 2, mode="reflect")
        trend = np.convolve(padded, np.ones(around) / around, "valid")
        return np.asarray(stream.times + off - trend)

    return restamp(block, compute_stamps)


DETECTOR = Detector(
    "stamps",
    "the stamp is not the time of the state",
    "{what}",
    "What is drawn speeds up and slows down from packet to packet: it jitters, however good the"
    " network is, and no delay cures it.",
    "{cure}",
    "robust spread of |displacement| / |mean velocity| less the stamps' interval, over steps in"
    " which the velocity hardly changes",
    "it is 4 % of the period, and 4 times that of the positions' rounding or noise",
    "displacement is the integral of velocity",
    detect,
    needs=(VELOCITIES,),
    explains=("send-rate", "on-change", "teleport"),
    mended=remove_cause,
    reveals=False,  # stamps by velocities are as uneven as noise makes the steps
    rank=70,
)
