"""The journal of long work: results saved as JSON, digit for digit, by a key of their inputs."""

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

#: Only types of this package are loaded, whatever a file names.
_PACKAGE = "epic_cli."


class NotAValue(ValueError):
    """An error: a value cannot be saved as JSON, or a saved text does not hold a value."""


def convert_to_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Convert dataclasses, named tuples, enumerations, arrays and mappings to JSON values.

    Dataclasses are frozen, arrays numeric. Raises ``NotAValue``.
    """
    if isinstance(value, enum.Enum):
        return {"enum": [_get_type_name(type(value)), value.name]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):  # in memory or in a file
        value = np.asarray(value)
        little = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        content = base64.b64encode(little.tobytes()).decode()
        return {"array": [little.dtype.str, list(little.shape), content]}
    if isinstance(value, Mapping):
        return {"map": [[convert_to_json(key), convert_to_json(one)] for key, one in value.items()]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return {"of": [_get_type_name(type(value)), *map(convert_to_json, fields)]}
    if isinstance(value, tuple):
        parts = [convert_to_json(item) for item in value]
        return (
            {"of": [_get_type_name(type(value)), *parts]}
            if hasattr(value, "_fields")
            else {"tuple": parts}
        )
    if isinstance(value, frozenset):
        return {"of": ["frozenset", *sorted(map(convert_to_json, value))]}
    raise NotAValue(f"a {type(value).__name__} cannot be saved as JSON")


def restore_from_json(value: Any) -> Any:
    """Return the value that ``convert_to_json`` had converted; raise ``NotAValue``.

    Files are not trusted: fields must have the types that their classes declare.
    """
    try:
        return _decode_json(value)
    except Exception as error:  # whatever a class makes of fields that are none of its own
        raise NotAValue(f"the saved text is not a value: {error}") from error


def _decode_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    if not isinstance(value, dict):
        # one NaN, so that values can be equal
        return math.nan if isinstance(value, float) and math.isnan(value) else value
    ((kind, parts),) = value.items()
    match kind:
        case "tuple":
            return tuple(map(_decode_json, parts))
        case "map":
            return {_decode_json(key): _decode_json(one) for key, one in parts}
        case "bytes":
            return base64.b64decode(parts)
        case "array":
            dtype, shape, content = parts
            if np.dtype(dtype).kind not in "biuf":
                raise NotAValue("an array of other values than numbers cannot be saved")
            numbers = np.frombuffer(base64.b64decode(content), np.dtype(dtype))
            return numbers.astype(numbers.dtype.newbyteorder("=")).reshape(shape)
        case "enum":
            return _find_type(parts[0])[parts[1]]
        case "of":
            fields = list(map(_decode_json, parts[1:]))
            return frozenset(fields) if parts[0] == "frozenset" else _build_value(parts[0], fields)
    raise NotAValue(f"{kind!r} is not a kind of saved value")


def _build_value(name: str, fields: list[Any]) -> Any:
    """Create a value of the named type from its fields.

    Raise ``NotAValue`` for a wrong field type.
    """
    kind = _find_type(name)
    for value, hint in zip(fields, _list_field_types(kind), strict=True):
        if not is_of_type(value, hint):
            raise NotAValue(f"a {type(value).__name__} does not fit a field of a {name}")
    return kind(*fields)


@lru_cache(maxsize=256)
def _list_field_types(kind: type) -> tuple[Any, ...]:
    """Return the field types of a dataclass or a named tuple; ``Any`` if unknown."""
    if dataclasses.is_dataclass(kind):
        return tuple(find_declared_type(field.type, kind) for field in dataclasses.fields(kind))
    hints = getattr(kind, "__annotations__", {})
    return tuple(find_declared_type(hints.get(name), kind) for name in kind._fields)  # type: ignore[attr-defined]


class _KnownTypes(dict[str, Any]):
    """A dict of types by name, in which unknown names stand for ``Any``."""

    def __missing__(self, _get_type_name: str) -> Any:
        return Any


def find_declared_type(hint: Any, kind: Any) -> Any:
    """Return the type that an annotation in the module of ``kind`` stands for.

    ``Any`` if unknown.
    """
    if not isinstance(hint, str):
        return Any if hint is None else hint
    module = vars(sys.modules[kind.__module__])
    names = _KnownTypes({**vars(typing), **vars(builtins), **_TYPES, **module})
    try:
        return eval(hint, {}, names)  # noqa: S307 - the text of this package's own code
    except Exception:
        return Any


def is_of_type(value: Any, hint: Any) -> bool:  # noqa: PLR0911 - one for each kind
    """Return True if a value and its contents have the type ``hint``, as far as types are known."""
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(is_of_type(value, kind) for kind in of)
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
        return all(is_of_type(key, of[0]) and is_of_type(one, of[1]) for key, one in value.items())
    if isinstance(value, tuple) and origin is tuple and of[-1:] != (...,):
        return len(value) == len(of) and all(map(is_of_type, value, of))
    if isinstance(value, tuple | frozenset) and of:
        return all(is_of_type(item, of[0]) for item in value)
    return True


def _get_type_name(kind: type) -> str:
    if not kind.__module__.startswith(_PACKAGE) or kind.__name__.startswith("_"):
        raise NotAValue(f"a {kind.__name__} cannot be saved as JSON")
    return kind.__name__


#: The public types of values in this package, by their unique names.
_TYPES: dict[str, type] = {}


def _find_type(name: str) -> Any:
    if name not in _TYPES:
        _collect_loaded_types()
    if name not in _TYPES:  # of what has not been loaded yet
        for module in pkgutil.walk_packages(import_module(_PACKAGE[:-1]).__path__, _PACKAGE):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # it needs another package
                    import_module(module.name)
        _collect_loaded_types()
    if name not in _TYPES:
        raise NotAValue(f"{name} is not a value type of this package")
    return _TYPES[name]


def _collect_loaded_types() -> None:
    for place, module in list(sys.modules.items()):
        for kind in vars(module).values() if place.startswith(_PACKAGE) else ():
            is_own = isinstance(kind, type) and kind.__module__ == place
            if is_own and (dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum | tuple)):
                _TYPES.setdefault(kind.__name__, kind)


#: Seconds after which written data is flushed to the disk.
_SYNC_EVERY = 1.0

_READ_AT_ONCE = 1 << 20
_LONGEST_HEADER = 1000

#: The form of a line.
_ENTRY = re.compile(
    rb'\{"key":"([0-9a-f]{64})","sum":"([0-9a-f]{32})","value":"(.*)"\}\n', re.DOTALL
)

#: Limits: bytes of a result, bytes of its line, values in it.
_LONGEST_ANSWER, _LONGEST_LINE, _MOST_VALUES = 1 << 26, 1 << 27, 2_000_000

#: Damaged lines that are listed.
_NAMED = 5


class UnusableJournal(Portable, ValueError):
    """An error: the file is not a journal that this run can continue; the file was not changed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class OtherVersion(UnusableJournal):
    """An error: another version of this program, whose results may differ, wrote the journal."""

    def __init__(self, path: str, theirs: str, ours: str) -> None:
        super().__init__(
            path, f"this journal is of epic {theirs}, and this is epic {ours}: use another file"
        )
        self.theirs, self.ours = theirs, ours


