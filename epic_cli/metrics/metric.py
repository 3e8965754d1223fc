"""The declaration of a metric, and the weights of a score by kind of game."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.description import split
from epic_cli.engine.parameters import Choice, find_nearest
from epic_cli.metrics.digits import format_three_digits

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.truth import Motion, SampledTruth, SplitErrors


#: A lag of this (s), or an error of as much movement, costs 1.
SCALE = 0.1

#: Usual distance (length units) at which an aim is judged.
AIM_RANGE = 20.0


class Better(enum.Enum):
    """The direction in which a metric's values are better."""

    LOW = enum.auto()
    HIGH = enum.auto()
    NEAR_ZERO = enum.auto()
    NEITHER = enum.auto()


class MetricSection(enum.Enum):
    """The section of the table that shows a metric."""

    ACCURACY = enum.auto()
    SMOOTHNESS = enum.auto()


@dataclass(frozen=True)
class DrawnRows:
    """Rows drawn at n ticks, ``shown`` (n, 3) with a ``status`` (n), beside the ``truth``.

    ``lag`` (s) is 0 where unknown. ``rotations`` (n, 4) are those that were drawn, ``turn_lag`` (s)
    late, None where nothing turns; an aim is judged at the ``aim_range``. ``sent`` are the states
    that were sent (``SentStates``), None where unknown.
    """

    shown: Floats
    status: Integers
    truth: SampledTruth
    lag: float = 0.0
    rotations: Floats | None = None
    turn_lag: float = 0.0
    aim_range: float = AIM_RANGE
    sent: Any = None

    @cached_property
    def along(self) -> Floats:
        """The squared errors (n) along the truth's direction of movement."""
        return self.truth.split_errors(self.shown, self.truth.motion).along

    @cached_property
    def late_motion(self) -> Motion:
        """The true motion at the ticks, delayed by the lag."""
        return self.truth.truth.interpolate(self.truth.times, self.lag)

    @cached_property
    def late(self) -> SplitErrors:
        """The squared errors (n) left at the lag, along and across; 0 in another segment."""
        return self.truth.split_errors(self.shown, self.late_motion)


