"""Errors that can be sent to other processes, and failures of strategies' own code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


#: The files that load, make and call strategies, which are not the strategy's own code.
_NOT_THEIRS = (".pyx", "engine/strategies/__init__.py", "engine/places.py", "engine/plain.py")


class Portable:
    """A base class of errors that can be sent to another process, whatever their attributes are.

    An attribute that cannot be pickled (from the code of others) becomes None there.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error by its attributes, since creating it from its message may fail."""
        kept = {
            name: value if _can_be_pickled(value) else None for name, value in vars(self).items()
        }
        return _restore_error, (type(self), cast("BaseException", self).args), kept


def _restore_error(kind: type[BaseException], args: tuple[object, ...]) -> BaseException:
    return kind.__new__(kind, *args)


def _can_be_pickled(value: object) -> bool:
    """Return True if a value can be sent to another process."""
    import pickle

    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
    except Exception:
        return False
    return True


class StrategyInUse(Portable, RuntimeError):
    """An error: a replay that is still running uses this strategy object."""

    def __init__(self, strategy: object) -> None:
        super().__init__(
            f"this {type(strategy).__name__} is in use by a replay that is still running:"
            " finish or close that replay, or create another strategy"
        )


class StrategyFailed(Portable, RuntimeError):
    """An error: a strategy's code raised ``error`` or, if None, returned an invalid value.

    ``strategy`` names the class, ``during`` is the call that failed: ``import``, ``__init__``,
    ``reset``, ``update`` or ``read``. ``file`` and ``line`` locate the failure in its own code, if
    known. ``packet`` is the last one that it was given and ``number`` counts it from 1
    (of its entity); ``at`` is the local time (s) to be drawn. ``place`` is the packet's place in
    its recording, if known, from ``packet_line``.
    """

    def __init__(
        self, strategy: str, during: str, what: str, error: BaseException | None = None
    ) -> None:
        super().__init__(strategy, during, what)
        self.strategy = strategy
        self.during = during
        self.what = what
        self.error = error
        self.file = ""
        self.line = 0
        self.packet: Packet | None = None
        self.number = 0
        self.packet_line = 0
        self.at: float | None = None
        self.place = ""

    def __str__(self) -> str:
        return f"strategy {self.strategy} failed {self.story}"

    @property
    def story(self) -> str:
        """The failed call, the error, and its line in the strategy's code, in words."""
        source = f" ({_make_relative_path(self.file)}, line {self.line})" if self.line else ""
        return f"{self._describe_moment}: {self.what}{source}"

    @property
    def _describe_moment(self) -> str:
        """The failed call, and the packet or tick at which it failed, in words."""
        asked = {"import": "while loading", "__init__": "while being created"}
        words = asked.get(self.during, f"in {self.during}")
        if self.packet is None:
            return words if self.at is None else f"{words} at {self.at:.6g} s, before any packet"
        entity = f" of {self.packet.entity}" if self.packet.entity else ""
        where = self.place or f"time {self.packet.time:.6g}"
        packet = f"packet {self.number}{entity} ({where})"
        if self.at is not None:
            return f"{words} at {self.at:.6g} s, after {packet}"
        return f"{words} with {packet}" if self.during == "update" else f"{words} after {packet}"


def raised(strategy: type, during: str, error: BaseException) -> StrategyFailed:
    """Return the failure for an exception that a strategy of this class raised."""
    home = getattr(sys.modules.get(strategy.__module__), "__file__", None) or ""
    return raised_in(f"{strategy.__module__}:{strategy.__qualname__}", home, during, error)


def raised_in(strategy: str, home: str, during: str, error: BaseException) -> StrategyFailed:
    """Return the failure for an exception in a strategy's code.

    ``home`` is the code's file, if known.
    """
    text = _escape_controls(_get_message(error))
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    failure = StrategyFailed(strategy, during, what, error)
    failure.file, failure.line = _find_source(error, home)
    failure.__cause__ = error
    return failure


def returned(strategy: type, during: str, what: str) -> StrategyFailed:
    """Return the failure for an invalid return value of a strategy of this class."""
    name = f"{strategy.__module__}:{strategy.__qualname__}"
    failure = StrategyFailed(name, during, what)
    code = getattr(getattr(strategy, during, None), "__code__", None)
    if code is not None:
        failure.file, failure.line = code.co_filename, code.co_firstlineno
    return failure


def wrong_answer(answer: object) -> str:
    """Explain why a value returned by ``read`` is not a valid ``Sample``."""
    from epic_cli.engine.contract import STATUSES  # needed on failure only

    missing = [word for word in ("position", "velocity", "status") if not hasattr(answer, word)]
    if missing:
        return f"it returned {_shorten_repr(answer)}, not a Sample: it has no {', '.join(missing)}"
    for name in ("position", "velocity"):
        value = getattr(answer, name)
        try:
            numbers = [float(number) for number in value]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != 3:
            return f"its {name} is {_shorten_repr(value)}, not three numbers"
        if not all(abs(number) < float("inf") for number in numbers):
            return f"its {name} is not finite: {_shorten_repr(value)}"
    status = getattr(answer, "status", None)
    return f"its status is {_shorten_repr(status)}, not one of {', '.join(STATUSES)}"


def _find_source(error: BaseException, home: str) -> tuple[str, int]:
    """Return the file and line in a strategy's own code at which an error was raised."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    frames = trace_frames(error)
    own = [frame for frame in frames if frame[0] == home]
    others = [frame for frame in frames if not frame[0].endswith(_NOT_THEIRS)]
    return next(iter(own[-1:] or others[-1:]), ("", 0))


def trace_frames(error: BaseException) -> list[tuple[str, int]]:
    """Return the files and lines of an error's traceback, innermost last."""
    from traceback import walk_tb  # needed on failure only

    return [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]


def _make_relative_path(file: str) -> str:
    """Return a path relative to the current folder if the path lies below that folder."""
    import os

    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - pathlib is slow to load
    return file.removeprefix(here)


def _get_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # third-party code may fail in any way
        return ""


def _escape_controls(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))


def _shorten_repr(value: object) -> str:
    """Return the ``repr`` of a value, cut to 60 characters."""
    try:
        text = _escape_controls(repr(value))
    except Exception:  # third-party code may fail in any way
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
