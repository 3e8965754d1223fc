"""Parameters of strategies, links and matches, each declared once.

A parameter has a name, a unit, a range, a default and a sentence. A table is a tuple of them,
beside the frozen spec whose fields they are. All front ends are made from it: options of the
command line (``shell/declared.py``), keys of descriptions (``description.read_parameters``),
settings of strategies (``-s NAME+key=value``), the tables of the guides.

Example:
    >>> DELAY = Number("delay", 0.1, "How far in the past to draw.", "s", 0, 10)
    >>> DELAY.read("80ms"), DELAY.write(0.08), DELAY.range
    (0.08, '0.08', '0 to 10 s')
    >>> DELAY.read("1m")
    Traceback (most recent call last):
    ...
    epic_cli.engine.parameter_base.SettingError: 1m is not allowed: it must be 0 to
    10 s; write 0.08 or 80ms (units: s, ms, us)

A value has two forms: written, a number or a word (``on``); used, anything (``True``). ``check``
makes a written value of any input, ``convert`` a used one of a written one, ``read`` a used one of
a text, and ``write`` a text that reads back as the same value.

"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, Literal

from epic_cli.engine.parameter_base import Parameter, SettingError, Value, plain_number, shown
from epic_cli.engine.quantities import EXAMPLES, parse

#: Doubles hold each whole number up to this one.
_EXACT = 2**53


class Number(Parameter):
    """A number from ``low`` to ``high`` in ``unit``; it arrives as a float, or an int if ``whole``.

    ``words`` stand for numbers outside of the range: ``{"unlimited": math.inf}``. ``unset`` is
    one of them, for "no number", such as ``auto``, which arrives as NaN. ``tune`` is the range
    worth searching, and that of a slider, on a ``linear`` or ``log`` scale; None: not worth tuning.
    """

    def __init__(
        self,
        name: str,
        default: Any,
        help: str,  # noqa: A002
        unit: str = "",
        low: float = -math.inf,
        high: float = math.inf,
        *,
        unset: str = "",
        words: Mapping[str, Any] | None = None,
        tune: tuple[float, float] | None = None,
        scale: Literal["linear", "log"] = "linear",
        whole: bool = False,
        field: str = "",
    ) -> None:
        super().__init__(name, default, help, field=field)
        self.unit: Final = unit
        self.low: Final = low
        self.high: Final = high
        self.unset: Final = unset
        self.words: Final = {unset: math.nan} if unset else dict(words or {})
        self.tune: Final = tune
        self.scale: Final = scale
        self.whole: Final = whole

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that stand for numbers."""
        return tuple(self.words)

    def convert(self, value: Value) -> Any:
        """The number; NaN for ``unset``."""
        if isinstance(value, str):
            return self.words[value]
        return int(value) if self.whole else value

    def write(self, value: Any) -> str:
        """The word of the value, or its shortest digits."""
        for word, meaning in self.words.items():
            if value == meaning or (value != value and meaning != meaning):  # noqa: PLR0124 - NaN
                return word
        if isinstance(value, int) or not hasattr(value, "__float__"):
            return repr(value)
        return repr(float(value))  # also one of numpy's

    def verify(self, value: Any) -> None:
        """Raises ``SettingError`` where the number is out of range, and is no word's."""
        is_number = hasattr(value, "__float__")
        if not (value in self.words.values() or (is_number and self._takes(value))):
            raise SettingError(self._refusal(value))

    def show(self, value: Any) -> str:
        """Its word, or the number to twelve digits."""
        text = self.write(value)
        return text if text in self.words else super().show(value)

    def _check(self, value: object) -> Value:
        if value == "inf" and math.inf in self.words.values():
            return self.write(math.inf)  # a configuration can have it in the place of the word
        return super()._check(value)

    def _hint(self, text: str) -> str:
        if self._number(text) is not None:
            return ""
        is_quantity = self._has_units and (self.unit or self.high <= 1)  # without a unit: a share
        return super()._hint(text) or (f"; write {EXAMPLES[self.unit]}" if is_quantity else "")

    @property
    def _has_units(self) -> bool:
        return self.unit in EXAMPLES and not self.whole

    def _number(self, value: object) -> float | None:
        if not isinstance(value, str) or not self._has_units:
            number = plain_number(value)
            is_long = number is not None and abs(number) >= _EXACT and str(value).isdecimal()
            return int(str(value)) if is_long else number
        try:
            return parse(value, self.unit)
        except ValueError:
            return None

    def _numbers(self) -> list[str]:
        unit = f" {self.unit}" if self.unit else ""
        if self.low == -math.inf and self.high == math.inf:
            return [("a whole number" if self.whole else "a number") + (unit and f" of{unit}")]
        kind = "a whole number from " if self.whole else ""
        if self.high == math.inf:
            return [f"{kind}{_short(self.low)}{unit} or more"]
        return [f"{kind}{_short(self.low)} to {_short(self.high)}{unit}"]

    def _takes(self, number: float) -> bool:
        in_range = self.low <= number <= self.high and abs(number) != math.inf
        return in_range and (not self.whole or number == math.floor(number))


