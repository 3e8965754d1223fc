"""Values of this package as JSON and back, digit for digit: what a journal keeps of them."""

from __future__ import annotations

import base64
import builtins
import contextlib
import dataclasses
import enum
import hashlib
import json
import math
import os
import pkgutil
import re
import sys
import time
import types
import typing
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import IO, Any, NamedTuple

import numpy as np

from epic_cli.engine.failures import Portable
from epic_cli.recordings.files import check_output, lock
from epic_cli.recordings.reading import BINARY

#: Types are looked for in this package only, whatever a file says.
_PACKAGE = "epic_cli."


class NotAValue(ValueError):
    """It is not what ``as_json`` makes, or of no kind that it takes."""


def as_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """What JSON can hold: frozen dataclasses, named tuples, enumerations, arrays and mappings.

    Arrays are of numbers. Raises ``NotAValue``.
    """
    if isinstance(value, enum.Enum):
        return {"enum": [_name(type(value)), value.name]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        content = base64.b64encode(little.tobytes()).decode()
        return {"array": [little.dtype.str, list(little.shape), content]}
    if isinstance(value, Mapping):
        return {"map": [[as_json(key), as_json(one)] for key, one in value.items()]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return {"of": [_name(type(value)), *map(as_json, fields)]}
    if isinstance(value, tuple):
        parts = [as_json(item) for item in value]
        return (
            {"of": [_name(type(value)), *parts]} if hasattr(value, "_fields") else {"tuple": parts}
        )
    if isinstance(value, frozenset):
        return {"of": ["frozenset", *sorted(map(as_json, value))]}
    raise NotAValue(f"a {type(value).__name__} cannot be kept")


def from_json(value: Any) -> Any:
    """The value of which ``as_json`` has made this; raises ``NotAValue``.

    What a file says is checked: fields have the types that their classes declare.
    """
    try:
        return _from_json(value)
    except Exception as error:  # whatever a class makes of fields that are none of its own
        raise NotAValue(f"this is no value: {error}") from error


def _from_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    if not isinstance(value, dict):
        # one NaN, so that values can be equal
        return math.nan if isinstance(value, float) and math.isnan(value) else value
    ((kind, parts),) = value.items()
    match kind:
        case "tuple":
            return tuple(map(_from_json, parts))
        case "map":
            return {_from_json(key): _from_json(one) for key, one in parts}
        case "bytes":
            return base64.b64decode(parts)
        case "array":
            dtype, shape, content = parts
            if np.dtype(dtype).kind not in "biuf":
                raise NotAValue("an array of no numbers")
            numbers = np.frombuffer(base64.b64decode(content), np.dtype(dtype))
            return numbers.astype(numbers.dtype.newbyteorder("=")).reshape(shape)
        case "enum":
            return _type(parts[0])[parts[1]]
        case "of":
            fields = list(map(_from_json, parts[1:]))
            return frozenset(fields) if parts[0] == "frozenset" else _made(parts[0], fields)
    raise NotAValue(f"there are no values of the kind {kind!r}")


def _made(name: str, fields: list[Any]) -> Any:
    """A value of this type; raises ``NotAValue`` where a field is of another type."""
    kind = _type(name)
    for value, hint in zip(fields, _field_types(kind), strict=True):
        if not fits(value, hint):
            raise NotAValue(f"a {type(value).__name__} is no field of a {name}")
    return kind(*fields)


@lru_cache(maxsize=256)
def _field_types(kind: type) -> tuple[Any, ...]:
    """The types of the fields of a dataclass or a named tuple; ``Any``: it cannot be said."""
    if dataclasses.is_dataclass(kind):
        return tuple(declared_type(field.type, kind) for field in dataclasses.fields(kind))
    hints = getattr(kind, "__annotations__", {})
    return tuple(declared_type(hints.get(name), kind) for name in kind._fields)  # type: ignore[attr-defined]


class _Known(dict[str, Any]):
    """Names of types; those that are unknown stand for any."""

    def __missing__(self, _name: str) -> Any:
        return Any


def declared_type(hint: Any, kind: Any) -> Any:
    """The type that an annotation in the module of ``kind`` stands for; ``Any``: not known."""
    if not isinstance(hint, str):
        return Any if hint is None else hint
    module = vars(sys.modules[kind.__module__])
    names = _Known({**vars(typing), **vars(builtins), **_TYPES, **module})
    try:
        return eval(hint, {}, names)  # noqa: S307 - the text of this package's own code
    except Exception:
        return Any


def fits(value: Any, hint: Any) -> bool:  # noqa: PLR0911 - one for each kind
    """Whether a value is of a type, as far as that is known, with all that is in it."""
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, kind) for kind in of)
    if origin is typing.Literal:
        return value in of
    if hint is None or hint is types.NoneType:
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    kind = hint if origin is None else origin
    try:
        if not isinstance(kind, type) or (kind is not object and not isinstance(value, kind)):
            return not isinstance(kind, type)
    except TypeError:  # a protocol
        return True
    if isinstance(value, Mapping) and len(of) == 2:
        return all(fits(key, of[0]) and fits(one, of[1]) for key, one in value.items())
    if isinstance(value, tuple) and origin is tuple and of[-1:] != (...,):
        return len(value) == len(of) and all(map(fits, value, of))
    if isinstance(value, tuple | frozenset) and of:
        return all(fits(item, of[0]) for item in value)
    return True


