"""A strategy's settings as a space to search: what their declarations call worth tuning."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.parameters import Choice, Number, Switch
from epic_cli.engine.strategies import declaration

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Setting, Value

#: Numbers are searched with so many digits: what is reported is what was evaluated.
DIGITS = 3

#: A word's place among an axis' words where the axis has a number instead.
NUMBER = 0


class Axis(NamedTuple):
    """One setting: its ``words``, and numbers from ``low`` to ``high``, None without any.

    A place on it is a word's index, 0 for the number where there is one, and how far the number is
    on its way from ``low`` to ``high``, 0 to 1. ``least`` and ``most`` are what the setting takes.
    """

    name: str
    default: Value
    words: tuple[str, ...] = ()
    low: float | None = None
    high: float = 0.0
    log: bool = False
    whole: bool = False
    least: float = -math.inf
    most: float = math.inf

    @property
    def numeric(self) -> bool:
        """Whether it has numbers."""
        return self.low is not None

    @property
    def kinds(self) -> int:
        """How many there are to choose from: words, and the number as one."""
        return len(self.words) + self.numeric

    def value(self, kind: int, share: float) -> Value:
        """The setting at a place."""
        if self.low is None:
            return self.words[kind]
        if kind != NUMBER:
            return self.words[kind - 1]
        share = min(max(share, 0.0), 1.0)
        if self.log:
            number = self.low * (self.high / self.low) ** share
        else:
            number = self.low + (self.high - self.low) * share
        if self.whole:
            return float(min(max(round(number), math.ceil(self.low)), math.floor(self.high)))
        return min(max(float(f"{number:.{DIGITS}g}"), self.low), self.high)

    def place(self, value: Value) -> tuple[int, float]:
        """Where a value is; a number beyond the ends is at the end."""
        if isinstance(value, str):
            return self.words.index(value) + self.numeric, 0.5
        low = self.low
        assert low is not None
        if self.log:
            share = math.log(max(value, low) / low) / math.log(self.high / low)
        else:
            share = (value - low) / (self.high - low)
        return NUMBER, min(max(share, 0.0), 1.0)

    def takes(self, number: float) -> bool:
        """Whether a number is one of those that are searched."""
        return self.low is not None and self.low <= number <= self.high

    def ends_at(self, bound: str) -> bool:
        """Whether the setting takes nothing beyond this end of the range worth tuning."""
        return (bound == "low" and self.low == self.least) or (
            bound == "high" and self.high == self.most
        )

    def at_bound(self, value: Value) -> str:
        """Which end of the range worth tuning a value stands at: ``low``, ``high`` or neither."""
        if isinstance(value, str) or not self.numeric:
            return ""
        _, share = self.place(value)
        return "low" if share < 0.01 else "high" if share > 0.99 else ""


class Point(NamedTuple):
    """A place on each axis."""

    kinds: tuple[int, ...]
    shares: tuple[float, ...]


class Space(NamedTuple):
    """A strategy with settings ``held`` as they are, and the axes of those that are searched."""

    strategy: str
    held: Mapping[str, Value]
    axes: tuple[Axis, ...]

    def settings(self, point: Point) -> dict[str, Value]:
        """The settings at a point that differ from their defaults, with those that are held."""
        found = dict(self.held)
        for axis, kind, share in zip(self.axes, point.kinds, point.shares, strict=True):
            value = axis.value(kind, share)
            if value != axis.default:
                found[axis.name] = value
        return found

    def point(self, settings: Mapping[str, Value]) -> Point:
        """Where these settings are; those that are not given are the defaults."""
        places = [one.place(settings.get(one.name, one.default)) for one in self.axes]
        return Point(tuple(kind for kind, _ in places), tuple(share for _, share in places))

    @property
    def numeric(self) -> list[int]:
        """The axes with numbers."""
        return [at for at, one in enumerate(self.axes) if one.numeric]

    @property
    def choices(self) -> list[int]:
        """The axes with more than one thing to choose from."""
        return [at for at, one in enumerate(self.axes) if one.kinds > 1]

    @property
    def combinations(self) -> int:
        """How many ways there are to choose."""
        return math.prod(one.kinds for one in self.axes)

    def every_kind(self) -> Iterator[tuple[int, ...]]:
        """All ways to choose."""
        return itertools.product(*(range(one.kinds) for one in self.axes))


def space_of(strategy: str, held: Mapping[str, object]) -> Space:
    """The space of a strategy's settings without those that are held; raises ``SettingError``."""
    declared = declaration(strategy)
    values = declared.values(held)
    kept = {name: values[name] for name in held}
    axes = [_axis(one) for one in declared.settings if one.name not in kept]
    return Space(strategy, kept, tuple(one for one in axes if one is not None))


def _axis(setting: Setting) -> Axis | None:
    """None: it is not worth tuning."""
    if isinstance(setting, Number):
        if setting.tune is None:
            return None
        low, high = setting.tune
        return Axis(
            setting.name,
            setting.default,
            setting.choices,
            float(low),
            float(high),
            setting.scale == "log",
            setting.whole,
            setting.low,
            setting.high,
        )
    if isinstance(setting, Switch | Choice) and setting.tune:
        return Axis(setting.name, setting.default, setting.choices)
    return None


def spread(count: int, axes: Sequence[Axis], skip: int = 0) -> list[Point]:
    """So many points all over the space, the same every time: the R sequence of Roberts 2018.

    It covers a space of any dimension evenly from the first point on ("The Unreasonable
    Effectiveness of Quasirandom Sequences"). ``skip`` leaves out those that came before.
    """
    size = 2 * len(axes)
    root = 2.0
    for _ in range(60):  # x^(size + 1) = x + 1
        root = (1 + root) ** (1 / (size + 1))
    found = []
    for number in range(skip + 1, skip + count + 1):
        place = [(0.5 + number * root ** -(one + 1)) % 1 for one in range(size)]
        kinds = tuple(int(place[2 * at + 1] * axis.kinds) for at, axis in enumerate(axes))
        found.append(Point(kinds, tuple(place[::2])))
    return found
