"""Parameters of strategies, links and matches, each declared once.

A parameter has a name, a unit, a range, a default and a sentence. A table is a tuple of them,
beside the frozen spec whose fields they are. All front ends are made from it: options of the
command line (``shell/declared.py``), keys of descriptions (``description.read_entries``),
settings of strategies (``-s NAME+key=value``), the tables of the guides.

Example:
    >>> DELAY = Number("delay", 0.1, "How far in the past to draw.", "s", 0, 10)
    >>> DELAY.read("80ms"), DELAY.write(0.08), DELAY.range
    (0.08, '0.08', '0 to 10 s')
    >>> DELAY.read("1m")
    Traceback (most recent call last):
    ...
    epic_cli.engine.parameters.SettingError: 1m is not allowed: it must be 0 to
    10 s; write 0.08 or 80ms (units: s, ms, us)

A value has two forms: written, a number or a word (``on``); used, anything (``True``). ``check``
makes a written value of any input, ``convert`` a used one of a written one, ``read`` a used one of
a text, and ``write`` a text that reads back as the same value.

"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Self

# No dataclasses: making their methods would take a tenth of the start of "epic replay".

#: By the unit of a quantity (``""``: a share of 1, ``length units``: the recording's own), the
#: suffixes that its number may have, each with its power of ten.
_SUFFIXES: dict[str, dict[str, int]] = {
    "s": {"s": 0, "ms": -3, "us": -6},
    "Hz": {"hz": 0, "khz": 3},
    "bit/s": {"bit": 0, "kbit": 3, "mbit": 6, "gbit": 9},
    "": {"%": -2},
    "length units": {},
}

#: How a quantity is written, by its unit.
EXAMPLES = {
    "s": "0.08 or 80ms (units: s, ms, us)",
    "Hz": "20 or 20hz (units: Hz, kHz)",
    "bit/s": "500kbit or 1mbit (units: bit, kbit, mbit, gbit, each a second)",
    "": "0.02 or 2%",
    "length units": "0.5, in the recording's own unit",
}

_QUANTITIES = {
    "s": "a time",
    "Hz": "a rate",
    "bit/s": "a rate",
    "": "a share",
    "length units": "a length",
}


def parse_quantity(text: str, unit: str) -> float:
    """Parse a number with an optional unit; return it in ``unit``.

    The result is the double nearest to the written decimal, so 80ms is 0.08. A ratio such as
    ``1/60`` and ``inf`` are accepted. Raise ``ValueError``, which says how a quantity of this unit
    is written.
    """
    try:
        if "/" in text:
            return float(parse_ratio(text, unit))
        number, power = _split_unit(text, unit)
        mantissa, _, exponent = number.partition("e")
        found = float(f"{mantissa}e{int(exponent or 0) + power}" if power else number)
        if not math.isnan(found):
            return found
    except (ArithmeticError, LookupError, ValueError):
        pass  # rejected like NaN
    raise ValueError(f"{text!r} is not {_QUANTITIES[unit]}: write {EXAMPLES[unit]}")


def parse_ratio(text: str, unit: str) -> Fraction:
    """Parse a number as an exact ratio; raise what ``float``, ``Fraction`` and a mapping raise."""
    from fractions import Fraction  # rarely needed

    number, power = _split_unit(text, unit)
    if "/" not in number and not 1e-9 < abs(float(number)) < 1e9:
        ratio = Fraction(float(number))  # not the decimal: it has all the zeros of 1e-999999999
    else:
        ratio = Fraction(number)
    return ratio * Fraction(10) ** power


def _split_unit(text: str, unit: str) -> tuple[str, int]:
    """Split a quantity into the text of its number and the power of ten of its unit."""
    text = text.strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz%")
    if "_" in text:
        raise ValueError(f"{text!r} contains an underscore: write the digits without it")
    if not number.strip("+-"):  # nan, inf
        return text, 0
    word = text[len(number) :]
    return number.strip(), _SUFFIXES[unit][word] if word else 0


def parse_span(text: str) -> tuple[float, float]:
    """Parse ``start:end`` in seconds; either may be left out. Raise ``ValueError``."""
    start, colon, end = text.partition(":")
    try:
        span = float(start or -math.inf), float(end or math.inf)
    except ValueError:
        span = math.nan, math.nan
    if not (colon and span[0] < span[1]):
        raise ValueError(f"{text!r} is not a span: write 10:20, 10: or :20, in seconds")
    return span


# ------------------------------------------------------------- parameters

#: A value as it is written: a number or a word.
Value = float | str

#: A setting as the strategy uses it.
Converted = float | int | bool | str | IntEnum


class SettingError(ValueError):
    """An error: a setting or parameter does not exist, or does not accept the value.

    ``about`` are the names of settings that contradict each other.
    """

    def __init__(self, message: str, *about: str) -> None:
        super().__init__(message)
        self.about = about


class Parameter(ABC):
    """A parameter: the base class of ``Number``, ``Switch``, ``Choice`` and ``Custom``.

    ``default`` is as it is written for a setting of a strategy, as it is used for a field of a
    spec; ``help`` is a sentence on what the parameter does. ``field`` is the field of the spec,
    where that has another name. One that may be ``repeated`` has several values.
    """

    #: What a program may give in the place of a text.
    kind: type | tuple[type, ...] = ()
    repeated = False

    def __init__(self, name: str, default: Any, help: str, *, field: str = "") -> None:  # noqa: A002
        self.name: Final = name
        self.default: Final = default
        self.help: Final = help
        self.field: Final = field or name

    def replace_default(self, value: object) -> Self:
        """Return a copy of the parameter with another default."""
        other = copy.copy(self)
        vars(other)["default"] = self.check(value)
        return other

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that the parameter accepts."""
        return ()

    @property
    def range(self) -> str:
        """The accepted values in words: ``0 to 10 s``, ``auto or 0 to 1 s``."""
        *others, last = [*self.choices, *self._describe_range()]
        return f"{', '.join(others)} or {last}" if others else last

    def check(self, value: object) -> Value:
        """Return a value in written form.

        Raise ``SettingError`` with the parameter's name and range.
        """
        try:
            return self._check_value(value)
        except SettingError as error:
            raise SettingError(f"{self.name}={error}") from None

    @abstractmethod
    def convert(self, value: Value) -> Any:
        """Convert a checked, written value to the value that programs use."""

    def read(self, text: str) -> Any:
        """Parse a text to the value that programs use; raise ``SettingError`` with the range."""
        return self.convert(self._check_value(text))

    def write(self, value: Any) -> str:
        """Write a used value as text that reads back as the same value."""
        return str(value)

    def accept(self, value: Any) -> Any:
        """Convert a text, or a value that programs use, to the value that programs use.

        Raise ``SettingError`` with the range.
        """
        if isinstance(value, str):
            return self.read(value)
        self.verify(value)
        return value

    def verify(self, value: Any) -> None:
        """Raise ``SettingError`` if a value, as programs use it, is out of range."""
        self.read(self.write(value))

    def show(self, value: Any) -> str:
        """Return a value as text for people, as short as possible."""
        return f"{value:.12g}" if isinstance(value, float) else self.write(value)

    def complete(self) -> Iterable[tuple[str, str | None]]:
        """Return the words that a shell can propose, each with a sentence or None."""
        return ((word, None) for word in self.choices)

    def _check_value(self, value: object) -> Value:
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._get_number(value)
        if number is None or not self._is_accepted(number):
            raise SettingError(self._make_refusal(value))
        return number

    def _make_refusal(self, value: object) -> str:
        hint = self._suggest_value(value) if isinstance(value, str) else ""
        return f"{quote_value(value)} is not allowed: it must be {self.range}{hint}"

    def _suggest_value(self, text: str) -> str:
        near = find_nearest(text, list(self.choices))
        return f"; did you mean {near!r}?" if near else ""

    def _get_number(self, value: object) -> float | None:
        """Return the value as a number; None if it is not a number."""
        return parse_plain_number(value)

    def _describe_range(self) -> list[str]:
        """Return the accepted range of numbers in words; empty if only words are accepted."""
        return []

    def _is_accepted(self, number: float) -> bool:  # noqa: ARG002 - words alone
        return False


