"""Export of results as tables for other libraries, and as notebook pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Tabular:
    """A base class for results that can be exported as tables.

    ``report_of`` gives a ``show.report.Report``, ``html_of`` the text that a notebook shows. Both
    are set where Python programs get such results (``api/shown.py``).
    """

    report_of: ClassVar[Callable[[Any], Any]]
    html_of: ClassVar[Callable[[Any], str]]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the records that ``--format jsonl`` writes, as plain dicts."""
        return [dict(record) for record in self._make_report().data.records()]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the records as an Arrow stream, which Polars, DuckDB and PyArrow read."""
        from epic_cli.metrics.arrow_rows import export_rows

        return export_rows(self._list_rows())

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each record; needs pandas."""
        import pandas

        return pandas.DataFrame(self._list_rows())

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame`` with a row for each record; needs Polars."""
        import polars

        return polars.DataFrame(_ArrowTable(self))

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table`` with a row for each record; needs PyArrow."""
        import pyarrow

        return pyarrow.table(self)

    def _list_rows(self) -> list[dict[str, Any]]:
        """Return the records of CSV or of JSON, with values that tables can hold."""
        data = self._make_report().data
        rows = [dict(row) for row in data.rows()] or self.to_dicts()
        return [{name: _flatten_value(value) for name, value in row.items()} for row in rows]

    def _make_report(self) -> Any:
        return type(self).report_of(self)

    def __repr__(self) -> str:
        if not hasattr(self, "report_of"):
            return object.__repr__(self)
        report = self._make_report()
        words = next(iter(report.verdict), "") or report.title
        return f"<{type(self).__name__}: {words}>"

    def _repr_html_(self) -> str:
        return type(self).html_of(self)


class _ArrowTable:
    """A result's Arrow stream alone, for versions of Polars that iterate whatever they can."""

    def __init__(self, result: Tabular) -> None:
        self._result = result

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._result.__arrow_c_stream__(requested_schema)


def _flatten_value(value: Any) -> Any:
    """Return a cell's value, with lists and mappings as text."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value) if isinstance(value, dict) else value
