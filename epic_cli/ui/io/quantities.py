"""Options that are quantities: seconds, shares, rates, each with its range and its units."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import click

from epic_cli.engine.quantities import parse
from epic_cli.ui.io.parameters import ParameterType


class _Quantity(ParameterType):
    """A number with an optional unit behind it, within a range."""

    unit: ClassVar = ""

    def __init__(self, lowest: float = 0.0, highest: float = math.inf) -> None:
        self.lowest = lowest
        self.highest = highest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Takes a number, alone or with one of the units behind it."""
        try:
            number = parse(str(value), self.unit)
        except ValueError as error:
            self.fail(f"{error}{self.otherwise}", param, ctx)
        if not self.lowest <= number <= self.highest:
            self.fail(f"{value!r} is out of range: it must be {self.range}", param, ctx)
        return number

    @property
    def range(self) -> str:
        """The range, in words."""
        return f"{self.lowest:g} to {self.highest:g} {self.unit}".rstrip()

    @property
    def otherwise(self) -> str:
        """What it takes besides numbers, as the end of a sentence."""
        return ""


class Seconds(_Quantity):
    """Seconds: ``0.08`` or ``80ms``."""

    name = "seconds"
    unit: ClassVar = "s"


class Duration(Seconds):
    """Seconds, or ``endless``."""

    @property
    def otherwise(self) -> str:
        """The word."""
        return ", or endless"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Takes ``endless`` too."""
        if value in ("endless", math.inf):
            return math.inf
        return super().convert(value, param, ctx)


class Length(_Quantity):
    """A length in the recording's own unit, without one behind it."""

    name = "units"
    unit: ClassVar = "length units"


class Share(_Quantity):
    """A share of 1: ``0.02`` or ``2%``."""

    name = "share"

    def __init__(self, highest: float = 1.0) -> None:
        super().__init__(0.0, highest)

    @property
    def range(self) -> str:
        """The range, in words."""
        return f"0 to {self.highest:g}, or 0% to {100 * self.highest:g}%"


class Rate(_Quantity):
    """Times a second: ``20`` or ``20hz``."""

    name = "hertz"
    unit: ClassVar = "Hz"


class SendRate(Rate):
    """Times a second, or ``recorded``."""

    @property
    def otherwise(self) -> str:
        """The word."""
        return ", or recorded"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Takes ``recorded`` too."""
        return value if value == "recorded" else super().convert(value, param, ctx)


class Span(ParameterType):
    """``start:end`` in seconds; either may be left out."""

    name = "start:end"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """The two times."""
        if isinstance(value, tuple):
            return value
        start, colon, end = str(value).partition(":")
        try:
            span = float(start or -math.inf), float(end or math.inf)
        except ValueError:
            span = math.nan, math.nan
        if not (colon and span[0] < span[1]):
            self.fail(f"{value!r} is not a span: write 10:20, 10: or :20, in seconds", param, ctx)
        return span


class FiniteRange(click.FloatRange):
    """A number within a range; not a number is none, which click compares with both ends."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Takes a number that can be compared."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        return number
