"""Buffers whose delay is enough for the frames of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.clocks import make_time_axis
from epic_cli.jobs.diagnose.mechanism.supply import compute_needed_delays, mark_watched_frames
from epic_cli.jobs.diagnose.settings import round_to_three_digits

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.remedies.trials import DrawingTrials

#: Shares of the frames that a delay covers: the next larger one if that does not help, or if
#: nothing goes by the sender's stamps yet.
COVERED = (0.99, 0.999, 1.0)

#: Shares of the frames that the delay of a buffer covers that extrapolates, and for how long (s).
SHORT, BEYOND = (0.5, 0.8, 0.9, 0.97, 0.99), 0.5

#: The largest of twice the data is further out by this share of the way from 99 % to 99.9 %: log 2
#: / log 10.
LONGER = 0.3

#: Seconds that frames may wait longer than the packets explain: beyond, they have another clock.
ASTRAY = 0.05

#: Settings that a delay of its own replaces.
MARGINS = (
    "jitter_margin", "jitter_time", "jitter", "jitter_share", "jitter_count", "delay_rise",
    "delay_fall", "delay_from", "delay_least", "delay_most",
)  # fmt: skip


def iterate_covering_buffers(
    trials: DrawingTrials, given: Mapping[str, Any]
) -> Iterator[tuple[StrategySpec, float]]:
    """Yield buffers whose delay is enough for a share of the frames, and the share."""
    frames, moments = trials.frames, trials.moments
    plain = _drop_margins(given)
    axis = make_time_axis(frames, plain)
    curve = str(plain.get("curve", "linear"))
    arrived = frames.arrivals[1:] - axis.offsets[:-1] - axis.stamps[:-1]
    needed = [
        compute_needed_delays(each, axis, curve)[trials.mark_choosing_frames(each)]
        for each in ((frames, moments) if trials.phase else (frames,))
    ]
    for share, own in ((COVERED[0], needed[0]), *((share, needed[-1]) for share in COVERED)):
        delay = float(np.quantile(own, share))
        if share == 1:  # the largest of all slices, and of twice as many with such a tail
            last = moments if trials.phase else frames
            largest = compute_needed_delays(last, axis, curve)[mark_watched_frames(last)].max()
            delay = float(largest + LONGER * np.diff(np.quantile(own, COVERED[:2]))[0])
        if not 0 <= delay <= float(np.quantile(arrived, share)) + ASTRAY:
            return
        yield StrategySpec("buffer", {**plain, "delay": round_to_three_digits(delay)}), share


def iterate_short_buffers(
    trials: DrawingTrials, given: Mapping[str, Any]
) -> Iterator[StrategySpec]:
    """Yield buffers that wait for most packets, and extrapolate where one is later."""
    plain = _drop_margins(given)
    axis = make_time_axis(trials.frames, plain)
    needed = compute_needed_delays(trials.frames, axis, "linear")
    for delay in np.quantile(needed[trials.mark_choosing_frames(trials.frames)], SHORT):
        settings = {**plain, "delay": round_to_three_digits(max(0.0, delay)), "beyond": BEYOND}
        yield StrategySpec("buffer", settings)


def _drop_margins(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None and key not in MARGINS}


def count_changes(covered: float, settings: Mapping[str, Any], changes: int) -> int:
    """Return the changes of a buffer, and one for each larger share that it might cover.

    Those count where nothing goes by the sender's stamps yet.
    """
    by_stamps = settings.get("stamps") == "sender"
    return changes if by_stamps else changes + len(COVERED) - COVERED.index(covered)
