"""What a metric is: a name, a unit, which values are better, and how it is computed."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Better(enum.Enum):
    """Which values of a metric are the better ones."""

    LOW = enum.auto()
    HIGH = enum.auto()
    NEAR_ZERO = enum.auto()
    NEITHER = enum.auto()


class Section(enum.Enum):
    """The part of the table that shows a metric; DATA: only CSV and JSON lines have it."""

    ACCURACY = enum.auto()
    SMOOTHNESS = enum.auto()
    DATA = enum.auto()


@dataclass(frozen=True)
class Metric:
    """One metric.

    ``name`` is what CSV, JSON lines and ``--sort`` call it, ``title`` its head in tables.
    ``value`` is in ``unit`` ("length" is the recording's own, "" a number without one), NaN where
    there is not enough to say. ``format`` writes it for people; where it changes the unit, the
    title says so. Where there is no room for all columns, those of the smallest ``weight`` are
    left out. ``interval``: it can be computed of cells that are drawn again (``Resampled``).
    """

    name: str
    title: str
    unit: str
    better: Better
    format: Callable[[float], str]
    help: str
    value: Callable[[Any], Any]
    section: Section = Section.SMOOTHNESS
    weight: int = 0
    interval: bool = False

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
        if math.isnan(value):
            return True, 0.0
        if self.better is Better.HIGH:
            return False, -value
        return False, abs(value) if self.better is Better.NEAR_ZERO else value
