"""The drawbacks of what a game draws on its network, and the best combination of remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.jobs.diagnose.mechanism.ambiguity import has_uneven_frames
from epic_cli.jobs.diagnose.mechanism.compositions import takes_late_packets
from epic_cli.jobs.diagnose.remedies import RemedyTrial
from epic_cli.jobs.diagnose.remedies.buffers import (
    CLOCKS,
    SPARED,
    BufferRemedies,
)
from epic_cli.jobs.diagnose.remedies.chases import ChaseFaults
from epic_cli.jobs.diagnose.remedies.covering import (
    count_changes,
    iterate_covering_buffers,
    iterate_short_buffers,
)
from epic_cli.jobs.diagnose.remedies.slides import find_slides
from epic_cli.jobs.diagnose.remedies.trials import BetterDrawing, DrawingTrials
from epic_cli.jobs.diagnose.settings import compute_used_values

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.remedies.metrics import MeasuredFrames, MetricValues
    from epic_cli.jobs.diagnose.remedies.recording import TrialRecording

#: Fewest choosing frames for a metric.
FEWEST_CHOOSING = 60

#: The changes for which a short buffer that extrapolates counts: it has to be that much better.
SHORT_CHANGES = 5

#: A remedy of several is named alone if it leaves less than this share of its metric.
MOST = 0.5

#: The cause of a buffer that goes by no clock, by how it catches up.
CLOCKLESS_CAUSES = {
    "queue": "queue", "dequeue": "queue", "timed-queue": "queue", "timer": "own-timer",
    "fill": "uneven-queue", "waypoints": "waypoint-queue", "clamp": "clamped-time",
    "slow": "slowed-time",
}  # fmt: skip

#: The causes that are named without a remedy, too: how late it is, and what it stands for.
SEEN_ALONE = ("chase-lag", "no-margin")

#: The causes of an interval that is not that of the packets, and those named beside others.
INTERVAL_CAUSES = {"wrong-constant", "wrong-interval", "early-arrival", "measured-interval"}

#: The causes that a chase has by itself, on any path.
OWN_CAUSES = {"chase-lag", "ticks"}

#: What stands in more of the frames, without another cause, is said to stand.
STANDING = 0.2


class Drawback(NamedTuple):
    """A cause that makes drawn frames worse, with the ``values`` for its sentence.

    ``trial`` is the trial of its remedy on this recording; None: the remedy was not tried, or helps
    only together with others. ``certain`` is False for a cause by frames where what moves by time
    draws the same.
    """

    cause: str
    values: Mapping[str, float | str]
    trial: RemedyTrial | None = None
    certain: bool = True


class DrawingAdvice(NamedTuple):
    """The measured frames, their drawbacks, and the trial of the best remedy of them all.

    ``before`` is None where the frames cannot be measured, ``remedy`` None where nothing draws it
    better, ``sooner`` the trial of one with less lag; ``tried`` is True if remedies were tried.
    ``has_path`` is False if packets are so seldom and irregular that they tell no path to try
    remedies by.
    """

    before: MetricValues | None = None
    drawbacks: tuple[Drawback, ...] = ()
    remedy: RemedyTrial | None = None
    sooner: RemedyTrial | None = None
    tried: bool = False
    has_path: bool = True


def advise(
    recording: TrialRecording, frames: Frames, found: Mechanism | None,
    unchanged: Mapping[str, StrategySpec],
) -> DrawingAdvice:  # fmt: skip
    """Try remedies of what a game drew; ``found`` is its mechanism, None if none explains it.

    ``unchanged`` is, by cause, the strategy without the smoothing on top of it.
    """
    if recording.before is None or recording.truth is None:
        return DrawingAdvice()
    plain = DrawingAdvice(recording.before.compute_values(slice(None)))
    search = _RemedySearch(recording, recording.before, frames, found, unchanged)
    if not recording.tells_path:
        return plain._replace(has_path=False, drawbacks=tuple(search.iterate_own_drawbacks()))
    if search.trials.mark_choosing_frames(frames).sum() < FEWEST_CHOOSING:
        return plain
    candidates = list(search.iterate_candidates())
    best, remedy = search.trials.find_best(candidates)
    known = {each.spec.label for each in candidates}
    short = [each for each in search.iterate_short_buffers() if each.spec.label not in known]
    if remedy is None:
        best, remedy = search.trials.find_best(filter(search.is_much_earlier, short))
    remedy, sooner = _add_sooner_trial(search.trials, [*candidates, *short], remedy)
    drawbacks = tuple(search.iterate_drawbacks(best, remedy))
    held = recording.before.compute_values(slice(None)).held
    if not drawbacks and found is not None and held > STANDING:
        drawbacks = (Drawback("standing", {"held": held}, remedy),)
    if found is not None and (slides := find_slides(recording, frames, found)):
        drawbacks = (*drawbacks, Drawback("slides", slides._asdict()))
    return plain._replace(remedy=remedy, sooner=sooner, drawbacks=drawbacks, tried=True)


def _add_sooner_trial(
    trials: DrawingTrials, candidates: list[BetterDrawing], remedy: RemedyTrial | None
) -> tuple[RemedyTrial | None, RemedyTrial | None]:
    """Return the remedy, and one with less lag; what is about as good takes the remedy's place."""
    sooner = None if remedy is None else trials.find_sooner(candidates, remedy)
    if remedy is None or sooner is None or not trials.is_no_worse(sooner, remedy):
        return remedy, sooner
    return sooner, trials.find_sooner(candidates, sooner)


