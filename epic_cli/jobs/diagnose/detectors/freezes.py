"""Freezes: runs of states that repeat one position though their velocities are not zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.metrics.arrays import compute_lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Floats, RunLength, Stream, Traffic, find_runs

#: Fewest states in a row with one position: single repeats are those of a slower simulation.
LEAST = 3

#: Least distance that the velocity covers meanwhile, in usual steps.
FAR = 2.0


def find_freezes(stream: Stream) -> list[RunLength]:
    """Return the runs in which positions stand still though velocities are not zero."""
    if not stream.has_velocities:
        return []
    pace = np.nan_to_num(compute_lengths(stream.velocities))
    goes = (pace[1:] > 0) & (pace[:-1] > 0)
    way = np.nan_to_num(stream.velocities[:-1] + stream.velocities[1:]) / 2
    way = np.cumsum(np.pad(way * stream.intervals[:, None], ((1, 0), (0, 0))), axis=0)
    found = find_runs((stream.steps == 0) & goes)
    return [
        length
        for length in found
        if length.end - length.begin >= LEAST
        and float(compute_lengths(way[length.begin : length.end + 1] - way[length.begin]).max())
        > FAR * stream.usual_step
    ]


def remove_freezes(traffic: Traffic, begins: Floats, ends: Floats) -> Traffic:
    """Return the traffic without the frozen states between these stamps (s)."""
    streams = []
    for stream in traffic.streams:
        kept = np.ones(len(stream.times), bool)
        for run in find_freezes(stream):
            around = stream.period * 1.5
            since, until = stream.times[run.begin] - around, stream.times[run.end] + around
            if ((begins < until) & (since < ends)).any():
                kept[run.begin + 1 : run.end + 1] = False
        streams.append(stream.select_states(np.flatnonzero(kept)))
    left = tuple(stream for stream in streams if len(stream.times) >= FEWEST_STATES)
    return replace(traffic, streams=left)
