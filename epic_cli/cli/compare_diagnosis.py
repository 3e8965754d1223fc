"""What is wrong with the recordings that ``epic compare`` judges, for its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.analysis.study import Run
    from epic_cli.views.page_diagnosis import Section


def looked_at(runs: Iterable[Run], sections: list[Section]) -> Iterator[Run]:
    """The same runs; what is wrong with the first of them goes to ``sections``.

    Nothing is said of recordings with few packets.
    """
    from epic_cli.analysis.diagnosis.diagnose import diagnose
    from epic_cli.analysis.diagnosis.traffic import traffic_of
    from epic_cli.views.diagnosis import Report
    from epic_cli.views.page_diagnosis import MOST, section

    for run in runs:
        if len(sections) < MOST:
            traffic = traffic_of(run.packets)
            if traffic.streams:
                sections.append(section(Report(run.name, traffic, diagnose(traffic))))
        yield run
