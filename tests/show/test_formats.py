"""The table of report formats: each entry writes, and each alias leads to one."""

import pytest

from epic_cli.show.formats import ALIASES, FINDING_FORMATS, REPORT_FORMATS
from epic_cli.show.report import Report
from epic_cli.show.styles import LineStyle


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_each_format_writes_a_report_unless_it_is_drawn(name: str) -> None:
    entry = REPORT_FORMATS[name]
    report = Report("A title", verdict=["It is so."])
    if entry.write is None:
        assert name == next(iter(REPORT_FORMATS))
        return
    assert ("It is so." in entry.write(report)) == entry.is_whole


def test_aliases_are_no_names_of_formats() -> None:
    assert not ALIASES.keys() & REPORT_FORMATS.keys()
    assert set(ALIASES.values()) <= REPORT_FORMATS.keys()
    assert set(FINDING_FORMATS) < REPORT_FORMATS.keys()


def test_each_pattern_has_a_mark_and_the_rest_the_last_one() -> None:
    assert "".join(LineStyle(0, pattern).mark for pattern in range(7)) == "●■◆▲▼▼▼"
