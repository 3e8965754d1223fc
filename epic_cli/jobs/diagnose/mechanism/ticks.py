"""Ticks below the frames: a path that moves, or bends, only at the ticks of a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Lengths of ticks (s) that games have, and of timers, which count whole milliseconds.
TICKS = (
    *(
        float(f"{1 / rate:.8g}")
        for rate in (10, 12, 12.5, 15, 20, 24, 25, 30, 40, 50, 60, 64, 100, 120, 128)
    ),
    *(0.016, 0.033),
)

#: A step below this share of the usual one is none.
STANDS = 1e-3

#: More of the frames stand still if they show the last tick.
STANDING = 0.05

#: The lowest tick rate that is sought (Hz), and the most peaks of a spectrum that are.
SLOWEST, PEAKS = 8.0, 3

#: The shortest ticks that are measured (s).
LEAST_TICK = 0.004

#: Shorter ticks have this much more of it.
CLEARLY = 0.02

#: Phases that are tried within two steps of the coarse ones, about the best of those.
FINER = 41

#: Most frames in which ticks are sought.
MOST = 3000


class Ticks(NamedTuple):
    """A clock under the frames: a tick each ``every`` seconds, one at ``phase`` (s).

    ``smooth``: frames lie on lines between ticks, a tick late; else they show the last tick.
    """

    every: float
    phase: float
    smooth: bool

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the strategy ``chase`` that make it step in these ticks."""
        between = {"between": "lerp"} if self.smooth else {}
        return {"every": self.every, "phase": self.phase, **between}


def find_ticks(frames: Frames, exact: float) -> Ticks | None:
    """Return the ticks at which the frames' path moves or bends; None if there are none.

    A difference up to ``exact`` is none (length).
    """
    times, step = frames.times[:MOST], np.diff(frames.drawn[:MOST], axis=0)
    pace = step / np.diff(times)[:, None]
    moved = compute_lengths(step)
    if (moved < STANDS * moved.mean()).mean() > STANDING:
        # it stands between two ticks: a step in a frame has a tick since the frame before
        ticks = _select_ticks(times[:-1], times[1:], moved, smooth=False)
        if ticks is not None:
            return center_phase(ticks, times, moved > 0)
    measured = _measure_ticks(times, frames.drawn[:MOST], exact)
    if measured is not None:
        return measured
    bend = compute_lengths(np.diff(pace, axis=0))
    shorter = np.minimum(times[1:-1] - times[:-2], np.diff(times[1:]))
    bend = np.maximum(bend - 4 * exact / shorter, 0)
    return _select_ticks(times[:-2], times[2:], bend, smooth=True)


def _measure_ticks(times: Floats, drawn: Floats, exact: float) -> Ticks | None:
    """Return the ticks at which lines through at least three frames each meet; None without such.

    Two frames in different ticks lie on lines that meet at the tick between them.
    """
    before, here, after = drawn[:-2], drawn[1:-1], drawn[2:]
    share = ((times[1:-1] - times[:-2]) / (times[2:] - times[:-2]))[:, None]
    straight = compute_lengths(before + (after - before) * share - here) < 3 * exact
    # the frames after which a line ends where the next one begins with the next frame
    ends = np.flatnonzero(straight[:-3] & ~straight[1:-2] & ~straight[2:-1] & straight[3:]) + 2
    if len(ends) < FEW:
        return None
    span = (times[ends] - times[ends - 2])[:, None], (times[ends + 3] - times[ends + 1])[:, None]
    one, other = (drawn[ends] - drawn[ends - 2]) / span[0], drawn[ends + 3] - drawn[ends + 1]
    turn = one - other / span[1]
    # relative to the last frame of the first line
    apart = (times[ends + 1] - times[ends])[:, None]
    gap = drawn[ends + 1] - other / span[1] * apart - drawn[ends]
    sharp = np.square(turn).sum(axis=1)
    meets = (gap * turn).sum(axis=1) / (sharp + 1e-300)
    clear = (sharp >= np.median(sharp)) & (meets > -1e-4) & (meets < apart[:, 0] + 1e-4)
    at = (times[ends] + meets)[clear]
    if len(at) < FEW:
        return None
    every = float(np.quantile(np.diff(at), 0.1))
    for _ in range(3):  # which counts the ticks between two that are far apart ever better
        counts = np.cumsum(np.append(0, np.round(np.diff(at) / every)))
        every, begin = np.polyfit(counts, at, 1).tolist()
    off = np.abs(at - begin - every * counts)
    if every < LEAST_TICK or np.quantile(off, MOSTLY) > 0.02 * every:
        return None
    every = _round_tick(every, 0.001 / counts[-1])
    return Ticks(every, float(np.median(at - every * counts)) % every, smooth=True)


