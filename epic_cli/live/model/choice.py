"""The strategy that draws, and its settings: changed step by step, or chosen by name."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from epic_cli.engine.parameter_base import Setting, Value
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration, remote_names

#: The steps of a number that is tuned by its size; those of others are a part of their range.
_RUNGS = [one * 10.0**power for power in range(-12, 13) for one in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)]
_PARTS = 20

#: Below this a number of which nothing is known becomes 0; and where ``auto`` goes.
_LEAST, _USUAL = 0.001, 0.1


class Choice:
    """A strategy and its settings; each strategy keeps the settings that it was given."""

    def __init__(self, spec: StrategySpec) -> None:
        self.strategy = spec.name
        self.names = remote_names()
        if spec.name not in self.names:
            self.names.append(spec.name)
        self._values: dict[str, dict[str, Value]] = {
            spec.name: declaration(spec.name).values(spec.settings)
        }
        self._selected: dict[str, int] = {}
        self._in_use = spec.name, self.values

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Those that the strategy has."""
        return declaration(self.strategy).settings

    @property
    def values(self) -> dict[str, Value]:
        """All settings as they are."""
        if self.strategy not in self._values:
            self._values[self.strategy] = declaration(self.strategy).values({})
        return self._values[self.strategy]

    @property
    def selected(self) -> Setting | None:
        """The setting that steps are of; None: there are no settings."""
        settings = self.settings
        return settings[self._selected.get(self.strategy, 0)] if settings else None

    @property
    def spec(self) -> StrategySpec:
        """What is chosen."""
        return StrategySpec(self.strategy, self.values)

    def use(self) -> None:
        """What is chosen is in use."""
        self._in_use = self.strategy, self.values

    def go_back(self) -> None:
        """What was in use before is chosen again."""
        self.strategy, values = self._in_use
        self._values[self.strategy] = values

    def go(self, steps: int) -> None:
        """Another strategy, so many places further in the list."""
        place = self.names.index(self.strategy) + steps
        self.strategy = self.names[place % len(self.names)]

    def select(self, steps: int) -> None:
        """Another setting."""
        if self.settings:
            place = self._selected.get(self.strategy, 0) + steps
            self._selected[self.strategy] = place % len(self.settings)

    def step(self, upwards: bool) -> bool:
        """The selected setting, one step up or down within its range; whether it changed."""
        if self.selected is None:
            return False
        name = self.selected.name
        return self._put(name, stepped(self.selected, self.values[name], upwards))

    def restore(self) -> bool:
        """The selected setting at its default; whether it changed."""
        return self.selected is not None and self._put(self.selected.name, self.selected.default)

    def _put(self, name: str, value: Value) -> bool:
        changed = self.values[name] != value
        self._values[self.strategy] = {**self.values, name: value}
        return changed


def stepped(setting: Setting, value: Value, upwards: bool) -> Value:
    """The next value up or down; at an end the same."""
    if not isinstance(setting, Number):
        words = setting.choices
        if isinstance(value, str) and value in words:
            place = words.index(value) + (1 if upwards else -1)
            return words[min(max(place, 0), len(words) - 1)]
        return words[0] if words else value
    if isinstance(value, str):  # the word for no number
        usual = setting.tune[0] if setting.tune else _USUAL
        return _within(setting, usual) if upwards else value
    after = _within(setting, _next(setting, value, upwards))
    if after == value and not upwards and setting.unset:
        return setting.unset
    return after


def _within(setting: Number, value: float) -> float:
    if setting.whole:
        value = round(value)
    return float(f"{min(max(value, setting.low), setting.high):.9g}")


def _next(setting: Number, value: float, upwards: bool) -> float:
    """The next part of the range that is worth tuning; outside of it, or without, a rung."""
    least = _LEAST
    if setting.whole and abs(value) < 10:
        return math.floor(value) + 1 if upwards else math.ceil(value) - 1
    if setting.tune:
        low, high = setting.tune
        least = low / 10
        if setting.scale == "linear":
            least = step = _rung((high - low) / _PARTS)
            step = math.ceil(step) if setting.whole else step
            places = value / step
            place = math.floor(places + 1e-6) + 1 if upwards else math.ceil(places - 1e-6) - 1
            if low - step / 2 <= place * step <= high + step / 2:
                return place * step
    return _further(value, least) if upwards else -_further(-value, least)


def _further(value: float, least: float) -> float:
    """The next rung above, of a ladder that goes through 0."""
    if value < 0:
        below = _RUNGS[max(bisect_left(_RUNGS, -value * (1 - 1e-6)) - 1, 0)]
        return -below if below >= least * 0.999 else 0.0
    return _rung(value * (1 + 2e-6) if value else least)


def _rung(value: float) -> float:
    """The rung at or above a value above 0."""
    return _RUNGS[min(bisect_left(_RUNGS, value * (1 - 1e-6)), len(_RUNGS) - 1)]


class NameLine:
    """Takes keys until ``is_open`` is False; ``chosen`` is then the name, None: no other one."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._typed = ""
        self.is_open = True
        self.chosen: str | None = None

    def press(self, key: str) -> None:
        """A character, or ``enter``, ``escape``, ``tab`` or ``backspace``."""
        found = self._meant()
        if key == "escape":
            self.is_open = False
        elif key == "enter":
            self.is_open = False
            self.chosen = found[0] if found and self._typed else None
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "tab":
            self._typed = found[0] if found else self._typed
        elif len(key) == 1 and key.isprintable():
            self._typed += key

    def _meant(self) -> list[str]:
        """What begins like this, then what has it in it."""
        begun = [one for one in self._names if one.startswith(self._typed)]
        return begun + [one for one in self._names if self._typed in one and one not in begun]

    @property
    def text(self) -> str:
        """What is shown."""
        return f"strategy: {self._typed}_  {' '.join(self._meant()) or 'there is none like it'}"
