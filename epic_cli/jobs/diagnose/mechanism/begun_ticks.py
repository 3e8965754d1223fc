"""Read chases in ticks that begin again at the frame of the last one, or at each packet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.chases import read_chases
from epic_cli.jobs.diagnose.mechanism.compositions import add_settings
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.jobs.diagnose.mechanism.restarting_ticks import find_restarting_tick
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A way that is left, and one to a packet (usual steps); chases in such ticks that are looked at.
AWAY, WAY, LIKELY = 0.02, 0.1, 3

#: Lengths of the ticks of a page's timers, of which whole ones are sought in frames (s).
LENGTHS = sorted({0.005, 0.01, 0.015, 0.016, *TICKS, 0.03})

#: The largest error of counted ticks (usual shares), as a share of that by time; and a way's end.
WRONG, CLEARLY, ALL = 0.05, 0.3, 0.98


def iterate_frame_timers(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases of which a frame moves that is long enough after the last one that did."""
    left = frames.positions[frames.newest[1:]] - frames.drawn[:-1]
    able = np.append(False, compute_lengths(left) > AWAY * frames.unit)
    every = find_restarting_tick(frames, able)
    moved = np.flatnonzero(compute_lengths(np.diff(frames.drawn, axis=0)) > 0)
    if not every or len(moved) < FEW:
        return
    runs = [int(moved[0]) + 1]
    for place in range(runs[0] + 1, len(frames.times)):
        if frames.times[place] - frames.times[runs[-1]] >= every * (1 - 1e-9):
            runs.append(place)
    ticks = frames._replace(
        times=frames.times[runs], drawn=frames.drawn[runs], newest=frames.newest[runs], taken=None
    )
    for reading in read_chases(ticks)[:LIKELY]:
        yield add_settings(reading.strategy, {"every": every, "phase": "frame"})


def iterate_packet_ticks(frames: Frames) -> Iterator[StrategySpec]:
    """Yield chases in ticks that begin with each packet: a part of its way, or a share of the rest.

    Each frame with the packet of the one before holds whole ticks.
    """
    newest = frames.newest[1:]
    rest, step = frames.positions[newest] - frames.drawn[:-1], np.diff(frames.drawn, axis=0)
    square = np.square(rest).sum(axis=1)
    share = (step * rest).sum(axis=1) / np.maximum(square, 1e-300)
    told = frames.settled[1:] & (np.diff(frames.newest) == 0)
    told &= (square > (WAY * frames.unit) ** 2) & (share < ALL)
    if told.sum() < FEW:
        return
    share, arrival = np.clip(share, 1e-9, None)[told], frames.arrivals[newest][told]
    begins, ends = frames.times[:-1][told] - arrival, frames.times[1:][told] - arrival
    for how, measure in (("share", _measure_shares), ("linear", _measure_ways)):
        least, _ = measure(begins, ends, share)
        best = CLEARLY * least, 0.0, 0.0
        for every in LENGTHS:
            begun, ended = (np.floor(at / every + 1e-9) * every for at in (begins, ends))
            best = min(best, (*measure(begun, ended, share), every))
        off, value, every = best
        if not every or off > WRONG:
            continue
        number = {"time": value} if how == "linear" else {"share": 1 - math.exp(-value * every)}
        for first in ({}, {"start": "last"}):  # a tick falls at the packet, or not
            ticks = {**first, "every": every, "phase": "packet"}
            yield StrategySpec("chase", {"how": how, **number, **ticks})


def _measure_shares(begins: Floats, ends: Floats, share: Floats) -> tuple[float, float]:
    """Return how far shares of the rest differ from one by time, and its rate (1/s)."""
    lasts, grown = ends - begins, -np.log1p(-share)
    rate = float(grown.sum() / max(lasts.sum(), 1e-300))
    off = np.abs(grown - lasts * rate) / max(float(grown.mean()), 1e-300)
    return float(np.minimum(off, 1).mean()), rate


def _measure_ways(begins: Floats, ends: Floats, share: Floats) -> tuple[float, float]:
    """Return how far the times of whole ways differ, by shares of the rest, and the usual one."""
    lasts = ends - begins
    times = begins + lasts / share
    usual = float(np.median(times[lasts > 0])) if lasts.any() else 0.0
    expected = np.clip(lasts / np.maximum(usual - begins, 1e-300), 0, 1)
    off = np.abs(share - expected) / max(float(share.mean()), 1e-300)
    return float(np.minimum(off, 1).mean()), usual
