"""Stamps that are not the times of the states: taken when a packet is sent, not when it is made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.analysis.diagnosis.detector import VELOCITIES, Detector, Finding, worst
from epic_cli.analysis.diagnosis.robust import sigma
from epic_cli.analysis.diagnosis.stream import Stream
from epic_cli.analysis.diagnosis.traffic import Traffic

#: In periods.
SPREAD = 0.04


def detect(traffic: Traffic) -> list[Finding]:
    """The spread of the time that a step took by its velocity, around that of its stamps."""
    return worst(_of(one.excerpt) for one in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    steady = stream.elapsed
    if steady is None:
        return None
    off = steady.took - stream.intervals[steady.steps]
    spread = sigma(off)
    # rounded positions make such a spread, too
    limit = max(SPREAD * stream.period, 4 * steady.rounding)
    if spread < limit:
        return None
    place = int(steady.steps[int(np.abs(off).argmax())])
    return Finding(
        "stamps",
        min(1.0, spread / stream.period),
        spread,
        limit,
        {"spread": spread, "worst": float(np.abs(off).max()), "period": stream.period},
        None,
        float(stream.times[place]),
        stream.entities,
    )


def mended(traffic: Traffic) -> Traffic:
    """Each steady step takes as long as its velocity says."""
    return replace(traffic, streams=tuple(_restamped(one) for one in traffic.streams))


def _restamped(stream: Stream) -> Stream:
    steady = stream.elapsed
    if steady is None:
        return stream
    intervals = stream.intervals.copy()
    intervals[steady.steps] = steady.took
    return replace(stream, times=stream.times[0] + np.append(0.0, np.cumsum(intervals)))


DETECTOR = Detector(
    "stamps",
    "the stamp is not the time of the state",
    "By its velocity an entity moves for {spread:s} more or less (1 sigma; at most {worst:s}) than"
    " its stamps say.",
    "What is drawn speeds up and slows down from packet to packet: it jitters, however good the"
    " network is, and no delay cures it.",
    "Stamp a state with the simulation's own time (tick number times step), not with the clock at"
    " sending; or send delta=, how long before its stamp the state was true.",
    "robust spread of |displacement| / |mean velocity| less the stamps' interval, over steps in"
    " which the velocity hardly changes",
    "4 % of the period, and 4 times what the positions' rounding makes",
    "displacement is the integral of velocity",
    detect,
    needs=(VELOCITIES,),
    explains=("send-rate",),
    mended=mended,
    rank=70,
)
