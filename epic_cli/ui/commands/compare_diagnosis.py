"""What is wrong with a recording that ``epic compare`` judges, for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.analysis.study import Run
    from epic_cli.views.page.sections import Section


def section_on(run: Run) -> Section | None:
    """What the page says of a recording; nothing of one with few packets."""
    from epic_cli.analysis.diagnosis.diagnose import diagnose
    from epic_cli.analysis.diagnosis.traffic import traffic_of
    from epic_cli.views.diagnosis.report import report
    from epic_cli.views.page.sections import Section

    traffic = traffic_of(run.packets)
    if not traffic.streams:
        return None
    return Section(run.name, report(run.name, diagnose(traffic)))
