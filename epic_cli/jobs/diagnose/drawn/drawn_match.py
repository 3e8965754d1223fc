"""The best explanation of what a game drew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.drawn.entity import MANY, PROBABLE
from epic_cli.jobs.diagnose.drawn.entity_match import EntityMatch
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism import Mechanism
from epic_cli.jobs.diagnose.remedies.drawing import DrawingAdvice
from epic_cli.metrics.drawn_path import DrawnPath

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.mechanism.observations import Observation

#: Largest error, as a share of the usual step, of frames that resemble a strategy's.
LIKE = 0.2

#: The factor by which the next explanation is worse than a probable one.
AHEAD = 1.5

#: A low-pass is there if the error without it is this many times as large.
CLEARER = 2.0


class DrawnMatch(NamedTuple):
    """The best explanation of what was drawn."""

    #: The strategy that draws it, and the best one without a low-pass.
    best: FittedStrategy
    without: FittedStrategy
    #: The usual distance from packet to packet (RMS).
    step: float
    #: A distance below this is none.
    enough: float
    #: An error of this at most explains the frames.
    understood: float
    #: True if there is a second smoothing.
    smoothed: bool
    #: The lag behind the packets' stamps (s).
    lag: float
    #: The time from frame to frame, and between changes if these are not in each frame (s).
    frame: float
    tick: float
    entities: tuple[EntityMatch, ...]
    #: The frames of the first of the entities.
    path: DrawnPath
    #: How to draw them better.
    advice: DrawingAdvice = DrawingAdvice()
    #: The strategy in parts, if these explain the frames no worse.
    mechanism: Mechanism | None = None
    #: Engines' strategies, and other parts, that draw the same.
    same_as: tuple[StrategySpec, ...] = ()
    #: True if packets are stamped with the time of the frame that reads them; None: the same is
    #: drawn either way.
    by_frame: bool | None = None
    #: What the difference goes with, where no strategy is found (``explain_rest``).
    rest: str = ""
    #: True if packets at the time of a frame are read behind it, and would draw another one.
    behind: bool = False
    #: The error without leaps, as a share of a step; None: nothing leaps.
    calm: float | None = None
    #: What is true of the frames though no strategy is found (``find_kind``), and how far behind
    #: the fastest packets those on a path are (5 and 95 %, s).
    kind: str = ""
    delays: tuple[float, float] | None = None
    #: The errors of the frames that it draws, and of the few others, as shares of a step; None: it
    #: draws no more frames than others.
    rest_off: tuple[float, float] | None = None
    #: What is true of frames that are of no kind.
    seen: tuple[Observation, ...] = ()
    #: True if arrivals are not the times of frames.
    between_frames: bool = False
    #: A constant offset of all that is drawn, which is left out; empty: there is none.
    offset: tuple[float, ...] = ()
    #: The frames that the strategy does not draw show the newest state.
    shows_newest: bool = False
    #: The least and the largest ``snap`` that draw the same; None: the frames tell its number.
    snap_range: tuple[float, float] | None = None
    #: The match of the entities that are drawn otherwise.
    other: DrawnMatch | None = None

    @property
    def off(self) -> float:
        """The error of the best strategy without leaps, as a share of the usual step."""
        return self.best.residual / self.step if self.calm is None else self.calm

    @property
    def found(self) -> bool:
        """True if the error is small enough to say that the strategy draws the frames."""
        # where teleports make the usual step long, the error of the other frames counts, too
        leaps = self.calm is not None and self.calm * self.step > self.understood
        near = self.best.residual <= self.understood
        near &= not leaps or self.best.residual <= self.enough or self.best.draws_most
        return near or self.rest_off is not None

    @property
    def likely(self) -> bool:
        """True if the strategy is close to the frames, and clearly ahead of all others.

        The more numbers are fitted, the closer comes what is drawn in another way.
        """
        ahead = self.mechanism is not None and self.mechanism.lead >= AHEAD
        numbers = len(self.best.numbers)
        near = self.off <= PROBABLE / max(numbers, 1)
        return not self.found and ahead and numbers < MANY and near

    @property
    def like(self) -> bool:
        """True if the strategy resembles what the game drew."""
        return self.best.residual <= max(self.enough, LIKE * self.step)