#: A parameter of a strategy.
Setting = Parameter

#: The parameters of a spec.
Table = Sequence[Parameter]


def find(name: str, table: Table, owner: str, what: str = "parameter") -> Parameter:
    """Return the parameter with this name; raise ``SettingError`` with the most similar name.

    ``owner`` is the owner of the parameters in words, such as ``a link``; ``what`` is the word for
    a parameter.
    """
    for row in table:
        if row.name == name:
            return row
    raise SettingError(make_unknown_error(owner, what, name, [row.name for row in table]))


def shorten_text(text: str, most: int = 60) -> str:
    """Return a text to quote, cut to ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def make_unknown_error(owner: str, what: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown parameter or setting, with the most similar name."""
    message = f"{owner} has no {what} {shorten_text(name)!r}"
    if not known:
        return f"{message}: it has none"
    near = find_nearest(name, known)
    return message + (f"; did you mean {near!r}?" if near else f"; it has {', '.join(known)}")


def take_named(parameter: Parameter, take: Callable[[Any], Any], value: Any, name: str = "") -> Any:
    """Return ``take(value)``; an error's message begins with the parameter's name, or ``name``."""
    try:
        return take(value)
    except ValueError as error:
        raise SettingError(f"{name or parameter.name}={error}") from error


def find_nearest(name: str, known: list[str], alike: float = 0.5) -> str | None:
    """Return the known name that is most similar to a mistyped one, or None."""
    import difflib  # only a mistake needs it

    matches = difflib.get_close_matches(name, known, n=1, cutoff=alike)
    return matches[0] if matches else None


