"""One entity of a game: its packets, the frames that are examined, and what explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.comparison import SAME, FrameComparison
from epic_cli.jobs.diagnose.drawn.entity_match import EntityMatch
from epic_cli.jobs.diagnose.drawn.excerpt import cut_excerpt
from epic_cli.jobs.diagnose.drawn.frame_arrivals import (
    PacketReading,
    mark_told_frames,
    move_to_frame_times,
)
from epic_cli.jobs.diagnose.drawn.lateness import measure_lag
from epic_cli.jobs.diagnose.drawn.leaps import measure_few_errors
from epic_cli.jobs.diagnose.drawn.position_offset import find_position_offset
from epic_cli.jobs.diagnose.drawn.strategy_search import StrategySearch
from epic_cli.jobs.diagnose.fitted import MOST, FittedStrategy
from epic_cli.jobs.diagnose.frames import (
    Frames,
    find_time_rounding,
    find_usual_interval,
    make_frames,
    move_to_frames,
)
from epic_cli.jobs.diagnose.mechanism import (
    Mechanism,
    begin_search,
    find_mechanism,
    glance,
)
from epic_cli.jobs.diagnose.mechanism.arrivals import depends_on_new_packets
from epic_cli.jobs.diagnose.mechanism.observations import Observation, observe_frames
from epic_cli.jobs.diagnose.mechanism.partial import (
    explain_rest,
    find_kind,
    measure_path_delays,
)
from epic_cli.jobs.diagnose.mechanism.supply import is_exotic
from epic_cli.jobs.diagnose.mechanism.ticks import find_ticks
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.jobs.diagnose.remedies.drawing import DrawingAdvice, advise
from epic_cli.jobs.diagnose.remedies.recording import TrialRecording
from epic_cli.metrics.arrays import ARRIVAL, LARGEST, POSITION, TIME, VELOCITY, make_packet_table
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath, UnusableDrawing, find_drawn_ticks

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.jobs.diagnose.mechanism.search import ExplanationSearch
    from epic_cli.metrics.arrays import Floats

#: Seconds until strategies have begun, or a tenth of the frames if that is less.
WARM_UP = 1.0

#: Largest errors, as shares of the usual step, of what is understood, and probable.
UNDERSTOOD, PROBABLE = 0.01, 0.05

#: The first of these for a way that few games have, or with many fitted numbers: which comes near
#: to what is drawn otherwise; and how many are many.
UNUSUAL, MANY = 0.005, 3

#: Largest error of what is understood where times are rounded, in what moves meanwhile: arrivals
#: and frames are off by 0.29 of the unit each (RMS).
BLURRED = 0.6

#: The drawbacks that are said only of what is understood.
PASSING = {"swings", "passes-goal"}

#: Multiple of the resolution within which two positions are the same, too.
ROUNDED = 2.5

#: Multiple of the resolution within which a difference is rounding.
EXACT = 1.25

#: Invisible error, as a share of the usual step: below it no low-pass is sought.
MATTERS = 0.02


class DrawnEntity:
    """One entity's packets, as a ``pacing`` reads them, and the frames of it that are examined."""

    def __init__(
        self,
        name: str,
        path: DrawnPath,
        packets: PacketBlock,
        pacing: PacketReading = PacketReading.ARRIVAL,
    ) -> None:
        self.name, self.pacing, self._given = name, pacing, packets
        packets = move_to_frame_times(packets, path.times, pacing)
        columns = make_packet_table(packets)
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(columns[TIME]) & (np.abs(columns[POSITION]) < LARGEST).all(axis=0)
        #: Packets in their order in the recording.
        self.table = columns[:, finite]
        ordered = self.table[:, np.argsort(self.table[TIME], kind="stable")]
        self.stamps, self.positions = ordered[TIME], ordered[POSITION].T
        if len(self.stamps) < FEWEST_FRAMES:
            raise UnusableDrawing(
                f"{len(self.stamps)} packets can be used, and {FEWEST_FRAMES} are needed"
            )
        self.packets, self.redraw = packets, Redraw(packets, pacing is PacketReading.FRAME)
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        self.step = float(np.sqrt(np.square(steps[steps > 0]).mean())) if steps.any() else 0.0
        self.all_frames = path
        #: The constant offset of what is drawn (3), which is left out.
        self.offset = find_position_offset(self.table, path)
        if self.offset.any():
            path = path._replace(positions=path.positions - self.offset)
        begins, ends = self.stamps[[0, -1]]
        if self.redraw.arrivals:
            begins, ends = self.redraw.begins, self.redraw.ends
        path = self.frames = cut_excerpt(path, begins, ends)
        self.enough = max(SAME * self.step, ROUNDED * path.resolution)
        if self.stamps[-1] == self.stamps[0]:
            raise UnusableDrawing("all packets have the same timestamp: log when each was sent")
        moved = self.step * find_time_rounding(path.times) / find_usual_interval(self.stamps)
        #: The largest error (length) of times that are rounded, and of what explains the frames.
        self._blurred = max(self.enough, BLURRED * moved)
        self.understood = max(self._blurred, UNDERSTOOD * self.step)
        self.frame, self.tick = path.frame, 0.0
        self.moved = float(np.linalg.norm(np.diff(path.positions, axis=0), axis=1).sum())
        self._set_path(path)

    def _set_path(self, path: DrawnPath) -> None:
        self.path, times = path, path.times
        wait = min(WARM_UP, 0.1 * float(times[-1] - times[0])) if len(times) else 0.0
        counted = times >= max(times[0], self.redraw.begins) + wait
        if self.pacing is PacketReading.ARRIVAL:
            counted &= mark_told_frames(self.table[ARRIVAL], times)
        exact = min(EXACT * path.resolution, self.enough)
        self.comparison = FrameComparison(
            self.redraw, times, path.positions, counted, exact, self.step or 1.0
        )

    @property
    def arrives_at_frames(self) -> bool:
        """True if each packet is logged with the time of a frame, or outside of the frames."""
        if self.pacing is PacketReading.BEHIND:
            return self.change_pacing(PacketReading.ARRIVAL).arrives_at_frames
        arrivals, times = self.table[ARRIVAL], self.path.times
        inside = arrivals[(arrivals >= times[0]) & (arrivals <= times[-1])]
        return bool(np.isin(inside, times).all())

    def change_pacing(self, pacing: PacketReading) -> DrawnEntity:
        """Return the entity, with packets that are read otherwise, in the same frames."""
        other = DrawnEntity(self.name, self.all_frames, self._given, pacing)
        if self.tick:
            other.switch_to_ticks()
        return other

    def depends_on_new_packets(self) -> bool | None:
        """Return True if frames depend on the packets of their time; None if nothing tells."""
        frames = self.make_frames(self.path)
        tells = None if frames is None else depends_on_new_packets(frames)
        if frames is None or tells is not False:
            return tells
        ticks = find_ticks(frames, self.comparison.exact)
        return None if ticks is not None and ticks.smooth else tells  # which show a tick late

    def switch_to_ticks(self) -> bool:
        """Switch to the ticks at which positions change; return False if they always change."""
        ticks = find_drawn_ticks(self.path)
        if ticks is not None:
            self._set_path(ticks)
            self.tick = ticks.frame
        return ticks is not None

    def make_search(self) -> StrategySearch:
        """Return the search for a strategy that draws the entity."""
        return StrategySearch(self.comparison, self.enough, max(MATTERS * self.step, self.enough))

    def begin_search(self) -> ExplanationSearch | None:
        """Return a search for the entity's composition in its first frames, which is not begun.

        None without arrivals or enough packets.
        """
        frames = self.make_frames(self.path)
        return None if frames is None else begin_search(frames, self.comparison)

    def find_mechanism(self, begun: ExplanationSearch | None = None) -> Mechanism | None:
        """Return the composition that draws the entity; None without arrivals or enough packets.

        ``begun`` is what a glance at it has found.
        """
        frames = self.make_frames(self.path)
        if frames is None:
            return None
        if begun is None:
            begun = begin_search(frames, self.comparison)
            glance([begun])
        return find_mechanism(frames, self.comparison, self.enough, begun)

    def make_frames(self, path: DrawnPath) -> Frames | None:
        """Return frames with the packets that had arrived.

        None without arrivals or enough packets.
        """
        if not self.redraw.arrivals:
            return None
        order = np.argsort(self.table[ARRIVAL], kind="stable")
        table = self.table[:, order][:, np.isfinite(self.table[ARRIVAL][order])]
        arrivals = table[ARRIVAL]
        if self.redraw.by_frame:
            arrivals = move_to_frames(arrivals, path.times, path.frame)
        frames = make_frames(
            arrivals, table[TIME], table[POSITION].T, table[VELOCITY].T,
            path.times, path.positions,
        )  # fmt: skip
        frames = frames._replace(are_ticks=bool(self.tick))
        return frames if min(len(frames.stamps), len(frames.times)) >= FEWEST_FRAMES else None

    def find_advice(
        self, best: FittedStrategy, parts: Mechanism | None, found: bool, likely: bool
    ) -> DrawingAdvice:
        """Return how to draw the entity better; ``parts`` are its composition, if known.

        Of what is only ``likely``, nothing is said that another way of drawing need not do.
        """
        understood = found or likely
        frames = self.make_frames(self.frames)
        if frames is None:
            return DrawingAdvice()
        recording = TrialRecording(
            self.packets, self.frames.times, best.candidate, self.frames.positions,
            self.redraw.by_frame,
        )  # fmt: skip
        unchanged = {}
        if understood and not best.shift and self.tick:
            unchanged["ticks"] = best.candidate
        elif understood and not best.shift and best.constant and parts is None:
            unchanged["second-smoothing"] = best.candidate
        advice = advise(recording, frames, parts if understood else None, unchanged)
        if found:
            return advice
        sure = tuple(each for each in advice.drawbacks if each.cause not in PASSING)
        return advice._replace(drawbacks=sure)

    def find_kind(self) -> tuple[str, tuple[float, float] | None]:
        """Return what is true of nearly all frames, where no strategy draws them; or nothing.

        The second value are the delays of those on a path (s).
        """
        frames = self.make_frames(self.path)
        if frames is None:
            return "", None
        kind = find_kind(frames, self.path.resolution)
        delays = measure_path_delays(frames, kind)
        slopes = kind == "hermite" and not frames.has_velocities
        return "slopes" if slopes else kind, delays

    def observe_frames(self) -> tuple[Observation, ...]:
        """Return what is true of the frames whatever draws them."""
        frames = self.make_frames(self.path)
        return () if frames is None else observe_frames(frames)

    def explain_rest(self, best: FittedStrategy) -> str:
        """Return what the difference between the best strategy and the frames goes with."""
        frames = self.make_frames(self.path)
        if frames is None:
            return ""
        apart = self._compute_differences(best, frames)
        return explain_rest(frames, np.ones(len(frames.times), bool), apart)

    def shows_newest_elsewhere(self, best: FittedStrategy) -> bool:
        """Return True if the frames that a strategy does not draw show the newest state."""
        frames = self.make_frames(self.path)
        if frames is None:
            return False
        others = np.linalg.norm(self._compute_differences(best, frames), axis=1) > self.understood
        off = np.linalg.norm(frames.drawn - frames.positions[frames.newest], axis=1)[others]
        return len(off) > 0 and float((off <= self.enough).mean()) >= MOST

    def _compute_differences(self, best: FittedStrategy, frames: Frames) -> Floats:
        """Return how far a strategy is from each frame (m, 3); NaN in those that do not count."""
        apart = np.full((len(self.path.times), 3), np.nan)
        apart[self.comparison.counted] = self.comparison.compute_differences(best)
        return apart[np.isin(self.path.times, frames.times)]

    def split_low_pass(self, parts: Mechanism) -> list[FittedStrategy]:
        """Return a composition as two strategies: without its low-pass, and with its low-pass."""
        settings = dict(parts.strategy.settings)
        if "follow" in settings or settings.get("catch_up") == "waypoints":  # not by itself
            return [FittedStrategy(parts.strategy, residual=parts.residual, share=parts.share)]
        constant = float(settings.pop("low_pass", 0.0))
        plain = FittedStrategy(StrategySpec(parts.strategy.name, settings))
        with_it = plain._replace(constant=constant, residual=parts.residual, share=parts.share)
        return [self.comparison.measure_error(plain), with_it] if constant else [with_it]

    def limit_error(self, best: FittedStrategy, parts: Mechanism | None) -> float:
        """Return the largest error (length) with which a strategy, or a composition, explains."""
        frames = None if parts is None else self.make_frames(self.path)
        if frames is None:
            return self.understood
        unusual = is_exotic(frames, best.candidate) or len(best.numbers) >= MANY
        return max(self._blurred, UNUSUAL * self.step) if unusual else self.understood

    def measure_lag(self) -> float:
        """Return the lag behind the packets' stamps (s); NaN if it is out of range."""
        return measure_lag(self.comparison, self.stamps, self.positions, self.step)

    def match_strategy(self, best: FittedStrategy) -> EntityMatch:
        """Return the match of the strategy with this entity, with a fitted delay and low-pass."""
        own = [key for key, value in (("", best.shift), (" ", best.constant)) if value]
        best = self.comparison.fit(best, only=own) if own else self.comparison.measure_error(best)
        few = measure_few_errors(self.comparison, best, self.understood)
        found = best.residual <= self.understood or few is not None
        off = best.residual / self.step
        return EntityMatch(
            self.name, best.residual, self.measure_lag(), best.shift, best.constant, off, found
        )
