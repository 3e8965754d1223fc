"""Descriptions: one text for one thing that has many parameters.

``4g,jitter=30ms,loss=3%`` describes a network, ``time=Timestamp_ms,x="Pos, X",unit=ms`` how a
recording is read. Commas part the entries; the first ``=`` parts a key from its value. An entry
without a key is a name (a preset, a profile, a path). A value in double quotes is literal, with
``""`` for a quote; nothing of the grammar needs a single quote, so that a shell takes any
description between two of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from epic_cli.engine.parameters import Parameter, SettingError, find, named


class Entry(NamedTuple):
    """One entry of a description: ``key=value``, or a name, whose key is empty.

    ``at`` is the place of its first character in the text.
    """

    key: str
    value: str
    at: int = 0

    def __str__(self) -> str:
        if self.key:
            return f"{self.key}={quoted(self.value) if self.value else ''}"
        # A name with an equals sign would be read as a key and a value.
        return quoted(self.value, always="=" in self.value)


def split(text: str) -> list[Entry]:
    """The entries of a description in their order; no text has none.

    Raises ``SettingError`` for an empty entry, a quote without its other half, and for what
    stands between a closing quote and the next comma.
    """
    entries: list[Entry] = []
    at, end = 0, len(text)
    while text.strip():
        start = _skip(text, at)
        key, value_at = "", start
        stop = _ending(text, start, ",=")
        if stop < end and text[stop] == "=" and text[start : start + 1] != '"':
            key, value_at = text[start:stop].strip(), _skip(text, stop + 1)
            if not key:
                raise SettingError(f"no key before '=' in {text!r}, at character {start + 1}")
        value, at = _value(text, value_at)
        if not key and not value:
            raise SettingError(f"nothing between two commas of {text!r}, at character {start + 1}")
        entries.append(Entry(key, value, start))
        if at == end:
            break
        at += 1  # the comma
    return entries


def with_key(entries: Iterable[Entry], key: str) -> list[Entry]:
    """The entries, those without a key as values of this one."""
    return [entry if entry.key else entry._replace(key=key) for entry in entries]


def write(entries: Iterable[tuple[str, str] | Entry]) -> str:
    """The description of these entries; ``split`` reads the same ones back."""
    return ",".join(str(Entry(entry[0], entry[1])) for entry in entries)


def quoted(value: str, *, always: bool = False) -> str:
    """A value as a description has it: in double quotes where it would be read otherwise."""
    is_plain = value and value == value.strip() and not set(value) & {",", '"'}
    return value if is_plain and not always else '"' + value.replace('"', '""') + '"'


def read_parameters(
    entries: Iterable[Entry], table: Sequence[Parameter], owner: str
) -> list[tuple[Parameter, Any]]:
    """The parameters that entries with keys set, each with its value as it is used.

    ``owner`` is what has the parameters, in words: ``a link``. Raises ``SettingError`` for an
    unknown key, with the nearest one, for a value out of range, and for a key given twice.
    """
    found: dict[str, tuple[Parameter, Any]] = {}
    for entry in entries:
        parameter = find(entry.key, table, owner)
        if parameter.name in found:
            raise SettingError(f"{parameter.name} is set twice: keep one of them")
        found[parameter.name] = parameter, named(parameter, parameter.read, entry.value)
    return list(found.values())


class Described:
    """A frozen dataclass whose fields are the parameters of a ``TABLE``, and whose text says them.

    A name without a key is the value of ``KEY``, which has to be said where its field has no
    default; ``OWNER`` is what has the parameters, in words. A field of None is not said. Raises
    ``SettingError``.
    """

    TABLE: ClassVar[Sequence[Parameter]]
    KEY: ClassVar[str]
    OWNER: ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in self.TABLE:
            if (value := getattr(self, parameter.field)) is not None:
                named(parameter, parameter.verify, value)

    @classmethod
    def of(cls, given: str | Self) -> Self:
        """One as a program gives it: described, or itself."""
        return cls.parse(given) if isinstance(given, str) else given

    @classmethod
    def parse(cls, text: str) -> Self:
        """What a description says; raises ``SettingError``."""
        entries = split(text)
        names = [entry.value for entry in entries if not entry.key]
        if len(names) > 1:
            raise SettingError(f"{names[1]!r} is neither {cls.OWNER} nor a key=value of it")
        found = read_parameters(with_key(entries, cls.KEY), cls.TABLE, cls.OWNER)
        values = {parameter.field: value for parameter, value in found}
        key = find(cls.KEY, cls.TABLE, cls.OWNER).field
        if key not in values and not hasattr(cls, key):
            raise SettingError(f"{text!r} names no {cls.KEY}")
        return cls(**values)

    def entries(self) -> list[tuple[str, str]]:
        """The entries of ``write``: what is not as by default."""
        return [
            (parameter.name, parameter.write(value))
            for parameter in self.TABLE
            if (value := getattr(self, parameter.field)) != parameter.default
        ]

    def write(self) -> str:
        """The description, which reads back as the same."""
        return write(self.entries())


def _skip(text: str, at: int) -> int:
    """The place of the next character that is no blank."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _ending(text: str, start: int, stops: str) -> int:
    """Where the first of these characters stands from ``start`` on, or the text's end."""
    return min((at for stop in stops if (at := text.find(stop, start)) >= 0), default=len(text))


def _value(text: str, start: int) -> tuple[str, int]:
    """The value that begins here, and where the comma behind it stands, or the text's end."""
    if text[start : start + 1] != '"':
        stop = _ending(text, start, ",")
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
    after = _skip(text, stop + 1)
    if after < len(text) and text[after] != ",":
        raise SettingError(f"a comma is missing at character {after + 1} of {text!r}")
    return '"'.join(parts), after


def complete(
    begun: str, table: Sequence[Parameter], names: Iterable[tuple[str, str | None]] = ()
) -> list[tuple[str, str | None]]:
    """What a description that is ``begun`` may become: whole descriptions, each with a sentence.

    The last entry becomes a key of the ``table``, or one of the ``names``; behind its key, what
    the parameter proposes.
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
        found = [(f"{key}={quoted(word)}", about) for word, about in words if word.startswith(rest)]
    else:
        known = [*names, *((f"{row.name}=", row.help) for row in table)]
        found = [(word, about) for word, about in known if word.startswith(entry)]
    return [(before + word, about) for word, about in found]
