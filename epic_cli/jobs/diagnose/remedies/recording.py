"""A recording on which remedies are tried."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.jobs.diagnose.remedies import Remedy, RemedyTrial, judge_remedy
from epic_cli.jobs.diagnose.remedies.metrics import MeasuredFrames
from epic_cli.jobs.diagnose.remedies.packets import send_once
from epic_cli.metrics.arrays import compute_lengths, find_minimum
from epic_cli.metrics.notes import TooFewStates
from epic_cli.metrics.truth import (
    JUMP_FACTOR,
    JUMP_FLOOR,
    JUMP_WINDOW,
    Truth,
    compute_sliding_maximum,
    make_truth,
)

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.arrays import Floats

#: Length of the slices of time that choose a remedy or judge it (s), or a sixteenth if that is
#: less.
SLICE, SLICES = 2.0, 16

#: Range and spacing (s) of the lags that are tried around the usual delay; and the most of them in
#: send intervals, where packets are seldom.
LAGS, LAGS_APART, MOST_BEHIND = (-0.3, 1.2), 0.02, 3.0

#: The share of the frames, those nearest to the truth, that tell the lag; they tell none if their
#: median distance is this share of what goes by in a send interval, or in ``LEAST_REACH`` (s).
NEAREST, ASTRAY, LEAST_REACH = 0.9, 0.5, 0.1

#: Seconds before and after a teleport in which steps are not judged.
AROUND_TELEPORT = 0.5

#: Frames, spread over all, in which these lags are tried.
LAG_FRAMES = 500

#: A frame is held if its step is shorter than this share of the true one, which is longer than this
#: share of the usual one.
STANDS, MOVES = 0.02, 0.2

#: Least growth of delays that is a drift of the clocks, and the most that halves of a recording
#: differ from it, as a share.
DRIFTS, ALIKE = 1e-3, 0.25

#: Packets that are as far apart (s), by times that differ so much from 10 to 90 % as a share of the
#: usual one, tell no path.
SELDOM, IRREGULAR = 0.3, 0.5

#: Seconds at the beginning that are not judged, or a tenth if that is less.
WARM_UP = 1.0


class TrialRecording:
    """An entity's packets and drawn frames, for trials of remedies.

    ``times`` (n) are those of the frames (s), ``drawn`` (n, 3) the positions that the game drew in
    them; None: what ``reference`` draws. ``by_frame``: the game stamps arrivals with the time of
    the frame.
    """

    def __init__(
        self, packets: PacketBlock, times: Floats, reference: StrategySpec,
        drawn: Floats | None = None, by_frame: bool = False,
    ) -> None:  # fmt: skip
        self.packets, self.times, self.reference = packets, times, reference
        self.redraw = Redraw(packets, by_frame)
        self.drawn = self.redraw.draw(reference, times) if drawn is None else drawn
        since = times - times[0]
        length = min(SLICE, float(since[-1]) / SLICES)
        self.slices = (since / length).astype(int)
        self.counted = since >= min(WARM_UP, 0.1 * float(since[-1]))

    @cached_property
    def truth(self) -> Truth | None:
        """The truth rebuilt from the packets; None if there are too few packets."""
        return _find_truth(self.packets)

    @cached_property
    def before(self) -> MeasuredFrames | None:
        """The measured frames without a remedy; None if they cannot be measured."""
        return None if self.truth is None else self.measure(self.drawn, self.truth)

    def measure_spec(self, spec: StrategySpec, phase: float = 0.0) -> MeasuredFrames | None:
        """Measure what a strategy draws in frames that are ``phase`` (s) later."""
        shown = self.redraw.draw(spec, self.times + phase)
        return None if self.truth is None else self.measure(shown, self.truth, phase)

    def measure(self, shown: Floats, truth: Truth, phase: float = 0.0) -> MeasuredFrames | None:
        """Measure drawn positions (n, 3), NaN where nothing is drawn, against the truth.

        ``phase`` (s) is added to the times of the frames. Return None if less than half of the rows
        are drawn, or the truth does not move in them.
        """
        used = np.isfinite(shown[:, 0]) & self.counted
        if used.sum() < 0.5 * self.counted.sum():
            return None
        times, shown, slices = self.times[used] + phase, shown[used], self.slices[used][1:]
        times = times - self.drift * (times - times[0])  # by the sender's clock

        def measure_distance(lag: float, part: slice = slice(None)) -> float:
            apart = truth.square_distances(times[part] - lag, shown[part])
            known = apart[np.isfinite(apart)]
            if 2 * len(known) <= len(apart):
                return math.inf
            # teleports, which some smooth over and others do not, are far off at any lag
            near = np.partition(known, count := int(NEAREST * len(known)))[: count + 1]
            return float(near.mean())

        most = max(LAGS[1], MOST_BEHIND * self.interval)
        lags = self.usual_delay + np.arange(LAGS[0], most, LAGS_APART)
        some = slice(None, None, max(len(times) // LAG_FRAMES, 1))
        near = min(lags.tolist(), key=lambda lag: measure_distance(lag, some))
        lag, _ = find_minimum(measure_distance, near - LAGS_APART, near + LAGS_APART, 10)
        motion = truth.interpolate(times, lag)
        inside = (np.diff(motion.segments) == 0) & (motion.segments[1:] >= 0)
        for teleport in truth.starts[truth.teleported].tolist():  # no step is right or wrong there
            inside &= np.abs(times[1:] - lag - teleport) > AROUND_TELEPORT
        true = np.where(inside[:, None], np.diff(motion.positions, axis=0), 0.0)
        step = np.diff(shown, axis=0)
        true_far, far_drawn = compute_lengths(true), compute_lengths(step)
        usual = math.sqrt(float(np.square(true_far[inside]).mean())) if inside.any() else 0.0
        if not usual:
            return None
        intervals = np.diff(times)
        longest = compute_sliding_maximum(
            true_far, round(JUMP_WINDOW / float(np.median(intervals)))
        )
        jumps = far_drawn > np.maximum(JUMP_FACTOR * longest, longest + JUMP_FLOOR * usual)
        held = (far_drawn < STANDS * true_far) & (true_far > MOVES * usual)
        rows = (
            np.square(step - true).sum(axis=1), np.square(true_far), jumps, held,
            np.ones(len(step)), intervals,
        )  # fmt: skip
        apart = truth.square_distances(times - lag, shown)
        far = math.sqrt(float(np.median(apart[np.isfinite(apart)])))
        reach = usual / float(np.median(intervals)) * max(self.interval, LEAST_REACH)
        count = int(self.slices[-1]) + 1
        sums = [np.bincount(slices[inside], row[inside], count) for row in rows]
        return MeasuredFrames(np.array(sums), lag, far < ASTRAY * reach)

    @cached_property
    def _delays(self) -> tuple[Floats, Floats]:
        """The arrivals of the packets (s) whose delays are known, and these delays (s)."""
        known = [
            (packet.arrival, packet.arrival - packet.time)
            for packet in map(self.packets.__getitem__, range(len(self.packets)))
            if packet.arrival is not None and math.isfinite(packet.time)
        ]
        arrivals, delays = np.array(known or [(0.0, 0.0)]).T
        return arrivals, delays

    @cached_property
    def _apart(self) -> Floats:
        """The times between packets (s), without those between packets of one time."""
        times = [packet.time for packet in map(self.packets.__getitem__, range(len(self.packets)))]
        apart = np.diff(np.sort(times))
        return apart[apart > 0]

    @property
    def interval(self) -> float:
        """The usual time between two packets (s); 0 if there are too few."""
        return float(np.median(self._apart)) if len(self._apart) else 0.0

    @property
    def tells_path(self) -> bool:
        """False if packets are seldom and irregular: they may tell where it goes, not where it is.

        What the entity did between them is not known then.
        """
        if self.interval < SELDOM:
            return True
        return bool(np.ptp(np.quantile(self._apart, (0.1, 0.9))) < IRREGULAR * self.interval)

    @cached_property
    def usual_delay(self) -> float:
        """The median delay of the packets (s), of a drifting clock at first; 0 if unknown."""
        arrivals, delays = self._delays
        return float(np.median(delays - self.drift * (arrivals - self.times[0])))

    @cached_property
    def drift(self) -> float:
        """The growth of delays (s a second) where clocks run apart: the same in both halves."""
        arrivals, delays = self._delays
        if len(arrivals) < FEWEST:
            return 0.0
        whole, *halves = (
            np.polyfit(arrivals[part], delays[part], 1)[0]
            for part in (slice(None), slice(len(arrivals) // 2), slice(len(arrivals) // 2, None))
        )
        alike = all(abs(half - whole) < ALIKE * abs(whole) for half in halves)
        return float(whole) if alike and abs(whole) > DRIFTS else 0.0

    def try_remedy(self, remedy: Remedy) -> RemedyTrial | None:
        """Try a remedy on the recording.

        Return the trial, or None if it has no gain or cannot be tried. A remedy has to improve its
        metric by more than that metric's noise, to be worth its costs, and to raise no other metric
        by more than is bearable. Only rows that did not choose the remedy count.
        """
        strategy, drawn = remedy.strategy or remedy.against or self.reference, self.drawn
        if remedy.against is not None and remedy.against != self.reference:
            drawn = self.redraw.draw(remedy.against, self.times)
        if remedy.packets is None:
            truth, before, redraw = self.truth, self.before, self.redraw
        else:
            packets = remedy.packets(self.packets)
            truth, redraw = _find_truth(packets), Redraw(packets, self.redraw.by_frame)
            before = None if truth is None else self.measure(drawn, truth)
        if truth is None or before is None or not redraw.arrivals:
            return None
        after = self.measure(redraw.draw(strategy, self.times), truth)
        return None if after is None else judge_remedy(remedy, before, after)


#: Fewest packets for a trial.
FEWEST = 50


def _find_truth(packets: PacketBlock) -> Truth | None:
    """Return the truth rebuilt from packets; None if there are too few."""
    try:
        # what stands and goes on alternately is the sender's, not the movement's
        return make_truth(send_once(packets))
    except TooFewStates:
        return None
