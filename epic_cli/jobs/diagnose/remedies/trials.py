"""Trials of strategies in a game's frames: half of the time chooses, the other half judges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.mechanism.supply import mark_watched_frames
from epic_cli.jobs.diagnose.remedies import (
    Remedy,
    RemedyTrial,
    compute_judged_values,
    judge_remedy,
    write_option,
)
from epic_cli.jobs.diagnose.remedies.metrics import CHOOSING, JUDGING, METRICS, MeasuredFrames

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.remedies.recording import TrialRecording

#: Frames and packets are in step if one's interval is a whole multiple of the other's, within this;
#: send intervals between moments that are in step with neither.
IN_STEP, IRREGULAR = 0.02, 0.0618

#: Least gain in cost by each change of a combination, also by a delay that covers less than it
#: might: the next session jumps more than the one it was chosen on.
SIMPLER = 0.03

#: Candidates that are judged, the least cost first, until one helps; on the slices that choose,
#: they may cost so much more than what was drawn.
JUDGED, NOISE = 6, 0.03

#: A lag that a remedy adds (s) which players who act on what is drawn notice, and the most of it
#: that a sooner remedy may add.
LATE, SOONER_SHARE = 0.05, 2 / 3


class BetterDrawing(NamedTuple):
    """A composition that may draw better, and the causes that the composition mends.

    ``covered`` is the share of the frames that its delay covers, where that was chosen; ``changes``
    counts the changes, for its cost.
    """

    spec: StrategySpec
    mends: tuple[str, ...]
    covered: float = 0.0
    changes: int = 1


class DrawingTrials:
    """Trials of strategies on a recording, against the measured frames ``before``."""

    def __init__(self, recording: TrialRecording, before: MeasuredFrames, frames: Frames) -> None:
        self.recording, self.before, self.frames = recording, before, frames
        frame = float(np.median(np.diff(recording.times)))
        ratio = max(frames.interval / frame, frame / frames.interval)
        #: Seconds to frames of another phase, if all frames have the same one: the next session's
        #: differs.
        self.phase = frame / 2 if abs(ratio - round(ratio)) < IN_STEP else 0.0
        every = np.arange(frames.times[0], frames.times[-1], IRREGULAR * frames.interval)
        newest = np.searchsorted(frames.arrivals, every, side="right") - 1
        #: Moments of all phases, instead of frames.
        self.moments = frames._replace(times=every, newest=newest)
        self._known: dict[str, MeasuredFrames | None] = {}

    def measure(self, spec: StrategySpec) -> MeasuredFrames | None:
        """Measure what a strategy draws, in frames of two phases if all have the same one."""
        if spec.label not in self._known:
            found = self.recording.measure_spec(spec)
            if self.phase and found is not None:
                other = self.recording.measure_spec(spec, self.phase)
                # the mean, so that a jump in each counts as one
                found = other and found._replace(sums=(found.sums + other.sums) / 2)
            self._known[spec.label] = found
        return self._known[spec.label]

    def mark_choosing_frames(self, frames: Frames) -> NDArray[np.bool_]:
        """Mark the frames that determine the length of a delay."""
        slices = self.recording.slices
        places = np.minimum(np.searchsorted(self.recording.times, frames.times), len(slices) - 1)
        return np.asarray(mark_watched_frames(frames) & (slices[places] % 2 == 0))

    def is_better(self, before: MeasuredFrames | None, spec: StrategySpec) -> bool:
        """Return True if a strategy improves any metric on the choosing slices."""
        after = self.measure(spec)
        return (
            before is not None
            and after is not None
            and any(judge_remedy(Remedy("", metric), before, after, CHOOSING) for metric in METRICS)
        )

    def judge(self, spec: StrategySpec) -> RemedyTrial | None:
        """Judge a composition by the metric that gains most, steps and lag first."""
        after = self.measure(spec)
        if after is None:
            return None
        old, new = self.before.compute_values(JUDGING), after.compute_values(JUDGING)
        gains = {
            name: METRICS[name].weight * (one - other)
            for name, one, other in zip(METRICS, old, new, strict=True)
        }
        order = sorted(gains, key=lambda name: (name in ("jumps", "held"), -gains[name]))
        option = write_option(spec)
        tried = (judge_remedy(Remedy(option, name, spec), self.before, after) for name in order)
        return next((each for each in tried if each is not None), None)

    def find_best(
        self, candidates: Iterable[BetterDrawing]
    ) -> tuple[BetterDrawing | None, RemedyTrial | None]:
        """Return the cheapest candidate on the choosing slices, judged on the other slices."""
        for candidate in self._rank(candidates)[:JUDGED]:
            if judged := self.judge(candidate.spec):
                return candidate, judged
        return None, None

    def find_sooner(
        self, candidates: Iterable[BetterDrawing], best: RemedyTrial
    ) -> RemedyTrial | None:
        """Return the cheapest better drawing that adds much less lag than the best remedy.

        None if the best one adds no lag that matters, or if nothing with less of it is better.
        """
        if not best.later >= LATE:  # nor if it is not known
            return None
        for candidate in self._rank(candidates):
            judged = self.judge(candidate.spec)
            if judged is not None and judged.later <= SOONER_SHARE * best.later:
                return judged
        return None

    def is_no_worse(self, one: RemedyTrial, other: RemedyTrial) -> bool:
        """Return True if one trial's strategy is hardly worse than another's by any metric."""
        ones, others = (
            compute_judged_values(self.before, JUDGING, each.metric)._asdict()
            | {name: after for name, _, after in (each[1:4], *each.changes)}
            for each in (one, other)
        )
        return all(ones[name] <= others[name] + metric.bearable for name, metric in METRICS.items())

    def _rank(self, candidates: Iterable[BetterDrawing]) -> list[BetterDrawing]:
        """Return the candidates that may be better by the choosing slices, the least cost first."""
        most = self.before.compute_values(CHOOSING).cost + NOISE
        costs: list[tuple[float, BetterDrawing]] = []
        for candidate in candidates:
            measured = self.measure(candidate.spec)
            if measured is not None and (cost := measured.compute_values(CHOOSING).cost) < most:
                costs.append((cost + SIMPLER * candidate.changes, candidate))
        return [candidate for _, candidate in sorted(costs, key=lambda each: each[0])]
