"""``epic check``: golden cases, and other implementations compared with epic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.jobs.check.report import CaseReport
import math
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import click

from epic_cli.engine.parameters import Number
from epic_cli.engine.text.widths import printable, wrap
from epic_cli.engine.trust import check_program
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.port import Port
from epic_cli.jobs.check.spec import (
    ROW_FORMATS,
    BrokenCase,
    Case,
    CheckSpec,
    DrawSpec,
    Tolerance,
    Tolerances,
)
from epic_cli.jobs.replay.command import add_spec_options
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.recordings import files, list_packet_formats
from epic_cli.recordings.files import CannotAccess, raise_cannot_access
from epic_cli.shell.console import (
    PROSE,
    ColorChoice,
    measure_screen_columns,
    open_sink,
    show,
    use_color,
)
from epic_cli.shell.declared import (
    InputFile,
    OutputFile,
    ParameterType,
    Parsed,
    declare_flag,
    declare_shared,
    declare_value,
    is_default,
    make_command,
    make_seconds_type,
    refuse,
)
from epic_cli.shell.errors import (
    ExitStatus,
    Style,
    WrongUsage,
    raise_wrong_usage,
    style_message,
    write_message,
)
from epic_cli.shell.options.common import color_option, explain_option, trust_option
from epic_cli.shell.options.runs import threads_option
from epic_cli.shell.progress import Progress
from epic_cli.show.styles import VIEWS, View

_TOLERANCE = ParameterType(Number("tolerance", None, "", "", 0))


@dataclass(frozen=True)
class Doing:
    """Options of what is done besides checking: accepting drawn rows, creating a case."""

    accept: bool = declare_flag(
        "Accept the drawn rows as expected. Shows the difference first; never where CI is set."
    )
    yes: bool = declare_flag("Do not ask before --accept replaces a case's rows.")
    new: str | None = declare_value(
        "Create a case in this folder. It holds the given recordings and the options below.",
        metavar="CASE",
    )


@dataclass(frozen=True)
class Program:
    """Options of the port (another implementation), and of how it is compared with epic."""

    against: str | None = declare_value(
        "Compare the rows that your program prints with ours. Both get the same packets.",
        type=Parsed("command", str, str, runs=lambda text: [text]),
        metavar="COMMAND",
    )
    feed: str = declare_value(
        "The packet format that your program reads.",
        type=click.Choice(list_packet_formats()),
        default="text",
        show_default=True,
    )
    timeout: float = declare_value(
        "Time limit for one case.",
        type=make_seconds_type(0.01, 3600),
        default=10.0,
        show_default=True,
    )
    builtin: bool = declare_flag("Use epic's built-in test streams.")
    atol: float | None = declare_value(
        "Absolute tolerance.  [default: as each case says, else 0]",
        type=_TOLERANCE,
        metavar="NUMBER",
    )
    rtol: float | None = declare_value(
        "Relative tolerance, such as 1e-6.", type=_TOLERANCE, metavar="NUMBER"
    )

    def make_spec(self, threads: int | None) -> CheckSpec:
        """Return the settings of the check; raise ``WrongUsage``."""
        if self.against is None:
            if self.builtin:
                raise WrongUsage(
                    "--builtin tests another program: add --against", "builtin", "against"
                )
            if self.atol is not None or self.rtol is not None:
                raise WrongUsage(
                    "--atol and --rtol need --against: else set [tolerance] in the case file",
                    "atol",
                    "rtol",
                    "against",
                )
            return CheckSpec(threads=threads)
        with raise_wrong_usage(f"--against {self.against!r}: "):
            check_program("a program")
            command = shlex.split(self.against)
        if not command:
            raise WrongUsage("--against: the command is empty", "against")
        if shutil.which(command[0]) is None:
            raise WrongUsage(
                f"--against: there is no program {command[0]!r} that can be run", "against"
            )
        tolerances = None
        if self.atol is not None or self.rtol is not None:
            tolerances = Tolerances(Tolerance(self.atol or 0.0, self.rtol or 0.0))
        return CheckSpec(Port(tuple(command), self.timeout), self.feed, tolerances, threads)


@dataclass(frozen=True)
class ReportOptions:
    """Options of the reports: their formats and files."""

    verbose: bool = declare_flag("Describe every case, passing ones too.", "-v", "--verbose")
    explain: bool = declare_shared(explain_option)
    junit: str | None = declare_value(
        "Write JUnit XML; - is stdout.", type=OutputFile(), metavar="FILE"
    )
    tap: str | None = declare_value("Write TAP; - is stdout.", type=OutputFile(), metavar="FILE")
    charts: tuple[View, ...] = declare_value(
        "Chart expected and drawn rows in the terminal. May be repeated.",
        "--chart",
        type=click.Choice(VIEWS),
        multiple=True,
    )
    html: str | None = declare_value(
        "Write a page about the first case that differs.",
        type=OutputFile(),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Refuse two reports on standard output."""
        if self.html == "-":
            raise WrongUsage("the page cannot go to standard output: write --html FILE")
        if self.junit == self.tap == "-":
            raise WrongUsage("--junit and --tap cannot both go to standard output", "junit", "tap")

    @property
    def silent(self) -> bool:
        """True if standard output carries TAP or JUnit."""
        return "-" in (self.junit, self.tap)