@dataclass(frozen=True)
class Metric:
    """One metric: its names, its format, and its computation.

    ``name`` is its name in CSV, JSON lines and ``--sort``, ``title`` its head in tables (the name
    unless given). ``value`` computes it, in ``unit`` ("length" is the recording's own, "" a number
    without one), from a ``Measurement``; NaN where there is not enough to say. ``format`` writes it
    for people; where it changes the unit, the title says so. Where there is no room for all
    columns, those of the smallest ``weight`` are left out; 0: only CSV and JSON lines have it.

    ``interval``: ``value`` takes ``Resampled`` as well, in which each attribute is an array over
    the draws; an interval needs nothing else. ``sums`` are added up over the judged rows, by name,
    each a value for every row: ``measured.mean(name)`` is their mean, of a measurement and of each
    draw alike.
    """

    name: str
    help: str
    value: Callable[[Any], Any]
    title: str = ""
    unit: str = ""
    better: Better = Better.LOW
    format: Callable[[float], str] = format_three_digits
    section: MetricSection = MetricSection.SMOOTHNESS
    weight: int = 0
    interval: bool = False
    sums: Mapping[str, Callable[[DrawnRows], Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Use the name as the title if there is no title."""
        object.__setattr__(self, "title", self.title or self.name)

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the two ends of the metric's interval."""
        return f"{self.name}_low", f"{self.name}_high"

    def format_cell(self, value: float, resolution: float = 0.0) -> str:
        """Format a value for a table; a length below the data's ``resolution`` is written as 0."""
        if math.isnan(value):
            return "-"
        if self.unit == "length" and abs(value) < resolution:
            return "0"
        return self.format(value)

    def rank(self, value: float) -> tuple[bool, float]:
        """Return a sort key for a value: the best value first, unknown values last."""
        return math.isnan(value), 0.0 if math.isnan(value) else float(self.compute_key(value))

    def compute_key(self, value: Any) -> Any:
        """Return a number, or an array, that is smaller for better values."""
        if self.better is Better.HIGH:
            return -value
        return abs(value) if self.better is Better.NEAR_ZERO else value


def divide_sums(measured: Any, part: str, whole: str = "turn_rows") -> Any:
    """Return one sum of a measurement divided by another; NaN if the divisor is 0."""
    import numpy as np  # help needs none

    divisor = measured.mean(whole)
    if isinstance(divisor, float):  # of each entity by itself: arrays would take most of the time
        return measured.mean(part) / divisor if divisor > 0 else math.nan
    some = divisor > 0
    return np.where(some, measured.mean(part) / np.where(some, divisor, 1.0), math.nan)


class Weights(NamedTuple):
    """The weights of the score's costs; only their ratios matter."""

    accuracy: float = 1.0
    smoothness: float = 1.0
    latency: float = 1.0
    recovery: float = 1.0
    overshoot: float = 0.0
    backward: float = 0.0
    across: float = 0.0
    turning: float = 1.0
    aim: float = 0.0


def make_weights(given: Mapping[str, float], others: Weights | None = None) -> Weights:
    """Return weights from those ``given``; missing ones come from ``others`` or the defaults.

    Raises ``ValueError`` for an unknown name, a weight below 0, or only zeros.
    """
    for name, value in given.items():
        if name not in Weights._fields:
            near = find_nearest(name, list(Weights._fields))
            hint = f"did you mean {near!r}?" if near else f"the weights are {_list_names()}"
            raise ValueError(f"there is no weight {name!r}: {hint}")
        if not 0 <= value < math.inf:
            raise ValueError(f"the weight {name}={value:g} is not allowed: it must be 0 or more")
    weights = (others or Weights())._replace(**given)
    if not any(drop_turning(weights)):
        raise ValueError(
            "no weight is above 0, apart from turning and aim: give accuracy=1, for example"
        )
    if not any(drop_turning(weights)._replace(recovery=0.0)):
        raise ValueError(
            "recovery alone makes no score where there is nothing to recover from:"
            " give another weight as well, such as accuracy=0.01"
        )
    return weights


def drop_turning(weights: Weights) -> Weights:
    """Return the weights without the costs of rotation, for recordings without rotations."""
    return weights._replace(turning=0.0, aim=0.0)


def _list_names() -> str:
    return ", ".join(Weights._fields)


class GameKind(NamedTuple):
    """A kind of game, its weights, and the reason for these weights (``why``)."""

    name: str
    weights: Weights
    why: str


#: Kinds of games; the default weights are for none of them.
GAMES = (
    GameKind(
        "shooter",
        Weights(
            accuracy=1,
            smoothness=1,
            latency=0.5,
            recovery=2,
            overshoot=2,
            backward=1,
            across=3,
            aim=1,
        ),
        # Bernier 2001, "Latency Compensating Methods": the server rewinds by what the view lags
        "the server rewinds to what the shooter saw, so lag costs little; an opponent drawn where"
        " he never was, beside his way above all, is a hit that the rewind refuses, and where he"
        " aims is a warning",
    ),
    GameKind(
        "vehicle",
        Weights(accuracy=2, smoothness=2, latency=2, recovery=1, overshoot=1, backward=0.5),
        # Murphy 2011, "Believable Dead Reckoning for Networked Games"
        "side by side at speed, lag is distance and a jerk looks like a crash; wheels may overshoot"
        " a little",
    ),
    GameKind(
        "fighting",
        Weights(accuracy=1, smoothness=0.5, latency=4, recovery=1, overshoot=1, backward=0.5),
        "a move must be seen in time to block it: each frame of lag is one less to react in",
    ),
    GameKind(
        "observer",
        Weights(
            accuracy=0.5, smoothness=4, latency=0, recovery=2, overshoot=1, backward=2, across=0.5
        ),
        "a spectator never answers: a second late is fine; a jerk, a step back or a wrong curve is"
        " not",
    ),
)

#: The option for a kind of game.
GAME = Choice("weights", None, "Use the weights of this kind of game, which --help-all lists.",
              [game.name for game in GAMES])  # fmt: skip


class Weighing(NamedTuple):
    """The weights of a score, and the distance (length) at which an aim is judged."""

    weights: Weights = Weights()
    aim_range: float = AIM_RANGE

    @classmethod
    def parse(cls, text: str) -> Weighing:
        """Parse ``shooter,accuracy=2,aim_range=20``: a kind of game, and changes to its weights.

        Raises ``ValueError``.
        """
        games = {game.name: game.weights for game in GAMES}
        usual, given = None, {}
        for entry in split(text):
            if entry.key:
                try:
                    given[entry.key] = float(entry.value)
                except ValueError:
                    raise ValueError(f"{str(entry)!r} is not of the form name=number") from None
            elif entry.value not in games:
                raise ValueError(
                    f"there is no game {entry.value!r}: choose from {', '.join(games)}"
                )
            else:
                usual = games[entry.value]
        aim_range = given.pop("aim_range", AIM_RANGE)
        if not 1e-6 <= aim_range <= 1e9:
            raise ValueError(f"aim_range={aim_range:g} is out of range: write 1e-06 to 1e+09")
        return cls(make_weights(given, usual), aim_range)
