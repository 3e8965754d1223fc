"""What ``epic tune`` writes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epic_cli.ui.io.console import write_document, write_report
from epic_cli.ui.options.compare import PICTURE_ROWS
from epic_cli.views.tuning import delays
from epic_cli.views.tuning.report import best_of, report
from epic_cli.views.tuning.svg import picture

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.delays import DelaysNeeded
    from epic_cli.analysis.tuning.result import Tunings
    from epic_cli.ui.io.color import ColorChoice
    from epic_cli.ui.options.tune import Written
    from epic_cli.views.page.sections import About


def write_delays(found: DelaysNeeded, form: str, color: ColorChoice) -> None:
    """The closed form alone."""
    write_report(delays.report(found), form, color)


def write_tunings(found: Tunings, written: Written, color: ColorChoice, about: About) -> None:
    """Pictures to their files, the answer to stdout; what it rests on too, or to stderr.

    ``about`` is what the page says of where it comes from.
    """
    if written.html is not None:
        write_document(_page(found, about), written.html)
    if written.svg is not None:
        write_document(picture(found), written.svg)
    write_report(report(found), written.form, color, summary=True)


def _page(found: Tunings, about: About) -> str:
    """What was found, and what is drawn before and after."""
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.views.page.page import page

    comparison = found.before_and_after(Selection(PICTURE_ROWS, -math.inf, math.inf))
    best = best_of(found).evaluation
    shown = dict.fromkeys([best.tuned.label, best.default.label])
    return page(comparison, "score", list(shown), about, (), report(found, details=True))
