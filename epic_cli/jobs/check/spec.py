"""A case: a recording, how it is drawn, what is expected of what is drawn, and where it stands."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.failures import Portable
from epic_cli.engine.text import COLUMNS, FORMATS, TURN_COLUMNS
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings.opening import RecordingSource

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.check.port import Port
    from epic_cli.metrics.conditions import Condition


CASE_FILE = "case.toml"

#: What is in front of the name's ending in files of expected rows.
EXPECTED = "expected"

#: The formats that expected rows can have: a table for people is cut to their screen.
ROW_FORMATS = tuple(file_format for file_format in FORMATS if file_format != "table")

#: The columns of rows that are numbers; the others are exact always.
NUMBERS = (*COLUMNS[:7], *TURN_COLUMNS)


class BrokenCase(Portable, ValueError):
    """A case that cannot be run as it is written: where that stands, and what is wrong.

    ``gone``: nothing is wrong with what is written, but a file that it names cannot be read.
    """

    def __init__(self, place: str, what: str, *, gone: bool = False) -> None:
        super().__init__(f"{place}: {what}")
        self.place = place
        self.what = what
        self.gone = gone

    @classmethod
    def unreadable(cls, place: str, error: OSError) -> BrokenCase:
        """The error of a file that the system does not give."""
        return cls(place, f"cannot be read: {error.strerror or error}", gone=True)


class Tolerance(NamedTuple):
    """What two numbers may differ by: ``atol`` in the column's unit, or ``rtol`` of the expected.

    The larger of the two counts.
    """

    atol: float = 0.0
    rtol: float = 0.0

    def allows(self, expected: float, drawn: float) -> bool:
        """Whether a number is near enough; what is not finite has to be the same."""
        if expected == drawn or (expected != expected and drawn != drawn):  # noqa: PLR0124 - NaN
            return True
        return abs(expected - drawn) <= max(self.atol, self.rtol * abs(expected))


EXACT = Tolerance()


class Tolerances(NamedTuple):
    """What the numbers of each column may differ by; without any, bytes have to be the same."""

    default: Tolerance = EXACT
    columns: Mapping[str, Tolerance] = MappingProxyType({})

    def of(self, column: str) -> Tolerance:
        """That of a column."""
        return self.columns.get(column, self.default)

    @property
    def exact(self) -> bool:
        """Whether there are none."""
        return all(pair == EXACT for pair in (self.default, *self.columns.values()))


@dataclass(frozen=True)
class CheckSpec:
    """How cases are checked: against their expected rows or, with a ``port``, a program's.

    The program is given packets in the format ``feed``, and its numbers may differ by
    ``tolerances`` (None: those of the case). ``threads`` work side by side (None: one on each
    core).
    """

    port: Port | None = None
    feed: str = "text"
    tolerances: Tolerances | None = None
    threads: int | None = None


class CaseRecording(NamedTuple):
    """A recording under the name that it is given in the case.

    Its bytes are in the file at ``path``, or, where there is none, are ``content``.
    """

    name: str
    path: str | None
    content: bytes = b""

    @property
    def source(self) -> RecordingSource:
        """Where it is read from."""
        content = None if self.path is not None else io.BytesIO(self.content)
        return RecordingSource(self.name, path=self.path, content=content, kept=True)


class DrawSpec(NamedTuple):
    """What is drawn, and how.

    With ``several`` strategies a last column of the rows names them, as with several recordings
    one names these.
    """

    recordings: tuple[CaseRecording, ...]
    candidates: tuple[StrategySpec, ...]
    several: bool = False
    replay: ReplaySpec = ReplaySpec(row_format="tsv")

    def changed(self, **replay: Any) -> DrawSpec:
        """With another replay in these fields."""
        return self._replace(replay=self.replay._replace(**replay))


class TruthSpec(NamedTuple):
    """What figures are measured against: a recording, or, None, the packets themselves.

    ``offset`` is added to its times, ``warm_up`` is how long rows do not count at first (s).
    """

    path: str | None = None
    offset: float = 0.0
    warm_up: float | None = None


class Case(NamedTuple):
    """One case.

    ``name`` is how it is called, ``file`` where it is written. ``expected`` is where its rows are
    expected, or would be written; None: only its figures count. ``conditions`` are the figures of
    ``epic compare`` that have to hold. ``printed_by`` is the program that printed the expected
    rows; empty: epic drew them.
    """

    name: str
    file: str
    drawing: DrawSpec
    expected: str | None
    tolerances: Tolerances = Tolerances()
    conditions: tuple[Condition, ...] = ()
    truth: TruthSpec = TruthSpec()
    printed_by: str = ""

    @property
    def new(self) -> str:
        """Where rows are written that are not the expected ones."""
        return f"{os.path.splitext(self.expected or self.file)[0]}.new"  # noqa: PTH122


def case_name(path: str) -> str:
    """What a case is called: its folder, or its file without the ending."""
    if os.path.basename(path) == CASE_FILE:  # noqa: PTH119
        return os.path.dirname(path) or "."  # noqa: PTH120
    return path.removesuffix(f".{CASE_FILE}")


def beside(path: str, row_format: str) -> str:
    """Where the expected rows of a case file are."""
    return f"{path.removesuffix(CASE_FILE)}{EXPECTED}.{row_format}"


def expected_files(path: str) -> list[str]:
    """The files of expected rows beside a case file, in the order of the formats."""
    return [
        word
        for word in (beside(path, name) for name in ROW_FORMATS)
        if os.path.exists(word)  # noqa: PTH110
    ]
