"""What ``epic tune`` finds, as a page shows it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from epic_cli.analysis.notes import NothingToDraw
from epic_cli.views.tuning.front import front_rows
from epic_cli.views.tuning.svg import picture
from epic_cli.views.tuning.tables import best_of, notes, part_rows, setting_rows, strategy_rows
from epic_cli.views.tuning.words import findings, usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.tuning.result import Tunings

#: What a page has of tuning.
TuningSection = dict[str, Any]


def tuning_section(found: Tunings) -> TuningSection:
    """The sentences, the tables, the settings to be copied, and the front as a picture."""
    best = best_of(found)
    titles, rows, _ = part_rows(best, found.goal.metric)
    tables = [
        _table(f"{best.strategy} before and after", titles, rows, wordy=False),
        _table("Its settings", *setting_rows(best, found.goal.metric)),
        _table("What smoothness costs in latency", *front_rows(found)),
    ]
    if found.comparison is not None:
        tables.insert(0, _table("Every strategy tuned, the best first", *strategy_rows(found)))
    return {
        "strategy": best.strategy,
        "findings": [one.text for one in findings(found)],
        "notes": notes(found),
        "tables": [one for one in tables if one["rows"]],
        "usage": usage(best.strategy, best.settings) if best.settings else [],
        "picture": _picture(found),
    }


def _table(
    caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]], wordy: bool = True
) -> dict[str, Any]:
    """``wordy``: the last column has words."""
    cells = [list(one) for one in rows]
    return {"caption": caption, "heads": list(titles), "rows": cells, "wordy": wordy}


def _picture(found: Tunings) -> str:
    """As an address that holds it; empty: there is none."""
    try:
        drawn = picture(found)
    except NothingToDraw:
        return ""
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