class Span(Number):
    """A time in seconds, or in send intervals: ``0.1``, ``100ms`` or ``1.8i``.

    Send intervals, which go up to ``INTERVALS``, arrive as a negative number.
    """

    INTERVALS: Final = 1000

    def __init__(
        self,
        name: str,
        default: Any,
        help: str,  # noqa: A002
        low: float,
        high: float,
        *,
        tune: tuple[float, float] | None = None,
        scale: Literal["linear", "log"] = "linear",
    ) -> None:
        super().__init__(name, default, help, "s", low, high, tune=tune, scale=scale)

    def convert(self, value: Value) -> Any:
        """The seconds, or minus the intervals."""
        intervals = self._intervals(value)
        return super().convert(value) if intervals is None else -intervals

    def write(self, value: Any) -> str:
        """The seconds, or the intervals with their letter."""
        return f"{-value:.17g}i" if value < 0 else super().write(value)

    def _check(self, value: object) -> Value:
        intervals = self._intervals(value)
        if intervals is not None and self.low <= intervals <= self.INTERVALS:
            return f"{_short(intervals)}i"
        return super()._check(value)

    def _hint(self, text: str) -> str:
        hint = "; write 0.08, 80ms or 1.8i (units: s, ms, us, and i: send intervals)"
        return hint if self._number(text) is None else ""

    def _intervals(self, value: object) -> float | None:
        text = value.strip().lower() if isinstance(value, str) else ""
        return plain_number(text.removesuffix("i")) if text.endswith("i") else None

    def _numbers(self) -> list[str]:
        return [*super()._numbers(), f"{_short(self.low)}i to {self.INTERVALS}i"]


class Switch(Parameter):
    """Something that is ``on`` or ``off``; it arrives as a bool.

    ``tune`` says whether both are worth trying: one that brings back an original's mistakes, or
    says what a recording is of, is not.
    """

    def __init__(
        self,
        name: str,
        default: Value | bool,
        help: str,  # noqa: A002
        *,
        tune: bool = True,
        field: str = "",
    ) -> None:
        super().__init__(name, default, help, field=field)
        self.tune: Final = tune

    @property
    def choices(self) -> tuple[str, ...]:
        """The two states."""
        return ("on", "off")

    def convert(self, value: Value) -> bool:
        """Whether it is on."""
        return value == "on"

    def write(self, value: Any) -> str:
        """The word of the state."""
        return "on" if value else "off"

    def _check(self, value: object) -> Value:
        if isinstance(value, bool):  # Python's own truth values
            return self.write(value)
        return super()._check(value)


class Choice(Parameter):
    """One of some words, or one member of an enumeration; that is how it arrives.

    The words of an enumeration are the members' names in small letters, with hyphens. ``unset`` is
    a word for "none of them", which arrives as None. With ``numbered`` the members' values, which
    follow one another, are taken as well. ``tune`` as for a ``Switch``.
    """

    def __init__(
        self,
        name: str,
        default: Value | None,
        help: str,  # noqa: A002
        of: type[IntEnum] | Iterable[str],
        *,
        unset: str = "",
        numbered: bool = False,
        tune: bool = True,
        field: str = "",
    ) -> None:
        super().__init__(name, default, help, field=field)
        self._members: dict[str, Any] = {}
        if isinstance(of, type):
            members = of.__members__.items()
            self._members = {key.lower().replace("_", "-"): member for key, member in members}
        else:
            self._members = {word: word for word in of}
        if unset:
            self._members[unset] = None
        self.tune: Final = tune
        self.numbered: Final = numbered

    @property
    def choices(self) -> tuple[str, ...]:
        """The words, or one for each member, in their order."""
        return tuple(self._members)

    def convert(self, value: Value) -> Any:
        """The word, or the member."""
        if isinstance(value, str):
            return self._members[value]
        return next(member for member in self._members.values() if member == value)

    def write(self, value: Any) -> str:
        """The word."""
        return next((word for word, member in self._members.items() if member == value), str(value))

    def _numbers(self) -> list[str]:
        if not self.numbered:
            return []
        values = self._members.values()
        return [f"a whole number from {min(values)} to {max(values)}"]

    def _takes(self, number: float) -> bool:
        return self.numbered and number in self._members.values()


class Custom(Parameter):
    """A value of its own ``kind``, which ``read`` makes of a text and ``write`` writes.

    ``read`` raises ``ValueError``. ``form`` is how such a value is written: ``50ms or 20packets``.
    ``words`` are those that a shell can propose, each with a sentence.
    """

    def __init__(
        self,
        name: str,
        default: Any,
        help: str,  # noqa: A002
        form: str,
        read: Callable[[str], Any],
        write: Callable[[Any], str] = str,
        *,
        kind: type | tuple[type, ...] = (),
        words: Callable[[], Iterable[tuple[str, str | None]]] = tuple,
        field: str = "",
    ) -> None:
        super().__init__(name, default, help, field=field)
        self.form: Final = form
        self.kind = kind
        self._read = read
        self._write = write
        self._words = words

    @property
    def range(self) -> str:
        """How it is written."""
        return self.form

    def convert(self, value: Value) -> Any:
        """What ``read`` makes of it."""
        return self._read(str(value))

    def write(self, value: Any) -> str:
        """What ``write`` makes of it."""
        return self._write(value)

    def complete(self) -> Iterable[tuple[str, str | None]]:
        """The words that a shell can propose, each with a sentence."""
        return self._words()

    def _check(self, value: object) -> Value:
        try:
            self._read(str(value))
        except SettingError:
            raise
        except ValueError as error:
            said = str(error)
            whole = str(value) in said.replace("'", " ").split()  # it names what is wrong already
            refusal = said if whole else f"{shown(value)} is not allowed: {said}"
            raise SettingError(refusal) from error
        return str(value)


def file_name(text: str) -> str:
    """The name of a file; raises ``ValueError`` for none."""
    if not text:
        raise ValueError("it must be the name of a file")
    return text


def _short(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.12g}"