EXAMPLES = """\b
Examples:
  epic check --new tests/turn sample_inputs/turn.txt -s mirror --latency 80ms
  epic check --verbose tests
  epic check --tap - tests
  epic check --builtin -s mirror --against 'epic replay --format csv'
"""

#: Options for --new and --builtin only.
_case_options = add_spec_options("case")

_PATHS = click.argument("paths", nargs=-1, type=InputFile(), metavar="[CASE|FOLDER]...")


@make_command(EXAMPLES, "new accept against builtin atol rtol s chart html junit v")
def check(
    paths: tuple[str, ...] = declare_shared(_PATHS),
    doing: Doing = declare_shared(Doing),
    program: Program = declare_shared(Program),
    report: ReportOptions = declare_shared(ReportOptions),
    trust: bool = declare_shared(trust_option),
    threads: int | None = declare_shared(threads_option),
    case: ReplaySpec = declare_shared(_case_options),
    color: ColorChoice = declare_shared(color_option),
) -> int:
    """Run ``epic check``.

    A case is a folder with case.toml (recording = "FILE", strategy = "NAME", and all other options
    of "epic replay") beside expected.tsv, .csv, .jsonl or .epic. All cases in the FOLDERs are
    checked; rows that differ are written to expected.new. Numbers must match to the last digit
    unless [tolerance] says otherwise, and [expect] can test metrics of "epic compare": error =
    "<0.3".

    With --against, the packets of each case (or, with --builtin, of built-in streams) are piped
    to your program, and its rows are compared with ours.

    Exit status: 0 everything is as expected, 2 wrong usage, no cases, or an unreadable case, 3 a
    missing file, 4 a custom strategy failed, 5 something differs, 130 interrupted.
    """
    from epic_cli.jobs.check.run import check_all
    from epic_cli.jobs.check.writing import keep_new

    _check_usage(paths, doing, program)
    if doing.new is not None:
        return _make_case(doing.new, paths, case, program)
    how = program.make_spec(threads)
    output = Output(report, doing, color)
    cases = _load_cases(paths, program, case, trust)
    with Progress("checking", silent=True) as progress:
        for done, outcome in enumerate(check_all(cases, how), 1):
            if report.verbose or not outcome.holds:
                progress.clear()
            output.add(outcome if how.port else keep_new(outcome))
            progress(done, len(cases))
    return output.end()


