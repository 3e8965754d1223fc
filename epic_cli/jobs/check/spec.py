"""A case: a recording, how it is drawn, its expected rows and metrics, and its files."""

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

#: Stem of the names of files with expected rows.
EXPECTED = "expected"

#: The formats that expected rows can have: a table for people is cut to their screen.
ROW_FORMATS = tuple(file_format for file_format in FORMATS if file_format != "table")

#: The columns of rows that are numbers; the others are exact always.
NUMBERS = (*COLUMNS[:7], *TURN_COLUMNS)


class BrokenCase(Portable, ValueError):
    """An error for a case that cannot be run as written; the message has the place and the reason.

    ``gone``: the case is right, but a file that it names cannot be read.
    """

    def __init__(self, place: str, what: str, *, gone: bool = False) -> None:
        super().__init__(f"{place}: {what}")
        self.place = place
        self.what = what
        self.gone = gone

    @classmethod
    def from_unreadable(cls, place: str, error: OSError) -> BrokenCase:
        """Return the error for a file that cannot be read."""
        return cls(place, f"cannot be read: {error.strerror or error}", gone=True)


class Tolerance(NamedTuple):
    """The allowed difference of two numbers, the larger of ``atol`` and ``rtol``.

    ``atol`` is in the column's unit, ``rtol`` a share of the expected number.
    """

    atol: float = 0.0
    rtol: float = 0.0

    def is_within(self, expected: float, drawn: float) -> bool:
        """Return True if two numbers agree within the tolerance; NaN and infinity must be equal."""
        if expected == drawn or (expected != expected and drawn != drawn):  # noqa: PLR0124 - NaN
            return True
        return abs(expected - drawn) <= max(self.atol, self.rtol * abs(expected))


EXACT = Tolerance()


class Tolerances(NamedTuple):
    """The tolerances of each column; without tolerances, bytes must be equal."""

    default: Tolerance = EXACT
    columns: Mapping[str, Tolerance] = MappingProxyType({})

    def find_tolerance(self, column: str) -> Tolerance:
        """Return the tolerance of a column."""
        return self.columns.get(column, self.default)

    @property
    def exact(self) -> bool:
        """True if there are no tolerances."""
        return all(pair == EXACT for pair in (self.default, *self.columns.values()))


@dataclass(frozen=True)
class CheckSpec:
    """The settings of a check: compare with expected rows or, if there is a ``port``, its output.

    The program gets packets in the format ``feed``; its numbers may differ by ``tolerances`` (None:
    those of the case). ``threads`` work in parallel (None: one on each core).
    """

    port: Port | None = None
    feed: str = "text"
    tolerances: Tolerances | None = None
    threads: int | None = None


class CaseRecording(NamedTuple):
    """A recording, and its name in the case file.

    Its bytes are in the file at ``path`` or, without one, in ``content``.
    """

    name: str
    path: str | None
    content: bytes = b""

    @property
    def source(self) -> RecordingSource:
        """The source to read the recording from."""
        content = None if self.path is not None else io.BytesIO(self.content)
        return RecordingSource(self.name, path=self.path, content=content, kept=True)


class DrawSpec(NamedTuple):
    """The recordings and strategies of a case, and the settings of their drawing.

    With ``several`` strategies the last column of the rows names the strategy, as with several
    recordings a column names the recording.
    """

    recordings: tuple[CaseRecording, ...]
    candidates: tuple[StrategySpec, ...]
    several: bool = False
    replay: ReplaySpec = ReplaySpec(row_format="tsv")

    def replace_fields(self, **replay: Any) -> DrawSpec:
        """Return a copy whose replay has these fields changed."""
        return self._replace(replay=self.replay._replace(**replay))


class TruthSpec(NamedTuple):
    """The truth that metrics are measured against: a recording, or None for the packets.

    ``offset`` is added to its times; rows in the first ``warm_up`` seconds do not count.
    """

    path: str | None = None
    offset: float = 0.0
    warm_up: float | None = None


class Case(NamedTuple):
    """A golden case: a recording, how it is drawn, and what is expected.

    ``name`` is its name in reports, ``file`` its case file. ``expected`` is the file of expected
    rows, or None if only conditions on metrics count. ``conditions`` are limits of ``epic
    compare``'s metrics. ``printed_by`` is the program that printed the expected rows; empty if epic
    drew them.
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
        """The file to which drawn rows are written if they differ."""
        return f"{os.path.splitext(self.expected or self.file)[0]}.new"  # noqa: PTH122


def get_case_name(path: str) -> str:
    """Return the name of a case: its folder, or its file without the suffix."""
    if os.path.basename(path) == CASE_FILE:  # noqa: PTH119
        return os.path.dirname(path) or "."  # noqa: PTH120
    return path.removesuffix(f".{CASE_FILE}")


def find_expected_file(path: str, row_format: str) -> str:
    """Return the file of expected rows that belongs to a case file."""
    return f"{path.removesuffix(CASE_FILE)}{EXPECTED}.{row_format}"


def list_expected_files(path: str) -> list[str]:
    """Return the existing files of expected rows of a case file, in the order of the formats."""
    return [
        word
        for word in (find_expected_file(path, name) for name in ROW_FORMATS)
        if os.path.exists(word)  # noqa: PTH110
    ]