def parse_plain_number(value: object) -> float | None:
    """Return a value as a number; None if it has a unit or is not a number."""
    if not isinstance(value, float | int | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def quote_value(value: object) -> str:
    """Return a refused value in the form in which messages quote it."""
    text = str(value)
    return text if text.isprintable() and text == text.strip() and text else repr(text)


#: Doubles hold each whole number up to this one.
_EXACT = 2**53


class Number(Parameter):
    """A number from ``low`` to ``high`` in ``unit``; used as a float, or an int if ``whole``.

    ``words`` stand for numbers outside of the range: ``{"unlimited": math.inf}``. ``unset`` is one
    of them, for "no number", such as ``auto``, which is used as NaN. ``tune`` is the range worth
    searching, and that of a slider, on a ``linear`` or ``log`` scale; None: not worth tuning.
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
        """Return the number; NaN for the word ``unset``."""
        if isinstance(value, str):
            return self.words[value]
        return int(value) if self.whole else value

    def write(self, value: Any) -> str:
        """Return the word for the value, or the value's shortest digits."""
        for word, meaning in self.words.items():
            if value == meaning or (value != value and meaning != meaning):  # noqa: PLR0124 - NaN
                return word
        if isinstance(value, int) or not hasattr(value, "__float__"):
            return repr(value)
        return repr(float(value))  # also one of numpy's

    def verify(self, value: Any) -> None:
        """Raise ``SettingError`` if the number is out of range and no word stands for it."""
        is_number = hasattr(value, "__float__")
        if not (value in self.words.values() or (is_number and self._is_accepted(value))):
            raise SettingError(self._make_refusal(value))

    def show(self, value: Any) -> str:
        """Return the word for the value, or the value to twelve digits."""
        text = self.write(value)
        return text if text in self.words else super().show(value)

    def _check_value(self, value: object) -> Value:
        if value == "inf" and math.inf in self.words.values():
            return self.write(math.inf)  # a configuration can have it in the place of the word
        return super()._check_value(value)

    def _suggest_value(self, text: str) -> str:
        if self._get_number(text) is not None:
            return ""
        is_quantity = self._has_units and (self.unit or self.high <= 1)  # without a unit: a share
        return super()._suggest_value(text) or (
            f"; write {EXAMPLES[self.unit]}" if is_quantity else ""
        )

    @property
    def _has_units(self) -> bool:
        return self.unit in EXAMPLES and not self.whole

    def _get_number(self, value: object) -> float | None:
        if not isinstance(value, str) or not self._has_units:
            number = parse_plain_number(value)
            is_long = number is not None and abs(number) >= _EXACT and str(value).isdecimal()
            return int(str(value)) if is_long else number
        try:
            return parse_quantity(value, self.unit)
        except ValueError:
            return None

    def _describe_range(self) -> list[str]:
        unit = f" {self.unit}" if self.unit else ""
        if self.low == -math.inf and self.high == math.inf:
            return [("a whole number" if self.whole else "a number") + (unit and f" of{unit}")]
        kind = "a whole number from " if self.whole else ""
        if self.high == math.inf:
            return [f"{kind}{_format_number(self.low)}{unit} or more"]
        return [f"{kind}{_format_number(self.low)} to {_format_number(self.high)}{unit}"]

    def _is_accepted(self, number: float) -> bool:
        in_range = self.low <= number <= self.high and abs(number) != math.inf
        return in_range and (not self.whole or number == math.floor(number))


class Span(Number):
    """A time in seconds, or in send intervals: ``0.1``, ``100ms`` or ``1.8i``.

    Send intervals, up to ``INTERVALS``, are used as a negative number. ``words`` may stand for
    numbers below -``INTERVALS``.
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
        words: Mapping[str, float] | None = None,
        tune: tuple[float, float] | None = None,
        scale: Literal["linear", "log"] = "linear",
    ) -> None:
        super().__init__(
            name, default, help, "s", low, high, words=words, tune=tune, scale=scale
        )  # fmt: skip

    def convert(self, value: Value) -> Any:
        """Return the seconds, or minus the number of send intervals."""
        intervals = self._intervals(value)
        return super().convert(value) if intervals is None else -intervals

    def write(self, value: Any) -> str:
        """Return the seconds as text, or the send intervals with their letter."""
        return f"{-value:.17g}i" if -self.INTERVALS <= value < 0 else super().write(value)

    def _check_value(self, value: object) -> Value:
        intervals = self._intervals(value)
        if intervals is not None and self.low <= intervals <= self.INTERVALS:
            return f"{_format_number(intervals)}i"
        return super()._check_value(value)

    def _suggest_value(self, text: str) -> str:
        hint = "; write 0.08, 80ms or 1.8i (units: s, ms, us, and i: send intervals)"
        return hint if self._get_number(text) is None else ""

    def _intervals(self, value: object) -> float | None:
        text = value.strip().lower() if isinstance(value, str) else ""
        return parse_plain_number(text.removesuffix("i")) if text.endswith("i") else None

    def _describe_range(self) -> list[str]:
        return [*super()._describe_range(), f"{_format_number(self.low)}i to {self.INTERVALS}i"]


class Choice(Parameter):
    """A parameter whose values are words, or the members of an enumeration.

    The words of an enumeration are the members' names in small letters, with hyphens. ``unset`` is
    a word for "none of them", which is used as None. With ``numbered`` the members' values, which
    follow one another, are accepted as well. ``tune`` as for a ``Switch``.
    """

    def __init__(
        self,
        name: str,
        default: Value | bool | None,
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
        """The words, or a word for each member of the enumeration, in their order."""
        return tuple(self._members)

    def convert(self, value: Value) -> Any:
        """Return the word, or the enumeration's member that it names."""
        if isinstance(value, str):
            return self._members[value]
        return next(member for member in self._members.values() if member == value)

    def write(self, value: Any) -> str:
        """Return the word for a value."""
        return next((word for word, member in self._members.items() if member == value), str(value))

    def _describe_range(self) -> list[str]:
        if not self.numbered:
            return []
        values = self._members.values()
        return [f"a whole number from {min(values)} to {max(values)}"]

    def _is_accepted(self, number: float) -> bool:
        return self.numbered and number in self._members.values()


class Switch(Choice):
    """A parameter that is ``on`` or ``off``, and used as a bool.

    ``tune`` is True if both values are worth trying; a switch that restores an original's mistakes,
    or describes a recording, is not.
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
        super().__init__(name, default, help, ("on", "off"), tune=tune, field=field)
        self._members = {"on": True, "off": False}

    def _check_value(self, value: object) -> Value:
        if isinstance(value, bool):  # Python's own truth values
            return self.write(value)
        return super()._check_value(value)


class Custom(Parameter):
    """A parameter of any other ``kind``, which ``read`` parses and ``write`` writes.

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
        repeated: bool = False,
    ) -> None:
        super().__init__(name, default, help, field=field)
        self.form: Final = form
        self.kind = kind
        self.repeated = repeated
        self._read = read
        self._write = write
        self._words = words

    @property
    def range(self) -> str:
        """The form of a value, in words."""
        return self.form

    def convert(self, value: Value) -> Any:
        """Parse a text with the function ``read``."""
        return self._read(str(value))

    def verify(self, value: Any) -> None:
        """Raise ``SettingError`` for a value of another kind, and for a text that is refused."""
        has_text = self._write is not str or "__str__" in vars(type(value))
        if has_text or not (self.kind and isinstance(value, self.kind)):
            super().verify(value)

    def write(self, value: Any) -> str:
        """Return a value as text, with the function ``write``."""
        return self._write(value)

    def complete(self) -> Iterable[tuple[str, str | None]]:
        """Return the words that a shell can propose, each with a sentence."""
        return self._words()

    def _check_value(self, value: object) -> Value:
        try:
            self._read(str(value))
        except SettingError:
            raise
        except ValueError as error:
            said = str(error)
            # it may name what is wrong already
            is_named = repr(value) in said or str(value) in said.replace("'", " ").split()
            refusal = said if is_named else f"{quote_value(value)} is not allowed: {said}"
            raise SettingError(refusal) from error
        return str(value)


class FileName(Custom):
    """A parameter whose value is the path of a file."""

    def __init__(self, name: str, help: str, *, form: str = "file", field: str = "") -> None:  # noqa: A002
        super().__init__(name, None, help, form, _check_file_name, field=field)


def _check_file_name(text: str) -> str:
    """Return the path; raise ``ValueError`` for an empty path."""
    if not text:
        raise ValueError("it must be the name of a file")
    return text


def _format_number(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.12g}"
