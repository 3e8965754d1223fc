"""Results displayed in notebooks, and converted to tables of other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epic_cli.metrics.tabular import Tabular
    from epic_cli.show.report import Report


def register(kind: type[Tabular], report: Callable[[Any], Report]) -> None:
    """Register the function that makes the report of a class of results."""

    def write_page(found: Any) -> str:
        from epic_cli.show import documents  # imported where it is shown

        return documents.write_html(report(found))

    kind.report_of = staticmethod(report)
    kind.html_of = staticmethod(write_page)
