"""Descriptions: the text form of an object that has many parameters.

``4g,jitter=30ms,loss=3%`` describes a network, ``time=Timestamp_ms,x="Pos, X",unit=ms`` how a
recording is read. Commas part the entries; the first ``=`` parts a key from its value. An entry
without a key is a name (a preset, a profile, a path). A value in double quotes is literal, with
``""`` for a quote; nothing of the grammar needs a single quote, so that a shell takes any
description between two of them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from epic_cli.engine.parameters import FileName, Parameter, SettingError, Switch, find, take_named


class Entry(NamedTuple):
    """An entry of a description: ``key=value``, or a name with an empty key."""

    key: str
    value: str

    def __str__(self) -> str:
        if self.key:
            return f"{self.key}={quote_value(self.value) if self.value else ''}"
        # A name with an equals sign would be read as a key and a value.
        return quote_value(self.value, always="=" in self.value)


def split(text: str) -> list[Entry]:
    """Split a description into its entries, in order; an empty text has no entries.

    Raise ``SettingError`` for an empty entry, an unclosed quote, and text between a closing quote
    and the next comma.
    """
    entries: list[Entry] = []
    at, end = 0, len(text)
    while text.strip():
        start = _skip_blanks(text, at)
        key, value_at = "", start
        stop = _find_end(text, start, ",=")
        if stop < end and text[stop] == "=" and text[start : start + 1] != '"':
            key, value_at = text[start:stop].strip(), _skip_blanks(text, stop + 1)
            if not key:
                raise SettingError(f"no key before '=' in {text!r}, at character {start + 1}")
        value, at = _read_value(text, value_at)
        if not key and not value:
            raise SettingError(f"an empty entry in {text!r}, at character {start + 1}")
        entries.append(Entry(key, value))
        if at == end:
            break
        at += 1  # the comma
    return entries


def write(entries: Iterable[tuple[str, str]]) -> str:
    """Join entries to a description; ``split`` returns the same entries."""
    return ",".join(str(Entry(*entry)) for entry in entries)


def quote_value(value: str, *, always: bool = False) -> str:
    """Return the value, in double quotes if a description would otherwise split or strip it."""
    is_plain = value and value == value.strip() and not set(value) & {",", '"'}
    return value if is_plain and not always else '"' + value.replace('"', '""') + '"'


def read_entries(
    entries: Iterable[tuple[str, str]], parameter_of: Callable[[str], Parameter]
) -> dict[str, Any]:
    """Convert the values of entries by the parameters of their keys; return them by key.

    ``parameter_of`` returns the parameter of a key. A parameter that may be repeated has a list of
    values. Raise ``SettingError`` for an entry without a key, for a value out of range, for a key
    that is given twice, and what ``parameter_of`` raises.
    """
    values: dict[str, Any] = {}
    for key, text in entries:
        parameter = parameter_of(key or text)
        if not key:
            example = "on" if isinstance(parameter, Switch) else "..."
            raise SettingError(f"{text} has no value: write {text}={example}")
        value = take_named(parameter, parameter.read, text, key)
        if parameter.repeated:
            value = [*values.get(key, ()), value]
        elif key in values:
            raise SettingError(f"{key} is set twice: keep one of them")
        values[key] = value
    return values


def find_files(text: str, table: Sequence[Parameter]) -> list[str]:
    """Return the file paths that a description names, by the keys of ``table``.

    Empty for a faulty description. A key may stand behind a prefix with a dot: ``up.trace``.
    """
    keys = {parameter.name for parameter in table if isinstance(parameter, FileName)}
    try:
        return [value for key, value in split(text) if key.rpartition(".")[2] in keys and value]
    except SettingError:
        return []


class Described:
    """A base class of frozen values that have a text form; the fields are a ``TABLE``'s parameters.

    A name without a key is the value of ``KEY``, which is required where its field has no default;
    ``OWNER`` is the owner of the parameters, in words. A field of None is not written. Raises
    ``SettingError``.
    """

    TABLE: ClassVar[Sequence[Parameter]]
    KEY: ClassVar[str]
    OWNER: ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in self.TABLE:
            if (value := getattr(self, parameter.field)) is not None:
                take_named(parameter, parameter.verify, value)

    @classmethod
    def from_description(cls, given: str | Self) -> Self:
        """Return the object that a text describes; return any other object unchanged."""
        return cls.parse(given) if isinstance(given, str) else given

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a description; raise ``SettingError``."""
        entries = split(text)
        names = [name for key, name in entries if not key]
        if len(names) > 1:
            raise SettingError(f"{names[1]!r} is neither {cls.OWNER} nor a key=value of it")
        found = cls.read(entries)
        values = {cls.find_parameter(key).field: value for key, value in found.items()}
        key = cls.find_parameter(cls.KEY).field
        if key not in values and not hasattr(cls, key):
            raise SettingError(f"{text!r} names no {cls.KEY}")
        return cls(**values)

    @classmethod
    def read(cls, entries: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return the fields' values from entries; an entry without a key gets its key first."""
        keyed = ((key or cls.find_key(value), value) for key, value in entries)
        return read_entries(keyed, cls.find_parameter)

    @classmethod
    def find_key(cls, name: str) -> str:  # noqa: ARG003 - here it is the same for all
        """Return the key of an entry without a key; raise ``SettingError`` if there is none."""
        return cls.KEY

    @classmethod
    def find_parameter(cls, key: str) -> Parameter:
        """Return the parameter with this key; raise ``SettingError`` with the most similar key."""
        return find(key, cls.TABLE, cls.OWNER)

    def list_entries(self) -> list[tuple[str, str]]:
        """Return the entries to write: the fields that are not at their defaults."""
        return [
            (parameter.name, parameter.write(value))
            for parameter in self.TABLE
            if (value := getattr(self, parameter.field)) != parameter.default
        ]

    def write(self) -> str:
        """Return the description of this object; ``parse`` reads it back."""
        return write(self.list_entries())


def _skip_blanks(text: str, at: int) -> int:
    """Return the index of the next character that is not a blank."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _find_end(text: str, start: int, stops: str) -> int:
    """Return the index of the first character of ``stops`` from ``start`` on, or the text's end."""
    return min((at for stop in stops if (at := text.find(stop, start)) >= 0), default=len(text))


def _read_value(text: str, start: int) -> tuple[str, int]:
    """Return the value at ``start``, and the index of the next comma or of the text's end."""
    if text[start : start + 1] != '"':
        stop = _find_end(text, start, ",")
        return text[start:stop].rstrip(), stop
    at, parts = start + 1, []
    while True:
        stop = text.find('"', at)
        if stop < 0:
            raise SettingError(
                f"the quote at character {start + 1} of {text!r} is not closed; "
                'write "" for a quote within quotes'
            )
        parts.append(text[at:stop])
        if text[stop + 1 : stop + 2] != '"':
            break
        at = stop + 2
    after = _skip_blanks(text, stop + 1)
    if after < len(text) and text[after] != ",":
        raise SettingError(f"a comma is missing at character {after + 1} of {text!r}")
    return '"'.join(parts), after


def complete(
    begun: str, table: Sequence[Parameter], names: Iterable[tuple[str, str | None]] = ()
) -> list[tuple[str, str | None]]:
    """Return completions of the unfinished description ``begun``, each with a sentence.

    A completion is a whole description. The last entry becomes a key of the ``table``, or one of
    the ``names``; behind its key, what the parameter proposes.
    """
    start, is_quoted = 0, False
    for at, character in enumerate(begun):
        is_quoted ^= character == '"'
        if character == "," and not is_quoted:
            start = at + 1
    before, entry = begun[:start], begun[start:].lstrip()
    key, equals, rest = entry.partition("=")
    if equals:
        _, _, name = key.rpartition(".")
        words = [word for row in table if row.name in (key, name) for word in row.complete()]
        found = [
            (f"{key}={quote_value(word)}", about) for word, about in words if word.startswith(rest)
        ]
    else:
        known = [*names, *((f"{row.name}=", row.help) for row in table)]
        found = [(word, about) for word, about in known if word.startswith(entry)]
    return [(before + word, about) for word, about in found]