def _load_cases(
    paths: Sequence[str], program: Program, spec: ReplaySpec, trust: bool
) -> list[Case | Outcome]:
    """Return the cases of files, or the built-in ones; a port gets one strategy and recording each.

    Raises ``WrongUsage`` and ``CannotAccess``.
    """
    from epic_cli.jobs.check.case_file import load, make_builtin_cases, split_case

    if program.builtin:
        spec.check()
        return [
            *make_builtin_cases(
                DrawSpec(
                    (), (spec.strategy,), replay=ReplaySpec(timing=spec.timing, row_format="tsv")
                )
            )
        ]
    try:
        cases = load(paths or (".",), trust)
    except BrokenCase as error:
        if error.gone:
            raise CannotAccess("read", error.place, FileNotFoundError(2, error.what)) from error
        raise WrongUsage(str(error)) from error
    files.register_inputs(*(path for case in cases for path in (case.file, *_list_files(case))))
    if program.against is None:
        return cases
    return [
        single
        for case in cases
        for single in (split_case(case) if isinstance(case, Case) else [case])
    ]


def _list_files(case: Case | Outcome) -> list[str | None]:
    from epic_cli.jobs.check.outcome import Outcome

    if isinstance(case, Outcome):
        return []
    return [
        case.expected,
        case.truth.path,
        *(recording.path for recording in case.drawing.recordings),
    ]


def _check_usage(paths: tuple[str, ...], doing: Doing, program: Program) -> None:
    """Raise ``WrongUsage`` for options that would have no effect."""
    if doing.new is None and not program.builtin:
        drawing = sorted(parameter.name or "" for parameter in _case_options.parameters)
        refuse(drawing, "is for --new and --builtin: a case sets it in its own file")
    if doing.new is not None:
        others = ("accept", "builtin", "charts", "html", "junit", "tap")
        refuse(others, "does not go with --new")
    if doing.accept and program.against is not None:
        raise WrongUsage(
            "--accept takes rows that epic draws: leave out --against, whose program prints rows",
            "accept",
            "against",
        )
    if doing.yes and not doing.accept:
        raise WrongUsage("--yes needs --accept", "yes", "accept")
    if program.builtin and paths:
        raise WrongUsage("--builtin checks built-in cases: leave out the case files", "builtin")


def _make_case(folder: str, files: Sequence[str], spec: ReplaySpec, program: Program) -> int:
    """Create a case from a recording; the case expects the rows that epic or a program draws now.

    Raises ``WrongUsage``, ``CannotAccess``, ``StrategyFailed``.
    """
    from epic_cli.jobs.check.case_file import read_case
    from epic_cli.jobs.check.run import check
    from epic_cli.jobs.check.writing import CaseExists, list_spec_values, make_case
    from epic_cli.shell.console import write_text

    row_format = "tsv" if is_default("row_format") else spec.row_format
    if row_format not in ROW_FORMATS:
        raise WrongUsage(f"--format {row_format}: choose from {', '.join(ROW_FORMATS)}", "format")
    if not files:
        raise WrongUsage("--new CASE needs a recording: a file, or - for standard input", "new")
    packets = None
    if "-" in files:
        if len(files) > 1 or sys.stdin is None:
            raise WrongUsage(
                "--new CASE reads either standard input (-) or files: leave one out", "new"
            )
        packets = sys.stdin.buffer.read()
    values = list_spec_values(folder, spec, row_format)
    how, print_rows = program.make_spec(None), None
    if how.port is not None:
        values["printed_by"] = str(program.against)
        if how.tolerances is not None:
            values["tolerance"] = how.tolerances.default._asdict()
        print_rows = partial(_print_rows, how.port, how.feed)
    with raise_wrong_usage(kind=(CaseExists, BrokenCase)), raise_cannot_access("write to", folder):
        path, rows = make_case(folder, files, values, packets, print_rows)
        _report_findings(path)
    by = f", printed by {printable(str(program.against))}" if print_rows else ""
    write_text(f"{printable(path)}: a case of {rows:,} rows{by}\n")
    if print_rows and not check(read_case(path, trust=True)).holds:
        write_message(
            f"epic: {spec.strategy.label} draws other rows than the program: 'epic check"
            f" {printable(folder)}' shows which; --against checks programs by the program's rows\n"
        )
    return ExitStatus.DONE


