"""What a metric is: a name, a unit, which values are better, and how it is computed."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from epic_cli.metrics.digits import three_digits

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats, Integers
    from epic_cli.metrics.truth import SampledTruth


#: How far away (length units) an aim is judged, unless told otherwise.
AIM_RANGE = 20.0


class Better(enum.Enum):
    """Which values of a metric are the better ones."""

    LOW = enum.auto()
    HIGH = enum.auto()
    NEAR_ZERO = enum.auto()
    NEITHER = enum.auto()


class MetricSection(enum.Enum):
    """The part of the table that shows a metric."""

    ACCURACY = enum.auto()
    SMOOTHNESS = enum.auto()


@dataclass(frozen=True)
class DrawnRows:
    """What was drawn at n ticks, ``shown`` (n, 3) with a ``status`` (n), beside the ``truth``.

    ``lag`` (s) is how late it is, 0 where that is unknown. ``rotations`` (n, 4) are those that were
    drawn, ``turn_lag`` (s) late, None where nothing turns; an aim is judged at the ``aim_range``.
    """

    shown: Floats
    status: Integers
    truth: SampledTruth
    lag: float = 0.0
    rotations: Floats | None = None
    turn_lag: float = 0.0
    aim_range: float = AIM_RANGE

    @cached_property
    def along(self) -> Floats:
        """The squared errors (n) along the movement: the part in the truth's direction."""
        return self.truth.squares_along(self.shown - self.truth.positions, self.truth.velocities)

    @cached_property
    def late(self) -> tuple[Floats, Floats]:
        """The squares (n) along and across that the lag leaves, 0 in another segment."""
        truth = self.truth
        positions, velocities, segments = truth.truth.at(truth.times, self.lag)
        left = self.shown - positions
        left[segments != truth.segments] = 0.0
        along = truth.squares_along(left, velocities)
        # a part is never more than the whole
        across = (left * left).sum(axis=1) - along
        return along, across.clip(0.0)


@dataclass(frozen=True)
class Metric:
    """One metric, whole: what it is called, how it is written, how it is computed.

    ``name`` is what CSV, JSON lines and ``--sort`` call it, ``title`` its head in tables (the name
    unless given). ``value`` computes it, in ``unit`` ("length" is the recording's own, "" a number
    without one), from a ``Measurement``; NaN where there is not enough to say. ``format`` writes it
    for people; where it changes the unit, the title says so. Where there is no room for all
    columns, those of the smallest ``weight`` are left out; 0: only CSV and JSON lines have it.

    ``interval``: ``value`` takes ``Resampled`` as well, in which each attribute is an array over
    the draws; that is all that an interval needs. ``sums`` are what the metric adds up over the
    rows that count, by name, each a value for every row: ``measured.mean(name)`` is their mean, of
    a measurement and of each draw alike.
    """

    name: str
    help: str
    value: Callable[[Any], Any]
    title: str = ""
    unit: str = ""
    better: Better = Better.LOW
    format: Callable[[float], str] = three_digits
    section: MetricSection = MetricSection.SMOOTHNESS
    weight: int = 0
    interval: bool = False
    sums: Mapping[str, Callable[[DrawnRows], Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Takes the name for a title."""
        object.__setattr__(self, "title", self.title or self.name)

    @property
    def ends(self) -> tuple[str, str]:
        """What the ends of its interval are called."""
        return f"{self.name}_low", f"{self.name}_high"

    def cell(self, value: float, resolution: float = 0.0) -> str:
        """A value as tables show it; of a length, nothing below the data's ``resolution``."""
        if math.isnan(value):
            return "-"
        if self.unit == "length" and abs(value) < resolution:
            return "0"
        return self.format(value)

    def rank(self, value: float) -> tuple[bool, float]:
        """A key that sorts the best value first, and what is not known last."""
        return math.isnan(value), 0.0 if math.isnan(value) else float(self.key(value))

    def key(self, value: Any) -> Any:
        """What is smaller, the better the value is, of a number or an array."""
        if self.better is Better.HIGH:
            return -value
        return abs(value) if self.better is Better.NEAR_ZERO else value
