"""What ``epic check`` writes, as the outcomes come, and what becomes of them."""

from __future__ import annotations

import math
import sys

from epic_cli.engine.text.widths import printable, wrap
from epic_cli.jobs.check.command import Doing, ReportOptions
from epic_cli.jobs.check.report import CaseReport, as_junit, as_tap, report, rows_around, summary
from epic_cli.jobs.check.spec import BrokenCase, CaseStatus, Outcome
from epic_cli.jobs.check.writing import accept, in_continuous_integration, takeable
from epic_cli.shell.console import ColorChoice, open_sink, screen_columns, show, use_color
from epic_cli.shell.errors import ExitStatus, Style, WrongUsage, accessing, say, shown

#: Pictures have so many rows; of more, some.
_PICTURED = 100_000

_WIDEST_CHART = 160

#: Which exit status that of a case asks for; the first of them that there is counts.
_STATUSES = (
    (CaseStatus.BROKEN, ExitStatus.WRONG_USAGE),
    (CaseStatus.GONE, ExitStatus.NO_ACCESS),
    (CaseStatus.STRATEGY_FAILED, ExitStatus.STRATEGY_FAILED),
)


class Output:
    """Takes the outcomes one by one; only their words are kept."""

    def __init__(self, report: ReportOptions, doing: Doing, color: ColorChoice) -> None:
        if doing.accept and in_continuous_integration():
            raise WrongUsage("--accept needs a person to decide, and CI is set", "accept")
        self._report = report
        self._doing = doing
        self._color = color
        self._columns = screen_columns(sys.stdout)
        self._reports: list[CaseReport] = []
        self._accepted = 0
        self._pictured = False

    def add(self, outcome: Outcome) -> None:
        """One more."""
        one = report(outcome)
        if not outcome.holds or self._report.verbose:
            self._say(self._paragraph(one, outcome))
        if outcome.difference is not None and not outcome.difference.written:
            self._picture(outcome)
        if self._doing.accept and self._accept(outcome):
            failed = bool(outcome.failed_figures)
            one = one._replace(status=CaseStatus.FIGURES if failed else CaseStatus.HOLDS)
        elif outcome.new:
            name = printable(outcome.name)
            self._say(f"  drawn: {printable(outcome.new)}; 'epic check --accept {name}' takes it\n")
        self._reports.append(one)

    def end(self) -> ExitStatus:
        """Writes the summary and the reports; returns the exit status."""
        if not self._reports:
            raise WrongUsage("there are no cases")
        self._say(f"{summary(one.status for one in self._reports)}\n")
        for path, make in ((self._report.junit, as_junit), (self._report.tap, as_tap)):
            if path is not None:
                with open_sink(path) as sink:
                    sink.write(make(self._reports).encode("utf-8", "backslashreplace"))
        if self._report.html is not None and not self._pictured:
            say("epic: no page is written: no case has rows that differ\n")
        found = {one.status for one in self._reports}
        for status, exit_status in _STATUSES:
            if status in found:
                return exit_status
        return ExitStatus.DONE if found == {CaseStatus.HOLDS} else ExitStatus.NOT_AS_EXPECTED

    def _say(self, text: str) -> None:
        if self._report.silent:
            return
        with open_sink(None) as sink:
            sink.write(shown(text).encode(sys.stdout.encoding or "utf-8", "backslashreplace"))

    def _paragraph(self, one: CaseReport, outcome: Outcome) -> str:
        begin, end = (Style.ALARM, Style.END) if use_color(self._color, sys.stdout) else ("", "")
        head = one.headline if one.holds else f"{begin}{one.headline}{end}"
        lines = [head]
        for line in one.lines:
            columns = self._columns
            lines += wrap(f"  {line}", columns, "    ") if columns else [f"  {line}"]
        if outcome.difference is not None:
            columns = self._columns and self._columns - 2
            lines += [f"  {line}" for line in rows_around(outcome.difference, columns)]
        return "".join(f"{line}\n" for line in lines)

    # ------------------------------------------------------------ taking what is drawn

    def _accept(self, outcome: Outcome) -> bool:
        """Whether what is drawn has become what is expected."""
        expected = takeable(outcome)
        if expected is None or not (self._doing.yes or self._agreed(expected)):
            return False
        with accessing("write to", expected):
            accept(outcome)
        self._say(f"  taken: {printable(expected)}\n")
        return True

    def _agreed(self, expected: str) -> bool:
        """Asks, on a terminal."""
        if sys.stdin is None or not sys.stdin.isatty():
            return True
        say(f"Take these rows as {printable(expected)}? [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    # ------------------------------------------------------------ pictures

    def _picture(self, outcome: Outcome) -> None:
        """Charts of each case that differs, a page of the first."""
        wants_page = self._report.html is not None and not self._pictured
        wants_charts = self._report.charts and not self._report.silent
        case, difference = outcome.case, outcome.difference
        if case is None or difference is None or not (wants_page or wants_charts):
            return
        from epic_cli.jobs.check.report import page
        from epic_cli.jobs.check.run import DRAWN, EXPECTED, against_expected, pictured
        from epic_cli.metrics.notes import NothingToDraw
        from epic_cli.show.chart import scene_chart
        from epic_cli.show.scene import Selection

        try:
            comparison = pictured(case, difference, Selection(_PICTURED, -math.inf, math.inf))
            for view in self._report.charts if wants_charts else ():
                chart = scene_chart(
                    comparison.scenes[0], view, (EXPECTED, DRAWN), width=_WIDEST_CHART
                )
                show(chart, self._color)
            if wants_page and self._report.html is not None:
                text = page(outcome, difference, against_expected(comparison.scenes[0]))
                with open_sink(self._report.html) as sink:
                    sink.write(text.encode())
                self._pictured = True
        except (BrokenCase, NothingToDraw) as error:
            say(f"epic: {printable(outcome.name)}: no picture: {printable(str(error))}\n")
