"""Declarations of plain Python strategies: by the class, or derived from its constructor."""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import (
    Choice,
    Converted,
    Number,
    Setting,
    SettingError,
    Switch,
    Value,
)


class Text(Setting):
    """A parameter that accepts any text, or one of the ``words``."""

    def __init__(self, name: str, default: Value, words: tuple[str, ...] = ()) -> None:
        super().__init__(name, default, "")
        self.words = words

    @property
    def choices(self) -> tuple[str, ...]:
        """The accepted words; empty if any text is accepted."""
        return self.words

    def _describe_range(self) -> list[str]:
        return [] if self.words else ["any text"]

    def check(self, value: object) -> Value:
        """Return the text itself."""
        return value if isinstance(value, str) and not self.words else super().check(value)

    def convert(self, value: Value) -> Any:
        """Return the text itself."""
        return value


class Anything(Setting):
    """A parameter that is a number if its text looks like one, and text otherwise."""

    def _describe_range(self) -> list[str]:
        return ["a number or any text"]

    def check(self, value: object) -> Value:
        """Return the value as a number if it looks like one, else the text."""
        try:
            return super().check(value)
        except SettingError:
            return str(value)

    def _is_accepted(self, number: float) -> bool:
        return math.isfinite(number)

    def convert(self, value: Value) -> Any:
        """Return the value as an int, a float or the text."""
        return value if isinstance(value, str) else _convert_to_whole(value)


class _AnyNumber(Number):
    """A number without a range.

    With ``narrow`` a whole number is used as an int, others as floats.
    """

    def __init__(self, name: str, default: Value, *, whole: bool, unset: str, narrow: bool) -> None:
        low, high = -math.inf, math.inf
        super().__init__(name, default, "", "", low, high, whole=whole, unset=unset)
        self.narrow = narrow

    def convert(self, value: Value) -> float | int:
        """Return the number as an int or a float."""
        number = super().convert(value)
        return _convert_to_whole(number) if self.narrow else number