def _print_rows(port: Port, feed: str, case: Case) -> tuple[bytes, str]:
    """Return a program's output for the packets of a case, and its format.

    Raises ``WrongUsage`` if the program fails or prints no rows.
    """
    from epic_cli.jobs.check.against import PRINT_ROWS, run_port, split_output
    from epic_cli.jobs.check.drawing import draw
    from epic_cli.jobs.check.port import Ending
    from epic_cli.jobs.check.report import describe_port_failure

    ours = draw(case.drawing.replace_fields(row_format="tsv")).rows
    run = run_port(case, port, feed, ours)
    rows, found = split_output(run.output)
    if run.ending is not Ending.DONE or found is None:
        raise WrongUsage(
            "--against: " + "; ".join(describe_port_failure(run, PRINT_ROWS)), "against"
        )
    return rows, found


def _report_findings(path: str) -> None:
    """Report errors found in the recordings of a new case, since its rows would be wrong."""
    from epic_cli.jobs.check.case_file import read_case
    from epic_cli.jobs.check.drawing import iterate_packets
    from epic_cli.recordings.opening import ReadingLog
    from epic_cli.shell.messages import describe_finding

    drawing = read_case(path, trust=True).drawing
    for recording in drawing.recordings:
        with ReadingLog(recording.name) as log:
            for _ in iterate_packets(drawing, recording, log):
                pass
        for finding in log.findings:
            write_message(describe_finding(recording.name, finding))


#: Most rows in a picture.
_PICTURED = 100_000

_WIDEST_CHART = 160

#: Exit statuses by status of a case, the most important first.
_STATUSES = (
    (CaseStatus.BROKEN, ExitStatus.WRONG_USAGE),
    (CaseStatus.GONE, ExitStatus.NO_ACCESS),
    (CaseStatus.STRATEGY_FAILED, ExitStatus.STRATEGY_FAILED),
)


