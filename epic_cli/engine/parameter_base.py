"""What every parameter has, whatever its kind, and tables of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, Final

#: A value as it is written: a number or a word.
Value = float | str

#: A setting as the strategy uses it.
Converted = float | int | bool | str | IntEnum


class SettingError(ValueError):
    """A setting or parameter that does not exist, or a value that it does not take.

    ``about`` are the names of those that do not go together.
    """

    def __init__(self, message: str, *about: str) -> None:
        super().__init__(message)
        self.about = about


# No dataclasses: making their methods would take a tenth of the start of "epic replay".


class Parameter(ABC):
    """One parameter: ``Number``, ``Switch``, ``Choice`` or ``Custom``.

    ``default`` is as it is written for a setting of a strategy, as it is used for a field of a
    spec; ``help`` is a sentence on what the parameter does. ``field`` is the field of the spec,
    where that has another name.
    """

    #: What a program may give in the place of a text.
    kind: type | tuple[type, ...] = ()

    def __init__(self, name: str, default: Any, help: str, *, field: str = "") -> None:  # noqa: A002
        self.name: Final = name
        self.default: Final = default
        self.help: Final = help
        self.field: Final = field or name

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes."""
        return ()

    @property
    def range(self) -> str:
        """What it takes, in words: ``0 to 10 s``, ``auto or 0 to 1 s``."""
        *others, last = [*self.choices, *self._numbers()]
        return f"{', '.join(others)} or {last}" if others else last

    def check(self, value: object) -> Value:
        """The value as it is written; raises ``SettingError`` with its name and the range."""
        try:
            return self._check(value)
        except SettingError as error:
            raise SettingError(f"{self.name}={error}") from None

    @abstractmethod
    def convert(self, value: Value) -> Any:
        """A checked value as it is used."""

    def read(self, text: str) -> Any:
        """The value of a text, as it is used; raises ``SettingError`` with the range."""
        return self.convert(self._check(text))

    def write(self, value: Any) -> str:
        """A used value as a text, which reads back as the same value."""
        return str(value)

    def accept(self, value: Any) -> Any:
        """A value that a program gives, as it is used: a text, or the value itself.

        Raises ``SettingError`` with the range.
        """
        if isinstance(value, str):
            return self.read(value)
        self.verify(value)
        return value

    def verify(self, value: Any) -> None:
        """Raises ``SettingError`` for a used value that is out of range."""
        self.read(self.write(value))

    def show(self, value: Any) -> str:
        """A used value for people: as short as it can be."""
        return f"{value:.12g}" if isinstance(value, float) else self.write(value)

    def complete(self) -> Iterable[tuple[str, str | None]]:
        """The words that a shell can propose, each with a sentence or None."""
        return ((word, None) for word in self.choices)

    def _check(self, value: object) -> Value:
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._number(value)
        if number is None or not self._takes(number):
            raise SettingError(self._refusal(value))
        return number

    def _refusal(self, value: object) -> str:
        hint = self._hint(value) if isinstance(value, str) else ""
        return f"{shown(value)} is not allowed: it must be {self.range}{hint}"

    def _hint(self, text: str) -> str:
        near = nearest(text, list(self.choices))
        return f"; did you mean {near!r}?" if near else ""

    def _number(self, value: object) -> float | None:
        """The number that is given; None: there is none."""
        return plain_number(value)

    def _numbers(self) -> list[str]:
        """The numbers that it takes, in words."""
        return []

    def _takes(self, number: float) -> bool:  # noqa: ARG002 - words alone
        return False


#: A parameter of a strategy.
Setting = Parameter

#: The parameters of a spec.
Table = Sequence[Parameter]


def find(name: str, table: Table, owner: str, what: str = "parameter") -> Parameter:
    """The parameter of this name; raises ``SettingError`` with the nearest one.

    ``owner`` is what has the parameters, and ``what`` they are to it, in words: ``a link``.
    """
    for row in table:
        if row.name == name:
            return row
    raise SettingError(unknown(owner, what, name, [row.name for row in table]))


def shortened(text: str, most: int = 60) -> str:
    """The beginning of a longer text, to be quoted."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def unknown(owner: str, what: str, name: str, known: list[str]) -> str:
    """Says that something has no parameter or setting of this name, and which one is near."""
    message = f"{owner} has no {what} {shortened(name)!r}"
    if not known:
        return f"{message}: it has none"
    near = nearest(name, known)
    return message + (f"; did you mean {near!r}?" if near else f"; it has {', '.join(known)}")


def named(parameter: Parameter, take: Callable[[Any], Any], value: Any, name: str = "") -> Any:
    """What ``take`` makes of a value; its refusal begins with the parameter's name, or this one."""
    try:
        return take(value)
    except ValueError as error:
        raise SettingError(f"{name or parameter.name}={error}") from error


def nearest(name: str, known: list[str], alike: float = 0.5) -> str | None:
    """The known name that looks most like a mistyped one."""
    import difflib  # only a mistake needs it

    matches = difflib.get_close_matches(name, known, n=1, cutoff=alike)
    return matches[0] if matches else None


def plain_number(value: object) -> float | None:
    """The number that is given, without a unit; None: there is none."""
    if not isinstance(value, float | int | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def shown(value: object) -> str:
    """A refused value, as a message shows it."""
    text = str(value)
    return text if text.isprintable() and text == text.strip() and text else repr(text)