def _name(kind: type) -> str:
    if not kind.__module__.startswith(_PACKAGE) or kind.__name__.startswith("_"):
        raise NotAValue(f"a {kind.__name__} cannot be kept")
    return kind.__name__


#: The table: the public types of values of this package by their names, which are their own.
_TYPES: dict[str, type] = {}


def _type(name: str) -> Any:
    if name not in _TYPES:
        _learn_types()
    if name not in _TYPES:  # of what has not been loaded yet
        for module in pkgutil.walk_packages(import_module(_PACKAGE[:-1]).__path__, _PACKAGE):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # it needs another package
                    import_module(module.name)
        _learn_types()
    if name not in _TYPES:
        raise NotAValue(f"{name} is none of this package's values")
    return _TYPES[name]


def _learn_types() -> None:
    for place, module in list(sys.modules.items()):
        for kind in vars(module).values() if place.startswith(_PACKAGE) else ():
            is_own = isinstance(kind, type) and kind.__module__ == place
            if is_own and (dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum | tuple)):
                _TYPES.setdefault(kind.__name__, kind)


#: What is written reaches the disk after this many seconds at most.
_SYNC_EVERY = 1.0

_READ_AT_ONCE = 1 << 20
_LONGEST_HEADER = 1000

#: A line.
_ENTRY = re.compile(
    rb'\{"key":"([0-9a-f]{64})","sum":"([0-9a-f]{32})","value":"(.*)"\}\n', re.DOTALL
)

#: Bytes of an answer, and of the line that it takes; and values in it.
_LONGEST_ANSWER, _LONGEST_LINE, _MOST_VALUES = 1 << 26, 1 << 27, 2_000_000

#: Damaged lines that are named.
_NAMED = 5


class UnusableJournal(Portable, ValueError):
    """The file is no journal that can be gone on with; it has not been touched."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class OtherVersion(UnusableJournal):
    """Another version of this program has written the journal: its answers may differ."""

    def __init__(self, path: str, theirs: str, ours: str) -> None:
        super().__init__(
            path, f"this journal is of epic {theirs}, and this is epic {ours}: use another file"
        )
        self.theirs, self.ours = theirs, ours


def program_version() -> str:
    """The version of this program, as it has been installed."""
    return version("epic-cli")


def key(**asked: Any) -> str:
    """A stable name (64 hexadecimal digits) for what is asked: equal values, equal names.

    Values are what JSON can hold; numbers differ by any of their digits, 1 and 1.0 too.
    """
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(path: str) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits. Raises ``OSError``."""
    with open(path, "rb") as stream:  # noqa: PTH123 - a name as it was given
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Damage(NamedTuple):
    """How many lines of a journal are damaged, and the numbers of the first of them."""

    path: str
    number: int
    lines: tuple[int, ...]

    def __str__(self) -> str:
        """For people."""
        lines = ", ".join(map(str, self.lines)) + ", ..." * (self.number > len(self.lines))
        which = f"line {lines} is" if self.number == 1 else f"{self.number:,} lines ({lines}) are"
        return f"{self.path}: {which} damaged; what is lost will be recomputed"


class _Place(NamedTuple):
    """Where an entry stands: which bytes of the file."""

    offset: int
    length: int