def _measure_lengths(at: Floats, weight: Floats, frame: float) -> list[float]:
    """Return lengths of ticks (s) at whose pace the weights come: the peaks of their spectrum.

    The phases of eighths of the time then give each length as exactly as frames of that length (s)
    tell it.
    """
    binned, _ = np.histogram(at, np.arange(at[0], at[-1], frame / 4), weights=weight)
    power = np.abs(np.fft.rfft(binned - binned.mean()))
    rates = np.fft.rfftfreq(len(binned), frame / 4)
    peaks = 1 + np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] >= power[2:]))
    peaks = peaks[(rates[peaks] > SLOWEST) & (rates[peaks] < 0.8 / frame)]
    found = []
    for peak in sorted(peaks, key=lambda peak: -power[peak])[:PEAKS]:
        rate = float(rates[peak])
        for _ in range(3):
            turned = weight * np.exp(-2j * np.pi * rate * at)
            phases = [part.sum() for part in np.array_split(turned, 8)]
            slope = np.polyfit([part.mean() for part in np.array_split(at, 8)],
                               np.unwrap(np.angle(phases)), 1)[0]  # fmt: skip
            rate += float(slope) / (2 * np.pi)
        if SLOWEST < rate < 0.8 / frame:
            found.append(_round_tick(1 / rate, 0.1 * frame / rate / float(at[-1] - at[0])))
    return found


def _round_tick(every: float, within: float) -> float:
    """Return the usual tick length within some seconds, or the one with the fewest digits."""
    shorter = (float(f"{every:.{digits}g}") for digits in range(1, 10))
    return next((tick for tick in (*TICKS, *shorter) if abs(tick - every) <= within), every)


def _select_ticks(begins: Floats, ends: Floats, weight: Floats, *, smooth: bool) -> Ticks | None:
    """Return the ticks within the intervals that have nearly all of the weight, if any do.

    They are usual ones, or such at whose pace the weight comes.
    """
    frame = float(np.median(ends - begins))
    weight = np.minimum(weight, np.quantile(weight, 0.98))
    if (weight > 0).sum() < FEW:
        return None
    # longer ticks first: of shorter ones that divide them, every second one is empty
    best: tuple[float, Ticks | None] = MOSTLY - CLEARLY, None
    own = _measure_lengths((begins + ends) / 2, weight, frame / 2 if smooth else frame)
    for every in sorted({*TICKS, *own}, reverse=True):
        if every < 1.1 * frame:
            continue
        grid = min(0.1 * frame, 0.001)
        phases = np.arange(0, every, grid)
        rough = _hold_ticks(begins, ends, every, phases) @ weight
        # finer near the best: off by 5 % of a frame, 5 % of the ticks are in another one
        phases = phases[rough.argmax()] + np.linspace(-grid, grid, FINER)
        held = _hold_ticks(begins, ends, every, phases)
        inside = held @ weight / weight.sum()
        good = inside > inside.max() - 0.002
        if inside.max() > best[0] + CLEARLY and held[good].mean() < 0.9:
            middle = float(np.angle(np.exp(2j * np.pi * phases[good] / every).mean()))
            phase = (middle / (2 * np.pi) % 1.0) * every
            best = float(inside.max()), Ticks(every, phase, smooth)
    return best[1]


def center_phase(ticks: Ticks, times: Floats, moved: NDArray[np.bool_]) -> Ticks:
    """Return the ticks with the middle of the phases for which each moved frame holds a tick.

    Those are few microseconds: a tick in the frame before or behind is off by a whole step.
    """
    begins, ends = times[:-1][moved], times[1:][moved]
    number = np.round(((begins + ends) / 2 - ticks.phase) / ticks.every)
    least, most = (begins - number * ticks.every).max(), (ends - number * ticks.every).min()
    if least >= most:
        return ticks
    # nor does a frame hold one that stands between two that move
    stands = np.flatnonzero(~moved[1:-1] & moved[:-2] & moved[2:]) + 1
    edges = times[stands], times[stands + 1]
    begins, ends = (edge - np.floor((edge - least) / ticks.every) * ticks.every for edge in edges)
    low, high = ends[ends < most].max(initial=least), begins[begins < most].min(initial=most)
    if low < high:
        least, most = low, high
    return ticks._replace(phase=float(least + most) / 2 % ticks.every)


def _hold_ticks(begins: Floats, ends: Floats, every: float, phases: Floats) -> NDArray[np.bool_]:
    """Return for each phase (p) which intervals (n) hold a tick: its number changes in them."""
    return np.asarray(
        np.floor((ends - phases[:, None]) / every) > np.floor((begins - phases[:, None]) / every)
    )
