"""The report model: the content of a result as values, before it becomes text, data or a page.

Each feature has one function ``report(result) -> Report``. The renderers are ``text`` (terminals),
``documents`` (CSV, JSON lines, Markdown) and ``page`` (HTML); none of them knows a feature.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

#: The weight of a column that is never left out.
KEPT = 1000

#: A record by names, and one for CSV.
Record: TypeAlias = Mapping[str, Any]


class ErrorBar(NamedTuple):
    """A value and the ends of its interval; NaN if unknown."""

    low: float
    value: float
    high: float


#: Title of the column that says whether a row may be best, with the cells ``maybe`` and ``no``.
MAYBE = "best?"


@dataclass(frozen=True)
class Column:
    """A column of a table: its head and its cells.

    If there is no room for all columns, those with the smallest ``weight`` are left out. A cell
    that is too long in a column of ``text`` stands whole on a line of its own. ``styles`` are the
    styles of the cells. ``best`` are the rows to mark as best; None if nothing is compared. Columns
    with a ``group`` become one table per group if the screen is too narrow for all. ``key`` is the
    metric, and ``meaning`` its explanation.

    A column of ``error_bars`` is a picture, a dot with its interval in each row: a screen draws it
    in the room that other columns leave, and documents leave it out.
    """

    title: str
    cells: Sequence[str]
    weight: int = KEPT
    right: bool = False
    text: bool = False
    styles: Sequence[str] = ()
    best: Collection[int] | None = None
    group: str = ""
    key: str = ""
    meaning: str = ""
    error_bars: Sequence[ErrorBar] = ()


@dataclass(frozen=True)
class Table:
    """Columns of the same length; an empty line stands before each row of ``gaps``."""

    columns: Sequence[Column]
    gaps: Collection[int] = ()
    caption: str = ""

    @property
    def titles(self) -> list[str]:
        """The heads of the columns."""
        return [column.title for column in self.columns]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


@dataclass(frozen=True)
class ReportFinding:
    """A finding: a title, a sentence, and ``terms`` with more about it.

    Findings without a title are not numbered. ``method`` has more terms: the rule behind the
    finding, shown with ``--explain``. ``entities`` are the entities concerned, empty for all;
    ``moments`` are named times (s) to look at.
    """

    title: str
    text: str
    terms: Sequence[tuple[str, str]] = ()
    entities: Sequence[str] = ()
    moments: Sequence[tuple[str, float]] = ()
    method: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Usage:
    """Commands to copy, each on one line, with the place where it is typed."""

    forms: Sequence[tuple[str, str]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture drawn on demand: ``draw`` for terminals, ``svg`` for the text of a file.

    ``svg`` takes the page's width in pixels. Both return None or an empty text if there is nothing
    to draw. ``words`` describe the picture.
    """

    words: str
    draw: Callable[[], Any]
    svg: Callable[[int], str]


@dataclass(frozen=True)
class Data:
    """A result for programs: ``records`` for JSON lines, ``rows`` with ``fields`` for CSV."""

    fields: Sequence[str] = ()
    rows: Callable[[], Iterable[Record]] = tuple
    records: Callable[[], Iterable[Record]] = tuple


@dataclass(frozen=True)
class Report:
    """A result for people and programs.

    The first sentence of the ``verdict`` is the answer, the others explain it. ``parts`` are shown
    in their order (a string is a paragraph), ``notes`` limit the answer. ``method`` says how the
    answer was found: documents and pages have it, a screen shows it with ``--explain``.
    """

    title: str = ""
    verdict: Sequence[str] = ()
    parts: Sequence[Part] = ()
    notes: Sequence[str] = ()
    method: Sequence[str] = ()
    data: Data = field(default_factory=Data)


Part: TypeAlias = "str | Table | ReportFinding | Usage | Figure | Report"