class Output:
    """The output of a check, which writes each outcome at once and keeps only its description."""

    def __init__(self, report: ReportOptions, doing: Doing, color: ColorChoice) -> None:
        from epic_cli.jobs.check.writing import is_in_ci  # help waits for none

        if doing.accept and is_in_ci():
            raise WrongUsage(
                "--accept needs a person to decide, and CI is set: run it outside of CI", "accept"
            )
        self._report = report
        self._doing = doing
        self._color = color
        self._columns = measure_screen_columns(sys.stdout)
        self._reports: list[CaseReport] = []
        self._folded: list[str] = []
        self._accepted = 0
        self._pictured = False

    def add(self, outcome: Outcome) -> None:
        """Write an outcome, its pictures and, with ``--accept``, its rows."""
        from epic_cli.jobs.check.report import report

        one = report(outcome)
        is_known = one.kind in {before.kind for before in self._reports if before.kind}
        if is_known and not (self._report.verbose or self._doing.accept):
            self._folded.append(one.name)
        elif not outcome.holds or self._report.verbose:
            self._write_text(self._format_paragraph(one, outcome))
        if outcome.difference is not None and not outcome.difference.written:
            self._draw_pictures(outcome)
        if self._doing.accept and self._accept_rows(outcome):
            failed = bool(outcome.failed_conditions)
            one = one._replace(status=CaseStatus.CONDITIONS if failed else CaseStatus.HOLDS)
        elif outcome.new:
            name = printable(outcome.name)
            self._write_text(
                f"  drawn: {printable(outcome.new)}; 'epic check --accept {name}' takes it\n"
            )
        self._reports.append(one)

    def end(self) -> ExitStatus:
        """Write the summary and the reports; return the exit status."""
        from epic_cli.jobs.check.report import (
            METHOD,
            find_repeated_cures,
            fold_outcomes,
            summarize_outcomes,
            write_junit,
            write_tap,
        )

        if not self._reports:
            raise WrongUsage("there are no cases: name a case file, or a folder with case files")
        for line in fold_outcomes(self._reports, self._folded):
            self._write_text("".join(f"{part}\n" for part in wrap(line, self._columns or PROSE)))
        self._write_text(f"{summarize_outcomes(report.status for report in self._reports)}\n")
        for cure in find_repeated_cures(self._reports):
            self._write_text(
                "".join(f"{line}\n" for line in wrap(cure, self._columns or PROSE, "  "))
            )
        for words in METHOD if self._report.explain else ():
            self._write_text("".join(f"{line}\n" for line in wrap(words, self._columns or PROSE)))
        for path, make in ((self._report.junit, write_junit), (self._report.tap, write_tap)):
            if path is not None:
                with open_sink(path) as sink:
                    sink.write(make(self._reports).encode("utf-8", "backslashreplace"))
        if self._report.html is not None and not self._pictured:
            write_message(
                "epic: no page is written: no case has rows that differ and can be pictured\n"
            )
        found = {report.status for report in self._reports}
        for status, exit_status in _STATUSES:
            if status in found:
                return exit_status
        return ExitStatus.DONE if found == {CaseStatus.HOLDS} else ExitStatus.NOT_AS_EXPECTED

    def _write_text(self, text: str) -> None:
        if self._report.silent:
            return
        with open_sink(None) as sink:
            sink.write(
                style_message(text).encode(sys.stdout.encoding or "utf-8", "backslashreplace")
            )

    def _format_paragraph(self, one: CaseReport, outcome: Outcome) -> str:
        from epic_cli.jobs.check.report import write_rows_around

        begin, end = (Style.ALARM, Style.END) if use_color(self._color, sys.stdout) else ("", "")
        head = one.headline if one.holds else f"{begin}{one.headline}{end}"
        lines = [head]
        for line in one.lines:
            columns = self._columns
            lines += wrap(f"  {line}", columns, "    ") if columns else [f"  {line}"]
        if outcome.difference is not None:
            columns = self._columns and self._columns - 2
            lines += [f"  {line}" for line in write_rows_around(outcome.difference, columns)]
        return "".join(f"{line}\n" for line in lines)

    # ------------------------------------------------------------ taking what is drawn

    def _accept_rows(self, outcome: Outcome) -> bool:
        """Accept the drawn rows, if the user agrees; return whether they were accepted."""
        from epic_cli.jobs.check.writing import accept, find_takeable

        expected = find_takeable(outcome)
        if expected is None or not (self._doing.yes or self._ask_user(expected)):
            return False
        with raise_cannot_access("write to", expected):
            accept(outcome)
        self._write_text(f"  taken: {printable(expected)}\n")
        return True

    def _ask_user(self, expected: str) -> bool:
        """Ask the user, on a terminal, whether to accept the drawn rows."""
        if sys.stdin is None or not sys.stdin.isatty():
            return True
        write_message(f"Take these rows as {printable(expected)}? [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    # ------------------------------------------------------------ pictures

    def _draw_pictures(self, outcome: Outcome) -> None:
        """Draw charts of each case that differs, and a page of the first such case."""
        wants_page = self._report.html is not None and not self._pictured
        wants_charts = self._report.charts and not self._report.silent
        case, difference = outcome.case, outcome.difference
        if case is None or difference is None or not (wants_page or wants_charts):
            return
        from epic_cli.jobs.check.drawing import DRAWN, EXPECTED, draw_pictures, judge_by_expected
        from epic_cli.jobs.check.report import write_page
        from epic_cli.metrics.notes import NothingToDraw
        from epic_cli.show.chart import make_scene_chart
        from epic_cli.show.scene import Selection

        try:
            comparison = draw_pictures(case, difference, Selection(_PICTURED, -math.inf, math.inf))
            for view in self._report.charts if wants_charts else ():
                chart = make_scene_chart(
                    comparison.scenes[0], view, (EXPECTED, DRAWN), width=_WIDEST_CHART
                )
                show(chart, self._color)
            if wants_page and self._report.html is not None:
                text = write_page(outcome, difference, judge_by_expected(comparison.scenes[0]))
                with open_sink(self._report.html) as sink:
                    sink.write(text.encode())
                self._pictured = True
        except (BrokenCase, NothingToDraw) as error:
            write_message(f"epic: {printable(outcome.name)}: no picture: {printable(str(error))}\n")