class ResultJournal:
    """Answers by key, in a file that is made where there is none.

    Raises ``OSError``, and ``UnusableJournal`` where the file is something else, of another kind
    or version, or written by another program at this moment. Answers stay in the file: thousands
    of them take no memory.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        #: How many bytes of a damaged end have been cut off.
        self.cut = 0
        #: Where lines are damaged; None: nowhere.
        self.damage: Damage | None = None
        self._header = {"epic": program_version(), "journal": kind}
        self._salt = _sum(_json(self._header)).encode()
        self._places: dict[str, _Place] = {}
        self._synced = time.monotonic()
        with contextlib.ExitStack() as opened:
            self._descriptor = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, opened)
            if lock(self._descriptor) is False:
                raise UnusableJournal(path, "another epic is writing this journal")
            self._end, size = self._read()
            if self._end < size:
                os.ftruncate(self._descriptor, self._end)
                self.cut = size - self._end
            if not self._end:
                self._write(self._first)
            self._opened = opened.pop_all()

    def __len__(self) -> int:
        """How many answers are known."""
        return len(self._places)

    def find(self, asked: str) -> Any:
        """The answer under this key; None: no valid one. Raises ``OSError``."""
        place = self._places.get(asked)
        if place is None:
            return None
        if sys.platform == "win32":
            os.lseek(self._descriptor, place.offset, os.SEEK_SET)
            line = os.read(self._descriptor, place.length)
        else:
            line = os.pread(self._descriptor, place.length, place.offset)
        found = self._whole(line)
        return None if found is None else _answer(found[3])

    def add(self, asked: str, answer: Any) -> None:
        """Keeps an answer; it is in the file when this returns. Raises ``OSError``."""
        begin = self._end
        value = base64.b64encode(zlib.compress(_json(answer)))
        name = asked.encode()
        checked = _sum(self._salt, name, value).encode()
        self._write(b'{"key":"%b","sum":"%b","value":"%b"}' % (name, checked, value))
        self._places[asked] = _Place(begin, self._end - begin)

    def close(self) -> None:
        """Closes the file, with all of it on the disk. Raises ``OSError``."""
        with self._opened, self._named():
            os.fsync(self._descriptor)

    def __enter__(self) -> ResultJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _first(self) -> bytes:
        return _json({**self._header, "sum": self._salt.decode()})

    def _whole(self, line: bytes) -> re.Match[bytes] | None:
        """The parts of a line; None: it is damaged, or of another journal."""
        found = _ENTRY.fullmatch(line)
        if found is None or _sum(self._salt, found[1], found[3]).encode() != found[2]:
            return None
        return found

    def _write(self, line: bytes) -> None:
        # in one piece, with its line's end: half a line is known for what it is
        left = memoryview(line + b"\n")
        with self._named():
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except BaseException:  # what comes after half a line would be lost with it
                os.ftruncate(self._descriptor, self._end)
                raise
            self._end += len(line) + 1
            if time.monotonic() - self._synced > _SYNC_EVERY:
                os.fsync(self._descriptor)
                self._synced = time.monotonic()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """An error of the system names the journal: the disk is full."""
        try:
            yield
        except OSError as error:
            error.filename = self.path
            raise

    def _read(self) -> tuple[int, int]:
        """Takes the whole lines; how many bytes all lines are, of how many there are."""
        path, places = self.path, self._places
        damaged: list[int] = []
        count = end = 0
        with open(self._descriptor, "rb", _READ_AT_ONCE, closefd=False) as stream:
            header = stream.readline(_LONGEST_HEADER)
            begun = self._is_header(header, path)
            if begun is not None:
                stream.seek(0)
            for number, (line, size) in enumerate(_lines(stream) if begun is not None else (), 1):
                if not line.endswith(b"\n"):
                    break
                if found := self._whole(line):
                    places[found[1].decode()] = _Place(end, len(line))
                elif number > 1 or not begun:
                    count += 1
                    damaged += [number] if len(damaged) < _NAMED else []
                end += size
        if begun is False and not places:
            raise UnusableJournal(path, "not a journal of epic")
        if count:
            self.damage = Damage(path, count, tuple(damaged))
        return end, os.fstat(self._descriptor).st_size

    def _is_header(self, line: bytes, path: str) -> bool | None:
        """Whether the file begins with our header; None: with the part that a crash left of it.

        False: it is damaged, or the file is something else.
        """
        whole = self._first + b"\n"
        if whole.startswith(line):
            return True if line == whole else None
        entry = _entry(line) or {}
        theirs, kind = entry.get("epic"), entry.get("journal")
        if not isinstance(theirs, str) or not isinstance(kind, str):
            return False
        if "sum" in entry and entry["sum"] != _sum(_json({"epic": theirs, "journal": kind})):
            return False
        if kind != self._header["journal"]:
            raise UnusableJournal(
                path, f"this is a journal of epic {kind}, not of epic {self._header['journal']}"
            )
        earlier = " in an earlier format" if theirs == self._header["epic"] else ""
        raise OtherVersion(path, f"{theirs}{earlier}", self._header["epic"])


def _lines(stream: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """The lines and their bytes; of one that is too long its end alone, which is none of ours."""
    size = 0
    while piece := stream.readline(_LONGEST_LINE):
        size += len(piece)
        if piece.endswith(b"\n") or len(piece) < _LONGEST_LINE:
            yield piece if size == len(piece) else piece[-1:], size
            size = 0


def _answer(value: bytes) -> Any:
    """The answer in a line; None: it is none, or too large to be one."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b64decode(value, validate=True), _LONGEST_ANSWER)
        if not unpacking.eof or text.count(b",") + text.count(b"[") > _MOST_VALUES:
            return None
        return json.loads(text)
    except (ValueError, zlib.error, RecursionError):
        return None


def _open(path: str, how: int, opened: contextlib.ExitStack) -> int:
    """A descriptor that ``opened`` closes."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        raise UnusableJournal(path, "not a file")  # a pipe would be waited for
    if how & os.O_CREAT:
        check_output(path)
    descriptor = os.open(path, how | BINARY, 0o666)
    opened.callback(os.close, descriptor)
    return descriptor


def _sum(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()


def _json(entry: Any) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode()


def _entry(line: bytes) -> dict[str, Any] | None:
    """The value of a line; None: it is damaged."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