def get_program_version() -> str:
    """Return the installed version of this program."""
    return version("epic-cli")


def compute_key(**asked: Any) -> str:
    """Return the digest (64 hexadecimal digits) of JSON values; equal values have equal digests.

    Numbers with different digits differ, also 1 and 1.0.
    """
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_file(path: str) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits; raise ``OSError``."""
    with open(path, "rb") as stream:  # noqa: PTH123 - a name as it was given
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Damage(NamedTuple):
    """The number of damaged lines in a journal, and the line numbers of the first."""

    path: str
    number: int
    lines: tuple[int, ...]

    def __str__(self) -> str:
        """Describe the damage for users."""
        lines = ", ".join(map(str, self.lines)) + ", ..." * (self.number > len(self.lines))
        which = f"line {lines} is" if self.number == 1 else f"{self.number:,} lines ({lines}) are"
        return f"{self.path}: {which} damaged; what is lost will be recomputed"


class _EntryPlace(NamedTuple):
    """The place of an entry in the file, in bytes."""

    offset: int
    length: int


class ResultJournal:
    """A journal: results by key, in a file that is created if missing.

    Raises ``OSError``, and ``UnusableJournal`` if the file is something else, of another kind or
    version, or being written by another program. Results stay in the file: thousands of them take
    no memory.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.path = path
        #: Bytes of a damaged end that have been cut off.
        self.cut = 0
        #: The damaged lines; None if there are none.
        self.damage: Damage | None = None
        self._header = {"epic": get_program_version(), "journal": kind}
        self._salt = _compute_checksum(_dump_json(self._header)).encode()
        self._places: dict[str, _EntryPlace] = {}
        self._synced = time.monotonic()
        with contextlib.ExitStack() as opened:
            self._descriptor = _open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, opened)
            if lock(self._descriptor) is False:
                raise UnusableJournal(
                    path,
                    "another epic is writing this journal: wait for its end, or name another file",
                )
            self._end, size = self._index_lines()
            if self._end < size:
                os.ftruncate(self._descriptor, self._end)
                self.cut = size - self._end
            if not self._end:
                self._write_line(self._make_header_line)
            self._opened = opened.pop_all()

    def __len__(self) -> int:
        """Return the number of saved results."""
        return len(self._places)

    def find(self, asked: str) -> Any:
        """Return the result saved under the key ``asked``; None if there is no valid result.

        Raises ``OSError``.
        """
        place = self._places.get(asked)
        if place is None:
            return None
        if sys.platform == "win32":
            os.lseek(self._descriptor, place.offset, os.SEEK_SET)
            line = os.read(self._descriptor, place.length)
        else:
            line = os.pread(self._descriptor, place.length, place.offset)
        found = self._parse_line(line)
        return None if found is None else _decode_result(found[3])

    def add(self, asked: str, answer: Any) -> None:
        """Save a result under the key ``asked``; on return the file has it. Raises ``OSError``."""
        begin = self._end
        value = base64.b64encode(zlib.compress(_dump_json(answer)))
        name = asked.encode()
        checked = _compute_checksum(self._salt, name, value).encode()
        self._write_line(b'{"key":"%b","sum":"%b","value":"%b"}' % (name, checked, value))
        self._places[asked] = _EntryPlace(begin, self._end - begin)

    def close(self) -> None:
        """Flush the file to the disk and close the file; raise ``OSError``."""
        with self._opened, self._add_name_to_errors():
            os.fsync(self._descriptor)

    def __enter__(self) -> ResultJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _make_header_line(self) -> bytes:
        return _dump_json({**self._header, "sum": self._salt.decode()})

    def _parse_line(self, line: bytes) -> re.Match[bytes] | None:
        """Match a line's key, checksum and result; None for a damaged or foreign line."""
        found = _ENTRY.fullmatch(line)
        if found is None or _compute_checksum(self._salt, found[1], found[3]).encode() != found[2]:
            return None
        return found

    def _write_line(self, line: bytes) -> None:
        # in one piece, with its line's end: half a line is known for what it is
        left = memoryview(line + b"\n")
        with self._add_name_to_errors():
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
    def _add_name_to_errors(self) -> Iterator[None]:
        """Add the journal's name to system errors raised in the block, such as a full disk."""
        try:
            yield
        except OSError as error:
            error.filename = self.path
            raise

    def _index_lines(self) -> tuple[int, int]:
        """Index the whole lines of the file.

        Return their size in bytes, and the size of the file.
        """
        path, places = self.path, self._places
        damaged: list[int] = []
        count = end = 0
        with open(self._descriptor, "rb", _READ_AT_ONCE, closefd=False) as stream:
            header = stream.readline(_LONGEST_HEADER)
            begun = self._is_header(header, path)
            if begun is not None:
                stream.seek(0)
            for number, (line, size) in enumerate(
                _iterate_lines(stream) if begun is not None else (), 1
            ):
                if not line.endswith(b"\n"):
                    break
                if found := self._parse_line(line):
                    places[found[1].decode()] = _EntryPlace(end, len(line))
                elif number > 1 or not begun:
                    count += 1
                    damaged += [number] if len(damaged) < _NAMED else []
                end += size
        if begun is False and not places:
            raise UnusableJournal(path, "not a journal of epic: name another file")
        if count:
            self.damage = Damage(path, count, tuple(damaged))
        return end, os.fstat(self._descriptor).st_size

    def _is_header(self, line: bytes, path: str) -> bool | None:
        """Return True if the line is this journal's header, False if not.

        None: the file is the beginning of a header that a crash cut off.
        """
        whole = self._make_header_line + b"\n"
        if whole.startswith(line):
            return True if line == whole else None
        entry = _load_object(line) or {}
        theirs, kind = entry.get("epic"), entry.get("journal")
        if not isinstance(theirs, str) or not isinstance(kind, str):
            return False
        if "sum" in entry and entry["sum"] != _compute_checksum(
            _dump_json({"epic": theirs, "journal": kind})
        ):
            return False
        if kind != self._header["journal"]:
            raise UnusableJournal(
                path,
                f"this is a journal of epic {kind}, not of epic {self._header['journal']}: name"
                " another file",
            )
        earlier = " in an earlier format" if theirs == self._header["epic"] else ""
        raise OtherVersion(path, f"{theirs}{earlier}", self._header["epic"])


def _iterate_lines(stream: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each line and its size in bytes.

    An overlong line is yielded as its end only, which is not a valid line.
    """
    size = 0
    while piece := stream.readline(_LONGEST_LINE):
        size += len(piece)
        if piece.endswith(b"\n") or len(piece) < _LONGEST_LINE:
            yield piece if size == len(piece) else piece[-1:], size
            size = 0


def _decode_result(value: bytes) -> Any:
    """Return the result that a line holds; None if it is damaged or too large."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b64decode(value, validate=True), _LONGEST_ANSWER)
        if not unpacking.eof or text.count(b",") + text.count(b"[") > _MOST_VALUES:
            return None
        return json.loads(text)
    except (ValueError, zlib.error, RecursionError):
        return None


def _open_file(path: str, how: int, opened: contextlib.ExitStack) -> int:
    """Open a file and return its descriptor, which ``opened`` closes."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        raise UnusableJournal(path, "not a file: name another")  # a pipe would be waited for
    if how & os.O_CREAT:
        check_output(path)
    descriptor = os.open(path, how | BINARY, 0o666)
    opened.callback(os.close, descriptor)
    return descriptor


def _compute_checksum(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()


def _dump_json(entry: Any) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode()


def _load_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a line holds; None if the line is damaged."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
