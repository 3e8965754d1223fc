"""How a strategy declares itself: one place from which everything else about it is derived.

``--set`` checking, completion, ``epic strategies NAME``, a tuner's bounds and the README's
table all read these declarations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

Value = float | str


class SettingError(ValueError):
    """A setting that the strategy does not have, or a value that it does not take."""


class Setting(NamedTuple):
    """One setting of a strategy.

    A setting is a number between ``low`` and ``high`` in ``unit``, or one of ``choices``, or
    either. ``whole`` numbers have no fraction. ``tune`` is the range worth searching, on a
    ``linear`` or ``log`` scale; None: not worth tuning.
    """

    name: str
    default: Value
    help: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    tune: tuple[float, float] | None = None
    scale: Literal["linear", "log"] = "linear"
    whole: bool = False

    @property
    def range(self) -> str:
        """What the setting takes, in words: ``0 to 10 s``, ``auto, or 0 to 1 s``."""
        parts = [*self.choices]
        if self.low is not None and self.high is not None:
            numbers = f"{self.low:.12g} to {self.high:.12g}"
            unit = f" {self.unit}" if self.unit else ""
            parts.append(("a whole number from " if self.whole else "") + numbers + unit)
        if len(parts) < 2:
            return "".join(parts)
        return ", ".join(parts[:-1]) + f" or {parts[-1]}"

    def check(self, value: object) -> Value:
        """The value as the strategy takes it; raises ``SettingError`` with the range."""
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._number(value)
        if number is None:
            raise SettingError(f"{self.name}={value} is not allowed: {self.name} is {self.range}")
        return number

    def _number(self, value: object) -> float | None:
        if self.low is None or self.high is None or not isinstance(value, float | int | str):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
        if not self.low <= number <= self.high or (self.whole and number != math.floor(number)):
            return None
        return number


class Declaration(NamedTuple):
    """What a strategy says of itself.

    ``summary`` is one line. ``family`` groups strategies that work alike. ``needs`` names what
    its packets must carry beyond position and stamp (``velocity``, ``arrival times``, ...).
    ``lag`` says in words how far behind the newest state it draws. ``on_loss`` is what it draws
    when packets stay away. ``source`` is where the algorithm comes from, ``proof`` how the
    agreement with it was established.
    """

    name: str
    summary: str
    family: str
    needs: tuple[str, ...]
    lag: str
    on_loss: str
    source: str
    proof: str
    settings: tuple[Setting, ...] = ()

    def values(self, given: Mapping[str, object]) -> dict[str, Value]:
        """All settings by name, the given ones checked; raises ``SettingError``."""
        known = {setting.name: setting for setting in self.settings}
        for name in given:
            if name not in known:
                raise SettingError(_unknown(self.name, name, list(known)))
        return {
            name: setting.check(given[name]) if name in given else setting.default
            for name, setting in known.items()
        }


def _unknown(strategy: str, name: str, known: list[str]) -> str:
    message = f"{strategy} has no setting {name!r}"
    if not known:
        return f"{message}: it has none"
    near = nearest(name, known)
    return message + (f"; did you mean {near!r}?" if near else f"; it has {', '.join(known)}")


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that looks most like a mistyped one."""
    import difflib  # only a mistake needs it

    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return matches[0] if matches else None