class OpenDeclaration(Declaration):
    """The declaration of a class whose constructor takes ``**settings``.

    Any setting is accepted.
    """

    def values(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Return the value of every setting, given or default; any name is accepted."""
        known = {setting.name for setting in self.settings}
        others = {name: value for name, value in given.items() if name not in known}
        own = super().values({name: given[name] for name in given if name in known})
        return own | {name: Anything(name, "", "").check(others[name]) for name in others}

    def converted(self, values: Mapping[str, Value]) -> dict[str, Converted]:
        """Convert the settings' values, as written, to those that the strategy uses."""
        known = {setting.name for setting in self.settings}
        others = {name: value for name, value in values.items() if name not in known}
        return super().converted(values) | {
            name: Anything(name, "", "").convert(value) for name, value in others.items()
        }


class NotDeclared(ValueError):
    """An error: a class has an invalid declaration."""


def find_declaration(found: type, name: str) -> Declaration:
    """Return the declaration of a class, under this name.

    That is its ``declaration``; or its ``settings`` (a sequence of ``Number``, ``Switch`` and
    ``Choice``), or else the parameters of its constructor, typed by annotation or default, with the
    first line of its docstring. Raise ``NotDeclared``, or what its code raises.
    """
    declared = getattr(found, "declaration", None)
    if isinstance(declared, Declaration):
        return _check_declaration(declared)._replace(name=name)
    kind, settings = Declaration, _get_declared_settings(found)
    if settings is None:
        settings, is_open = _read_parameters(found)
        kind = OpenDeclaration if is_open else Declaration
    summary = (found.__doc__ or "").strip().partition("\n")[0]
    return kind(name, summary, "other packages", source=found.__module__, settings=settings)


def list_arguments(
    found: type, declared: Declaration, given: Mapping[str, object]
) -> dict[str, Any]:
    """Return the constructor's arguments for these settings; raise ``SettingError``.

    A class that declares its settings gets them all. Otherwise it has its own defaults already, and
    gets those that are given and differ.
    """
    values = declared.values(given)
    converted = declared.converted(values)
    explicit = isinstance(getattr(found, "declaration", None), Declaration)
    if explicit or _get_declared_settings(found) is not None:
        return dict(converted)
    defaults = {setting.name: setting.default for setting in declared.settings}
    return {
        name: value
        for name, value in converted.items()
        if name in given and values[name] != defaults.get(name)
    }


def fit(found: type, given: Mapping[str, Any]) -> str:
    """Explain why the constructor cannot take these arguments.

    Empty if it can, or if that is unknown.
    """
    try:
        inspect.signature(found).bind(**given)
    except ValueError:  # it has no signature that can be read
        return ""
    except TypeError as error:
        return str(error)
    return ""


def _check_declaration(declared: Declaration) -> Declaration:
    texts = (
        "name",
        "summary",
        "family",
        "lag",
        "on_loss",
        "source",
        "proof",
        "rotates",
        "connection",
    )
    wrong = [text for text in texts if not isinstance(getattr(declared, text), str)]
    needs = declared.needs
    if not isinstance(needs, tuple | list) or not all(
        isinstance(need, str | tuple) for need in needs
    ):
        wrong.append("needs")
    if not isinstance(declared.settings, tuple | list) or not all(
        isinstance(setting, Setting) for setting in declared.settings
    ):
        wrong.append("settings")
    if wrong:
        raise NotDeclared(f"the {wrong[0]} of its declaration cannot be used")
    return declared


def _get_declared_settings(found: type) -> tuple[Setting, ...] | None:
    """Return the ``settings`` that a class declares; None if it declares none."""
    settings = inspect.getattr_static(found, "settings", None)
    if not isinstance(settings, tuple | list):
        return None
    if not all(isinstance(setting, Setting) for setting in settings):
        raise NotDeclared("its settings must be Number, Switch or Choice")
    return tuple(settings)


class _ParameterType(NamedTuple):
    """A parameter's annotation, without ``None``."""

    kind: object
    optional: bool


def _read_parameters(found: type) -> tuple[tuple[Setting, ...], bool]:
    """Return the settings of a class, by its constructor's parameters.

    Return True as well if the constructor takes ``**settings``.
    """
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):  # its constructor has no readable signature
        return (), True
    try:
        hints = typing.get_type_hints(getattr(found, "__init__"))  # noqa: B009 - mypy would not have it
    except Exception:  # names that are there for the type checker alone
        hints = {}
    settings = []
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            setting = _make_setting(parameter, hints.get(parameter.name, parameter.annotation))
            settings += [setting] if setting else []
    return tuple(settings), any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _make_setting(parameter: inspect.Parameter, annotation: object) -> Setting | None:
    """Return the setting for a constructor's parameter; None if it has no text form."""
    name, default = parameter.name, parameter.default
    written = _write_default(default)
    if written is None:
        return None
    kind, optional = _read_annotation(annotation)
    guessed = kind is None and default is not None and default is not parameter.empty
    if guessed:
        kind = type(default)
    unset = "none" if optional or default is None else ""
    if kind is bool:
        return Switch(name, written, "")
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return Choice(name, written, "", kind)
    if kind is int or kind is float:
        whole = kind is int
        return _AnyNumber(
            name, written, whole=whole and not guessed, unset=unset, narrow=whole and guessed
        )
    words = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
    if kind is str or (words and all(isinstance(word, str) for word in words)):
        return Text(name, written, (*words, *([unset] if unset and words else ())))
    return Anything(name, written, "")


def _read_annotation(annotation: object) -> _ParameterType:
    if annotation is inspect.Parameter.empty:
        return _ParameterType(None, False)
    if isinstance(annotation, str):
        named = {"bool": bool, "int": int, "float": float, "str": str}
        base, _, rest = annotation.partition("|")
        return _ParameterType(named.get(base.strip()), rest.strip() == "None")
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kinds = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        return _ParameterType(kinds[0] if len(kinds) == 1 else object, len(kinds) < 2)
    return _ParameterType(annotation, False)


def _write_default(default: object) -> Value | None:
    """Return a default value as written; empty if there is none, None if it has no text form."""
    if default is inspect.Parameter.empty:
        return ""
    if default is None:
        return "none"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, IntEnum):
        return default.name.lower().replace("_", "-")
    return default if isinstance(default, int | float | str) else None


def _convert_to_whole(number: float) -> float | int:
    return int(number) if number == math.floor(number) else number
