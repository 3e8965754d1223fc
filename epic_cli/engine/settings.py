"""The kinds of settings that a strategy can declare, each with its checks and its two forms.

A setting has the form in which it is written, a number or a word (``--set quirks=on``), and the
form in which the strategy uses it (``True``). ``check`` makes the first of whatever is given,
``convert`` the second of the first.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Final, Literal

from epic_cli.engine.quantities import WRITTEN, parse

#: A setting as it is written: a number or a word.
Value = float | str

#: A setting as the strategy uses it.
Converted = float | int | bool | IntEnum


class SettingError(ValueError):
    """A setting that the strategy does not have, or a value that it does not take."""


# No dataclasses: making their methods would take a tenth of the start of "epic replay".


class Setting(ABC):
    """One setting of a strategy: ``Number``, ``Switch`` or ``Choice``.

    ``default`` is as it is written, ``help`` a sentence on what the setting does.
    """

    def __init__(self, name: str, default: Value, help: str) -> None:  # noqa: A002
        self.name: Final = name
        self.default: Final = default
        self.help: Final = help

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes."""
        return ()

    @property
    def range(self) -> str:
        """What the setting takes, in words: ``0 to 10 s``, ``auto or 0 to 1 s``."""
        *others, last = [*self.choices, *self._numbers()]
        return f"{', '.join(others)} or {last}" if others else last

    def check(self, value: object) -> Value:
        """The value as it is written; raises ``SettingError`` with the range."""
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._read(value)
        if number is None or not self._takes(number):
            raise SettingError(f"{self.name}={value} is not allowed: {self.name} is {self.range}")
        return number

    @abstractmethod
    def convert(self, value: Value) -> Converted:
        """A checked value as the strategy uses it."""

    def _read(self, value: object) -> float | None:
        """The number that is given; None: it is none."""
        return _number(value)

    def _numbers(self) -> list[str]:
        """The numbers that it takes, in words."""
        return []

    def _takes(self, number: float) -> bool:  # noqa: ARG002 - words alone
        return False


class Number(Setting):
    """A number from ``low`` to ``high`` in ``unit``; it arrives as a float, or an int if ``whole``.

    ``unset`` is a word for "no number", such as ``auto``, which arrives as NaN. ``tune`` is the
    range worth searching, on a ``linear`` or ``log`` scale; None: not worth tuning.
    """

    def __init__(
        self,
        name: str,
        default: Value,
        help: str,  # noqa: A002
        unit: str,
        low: float,
        high: float,
        *,
        unset: str = "",
        tune: tuple[float, float] | None = None,
        scale: Literal["linear", "log"] = "linear",
        whole: bool = False,
    ) -> None:
        super().__init__(name, default, help)
        self.unit: Final = unit
        self.low: Final = low
        self.high: Final = high
        self.unset: Final = unset
        self.tune: Final = tune
        self.scale: Final = scale
        self.whole: Final = whole

    @property
    def choices(self) -> tuple[str, ...]:
        """The word for "no number", if there is one."""
        return (self.unset,) if self.unset else ()

    def convert(self, value: Value) -> float | int:
        """The number; NaN for ``unset``."""
        if isinstance(value, str):
            return math.nan
        return int(value) if self.whole else value

    def _read(self, value: object) -> float | None:
        if not isinstance(value, str) or self.unit not in WRITTEN:
            return _number(value)
        try:
            return parse(value, self.unit)
        except ValueError:
            return None

    def _numbers(self) -> list[str]:
        unit = f" {self.unit}" if self.unit else ""
        if self.low == -math.inf and self.high == math.inf:
            return [("a whole number" if self.whole else "a number") + (unit and f" of{unit}")]
        kind = "a whole number from " if self.whole else ""
        return [f"{kind}{self.low:.12g} to {self.high:.12g}{unit}"]

    def _takes(self, number: float) -> bool:
        in_range = math.isfinite(number) and self.low <= number <= self.high
        return in_range and (not self.whole or number == math.floor(number))


class Switch(Setting):
    """Something that is ``on`` or ``off``; it arrives as a bool.

    ``tune`` says whether both are worth trying: one that brings back an original's mistakes, or
    says what a recording is of, is not.
    """

    def __init__(self, name: str, default: Value, help: str, *, tune: bool = True) -> None:  # noqa: A002
        super().__init__(name, default, help)
        self.tune: Final = tune

    @property
    def choices(self) -> tuple[str, ...]:
        """The two states."""
        return ("on", "off")

    def check(self, value: object) -> Value:
        """The state; Python's own truth values are taken as well."""
        if isinstance(value, bool):
            return "on" if value else "off"
        return super().check(value)

    def convert(self, value: Value) -> bool:
        """Whether it is on."""
        return value == "on"


class Choice(Setting):
    """One member of an enumeration, which is how it arrives.

    The words are the members' names in small letters, with hyphens. With ``numbered`` the
    members' values, which follow one another, are taken as well. ``tune`` as for a ``Switch``.
    """

    def __init__(
        self,
        name: str,
        default: Value,
        help: str,  # noqa: A002
        of: type[IntEnum],
        *,
        numbered: bool = False,
        tune: bool = True,
    ) -> None:
        super().__init__(name, default, help)
        self.of: Final = of
        self.tune: Final = tune
        self.numbered: Final = numbered

    @property
    def choices(self) -> tuple[str, ...]:
        """A word for each member, in their order."""
        return tuple(name.lower().replace("_", "-") for name in self.of.__members__)

    def convert(self, value: Value) -> IntEnum:
        """The member."""
        if isinstance(value, str):
            return self.of[value.upper().replace("-", "_")]
        return self.of(int(value))

    def _numbers(self) -> list[str]:
        return [f"a whole number from {min(self.of)} to {max(self.of)}"] if self.numbered else []

    def _takes(self, number: float) -> bool:
        return self.numbered and number in [*self.of]


def _number(value: object) -> float | None:
    if not isinstance(value, float | int | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