class _RemedySearch:
    """A search for remedies of what a game drew."""

    def __init__(
        self, recording: TrialRecording, before: MeasuredFrames, frames: Frames,
        found: Mechanism | None, unchanged: Mapping[str, StrategySpec],
    ) -> None:  # fmt: skip
        self.recording, self.unchanged, self.found = recording, unchanged, found
        self.trials = DrawingTrials(recording, before, frames)
        self.settings: Mapping[str, Any] = {}
        self.buffer: BufferRemedies | None = None
        self.chase: ChaseFaults | None = None
        #: The cause of a buffer that goes by no clock; empty for others.
        self.own_cause = ""
        if found is None:
            return
        self.settings = compute_used_values(found.strategy)
        self.own_cause = CLOCKLESS_CAUSES.get(self.settings.get("catch_up", ""), "")
        if found.strategy.name == "chase" or self.own_cause:
            self.chase = ChaseFaults(found.strategy, frames)
        if found.strategy.name == "buffer":
            spec = next(iter(unchanged.values()), None)
            base = before if spec is None else self.trials.measure(spec)
            self.buffer = BufferRemedies(found, self.trials, base)

    def iterate_candidates(self) -> Iterator[BetterDrawing]:
        """Yield compositions that may draw better, with the causes that they mend."""
        for cause, spec in self.unchanged.items():
            yield BetterDrawing(spec, (cause,))
        if self.buffer is not None and not self.own_cause:
            yield from self.buffer.iterate_candidates()
            return
        for clock in CLOCKS:
            for spec, covered in iterate_covering_buffers(self.trials, clock):
                changes = count_changes(covered, self.settings, 2)
                yield BetterDrawing(spec, (), covered, changes)
        yield from self.iterate_short_buffers()
        for cause, spec in self._list_chase_changes().items():
            yield BetterDrawing(spec, (cause,))

    def iterate_short_buffers(self) -> Iterator[BetterDrawing]:
        """Yield buffers that wait for most packets only, which mend no cause by themselves."""
        for given, changes in self._iterate_given():
            for spec in iterate_short_buffers(self.trials, given):
                yield BetterDrawing(spec, (), 0.0, changes)

    def _iterate_given(self) -> Iterator[tuple[Mapping[str, Any], int]]:
        """Yield the settings of the game's buffer, if it can keep its clock, and other clocks."""
        buffer, by_stamps = self.buffer, self.settings.get("stamps") == "sender"
        if (
            buffer is not None
            and by_stamps
            and not (self.own_cause or buffer.ignores_drift or buffer.is_last_two)
        ):
            yield buffer.given, SHORT_CHANGES - 1
        for clock in CLOCKS:
            yield clock, SHORT_CHANGES

    def is_much_earlier(self, candidate: BetterDrawing) -> bool:
        """Return True if a candidate draws much earlier than the game, and no worse."""
        before, after = self.trials.before, self.trials.measure(candidate.spec)
        earlier = after is not None and after.lag < before.lag - SPARED
        return earlier and self.trials.is_better(before, candidate.spec)

    def iterate_drawbacks(
        self, best: BetterDrawing | None, remedy: RemedyTrial | None
    ) -> Iterator[Drawback]:
        """Yield the drawbacks that the best candidate mends, and the gain of each fix alone."""
        mends = () if best is None else best.mends
        for cause in mends:
            if cause in self.unchanged:
                yield Drawback(cause, {}, remedy)
        if self.found is None or self.unchanged.keys() & mends:
            return
        if self.chase is not None and self.buffer is None:
            yield from self._iterate_chase_drawbacks(self.chase, remedy)
        if self.chase is not None and self.buffer is not None:
            yield Drawback(self.own_cause, self.chase.values, remedy)
        if self.buffer is not None and takes_late_packets(self.settings):
            own = self._try_single_fix("late-as-new")
            if own or remedy:
                yield Drawback("late-as-new", {"late": self.trials.frames.late}, own)
        if self.buffer is not None and (fault := self.buffer.find_frame_rate_fault(self.recording)):
            yield Drawback("frame-rate", *fault, certain=self.is_by_frames)
        if self.buffer is None or best is None or self.buffer.supply is None:
            return
        values = self.buffer.make_values(best)
        fixes = dict(self.buffer.iterate_fixes())
        for cause in [each for each in fixes if each in INTERVAL_CAUSES and each not in mends]:
            yield Drawback(cause, values, self._try_single_fix(cause))
        for cause in mends:
            if cause == "late-as-new":  # which is named above
                continue
            alone = remedy if len(mends) == 1 else self._try_single_fix(cause)
            yield Drawback(cause, values, alone)

    def iterate_own_drawbacks(self) -> Iterator[Drawback]:
        """Yield the drawbacks that hold whatever the packets tell."""
        if (chase := self.chase) is None or self.buffer is not None:
            return
        for cause in chase.iterate_causes():
            if cause in OWN_CAUSES:
                yield Drawback(cause, chase.values)

    @property
    def is_by_frames(self) -> bool:
        """True if frames of unequal length tell that it moves by frames, and not by time."""
        told = has_uneven_frames(self.trials.frames)
        return told and self.found is not None and "frames" not in self.found.lacking

    def _list_chase_changes(self) -> dict[str, StrategySpec]:
        """Return the changed chases by the cause that each mends; none for a buffer."""
        chase = self.chase if self.buffer is None else None
        return {} if chase is None else dict(chase.iterate_changes())

    def _iterate_chase_drawbacks(
        self, chase: ChaseFaults, remedy: RemedyTrial | None
    ) -> Iterator[Drawback]:
        """Yield the drawbacks of a chase that a change of it, or the best candidate, mends."""
        changes = self._list_chase_changes()
        for cause in chase.iterate_causes():
            own = remedy
            if cause in changes:
                own = _select_main_trial(self.trials.judge(changes[cause]))
            if own or remedy or cause in SEEN_ALONE:
                yield Drawback(cause, chase.values, own)
        fault = chase.find_frame_rate_fault(self.recording)
        if fault and "ticks" not in self.unchanged:  # which are the same on any screen
            yield Drawback("frame-rate", *fault, certain=self.is_by_frames)

    def _try_single_fix(self, cause: str) -> RemedyTrial | None:
        """Try the fix of one cause alone; None unless that fix brings most of the gain.

        A delay is tried with its clock.
        """
        assert self.buffer is not None
        fixes = dict(self.buffer.iterate_fixes())
        if cause in fixes:
            return self.trials.judge(self.buffer.make_equally_late(fixes[cause]))
        if cause in ("short-buffer", "short-delay", "long-buffer"):
            return None
        alone = [
            better for better in self.buffer.iterate_clock_changes() if better.mends == (cause,)
        ]
        return _select_main_trial(self.trials.find_best(alone)[1])


def _select_main_trial(alone: RemedyTrial | None) -> RemedyTrial | None:
    """Return the trial if it brings most of the gain; else None."""
    return alone if alone is not None and alone.after < MOST * alone.before else None
