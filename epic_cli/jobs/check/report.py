"""Reports of outcomes: a paragraph, the rows around the first difference, TAP, JUnit, a page."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from epic_cli.engine.replay.playback import DEFAULT_TICK, Timing
from epic_cli.engine.text.widths import cut, printable, width
from epic_cli.jobs.check.differences import (
    CellDiff,
    Difference,
    DifferenceCause,
    Group,
    Pair,
    Pattern,
    RowCells,
    RowTable,
)
from epic_cli.jobs.check.drawing import CheckedCondition
from epic_cli.jobs.check.outcome import (
    CaseStatus,
    Circumstance,
    Occasion,
    Outcome,
    PacketKind,
)
from epic_cli.jobs.check.port import Ending, PortRun
from epic_cli.jobs.check.spec import NUMBERS
from epic_cli.metrics import find_metric
from epic_cli.metrics.digits import choose_verb, format_amount, format_count, format_three_digits
from epic_cli.show.page import Content, make_page
from epic_cli.show.report import Column, Report, Table
from epic_cli.show.scene import Scene


def describe_diagnosis(one: DifferenceCause) -> str:
    """Describe a cause of a difference, with its evidence."""
    said = _WORDS[one.pattern]
    return said if isinstance(said, str) else said(one)


def _describe_precision(one: DifferenceCause) -> str:
    share = f"{one.count:,} of the {one.total:,} numbers that differ"
    if one.pattern is Pattern.DOUBLE:
        words = f"it computes in double precision instead of single: {share} have more digits"
    else:
        words = f"it computes in single precision instead of double: {share} have fewer digits"
    if one.more:
        rows = format_count(one.more, "row")
        are = choose_verb(one.more, "is", "are")
        words += (
            f"; that tips a comparison, so that {rows} {are} off by more than rounding from"
            f" {one.time:g} s on"
        )
    return words


def _describe_factor(one: DifferenceCause) -> str:
    off = abs(one.amount - 1)
    digits = max(6, 1 - math.floor(math.log10(off))) if off else 6
    factor = f"{one.amount:.{digits}f}".rstrip("0").rstrip(".")
    is_are = "is" if one.what == "everything" else "are"
    return f"{one.what} {is_are} {factor} times the expected value"


def _describe_row_counts(one: DifferenceCause) -> str:
    return f"in {one.count} of {format_count(one.total, 'row')}"


def _describe_status_difference(one: DifferenceCause) -> str:
    kind = f", {one.what}" if one.what else ""
    return f"only the status differs{kind}, {_describe_row_counts(one)}; all numbers are the same"


def _describe_shift(one: DifferenceCause) -> str:
    ticks, when = abs(int(one.amount)), "late" if one.amount > 0 else "early"
    return f"everything is drawn {format_count(ticks, 'tick')} ({one.what} s) {when}"


def _describe_time_shift(one: DifferenceCause) -> str:
    when = "later" if one.amount > 0 else "earlier"
    return f"all times are {format_amount(one.amount)} s {when}, and the rest is the same"


def _describe_offset(one: DifferenceCause) -> str:
    more = "more" if one.amount > 0 else "less"
    return f"{one.what} is {format_amount(one.amount)} {more} throughout"


def _describe_first_rows(one: DifferenceCause) -> str:
    first = f"in the first {format_count(one.count, 'row')} that {choose_verb(one.count, 'differ')}"
    return f"{_describe_factor(one)} {first}, more than rounding explains; later errors feed back"


_WORDS: dict[Pattern, str | Callable[[DifferenceCause], str]] = {
    Pattern.STATUS: _describe_status_difference,
    Pattern.ENDS_EARLY: lambda one: f"it ends early: nothing from {one.time:g} s on",
    Pattern.BEGINS_LATE: lambda one: f"it begins late: nothing up to {one.time:g} s",
    Pattern.GOES_ON: lambda one: f"it goes on after the expected end, from {one.time:g} s on",
    Pattern.BEGINS_EARLY: lambda one: (
        f"it begins early: rows up to {one.time:g} s where none are expected"
    ),
    Pattern.SHIFTED: _describe_shift,
    Pattern.TIMES: _describe_time_shift,
    Pattern.CLOCK: lambda one: (
        f"the clock drifts, by {format_amount(one.amount)} s up to the last row, and the rest is"
        " the same:"
        " times are added up in another precision"
    ),
    Pattern.AXES: lambda one: f"axes are mixed up: {one.what}",
    Pattern.FACTOR: lambda one: f"{_describe_factor(one)}, more than rounding explains",
    Pattern.FACTOR_AT_FIRST: _describe_first_rows,
    Pattern.OFFSET: _describe_offset,
    Pattern.DOUBLE: _describe_precision,
    Pattern.SINGLE: _describe_precision,
    Pattern.FEW_DIGITS: (
        "the numbers are the same in single precision, but are printed with too few digits: print"
        " them as doubles, with %.17g"
    ),
    Pattern.LAST_DIGIT: lambda one: (
        f"rounding: no more than the last digit that is printed, {_describe_row_counts(one)}"
    ),
    Pattern.PRECISION: lambda one: (
        f"rounding: no more than {one.amount:.1g} of the numbers' size, as arithmetic in another"
        " order or precision makes it"
    ),
    Pattern.GROWING: lambda one: (
        f"the deviation grows, by about {format_amount(one.amount)} a second"
    ),
    Pattern.BEGINS_AT: lambda one: (
        f"equal (but for rounding) up to {one.time:g} s, and hardly anywhere after that"
    ),
    Pattern.SCATTERED: lambda one: (
        f"scattered, {_describe_row_counts(one)}, the first time at {one.time:g} s"
    ),
    Pattern.NONE: lambda one: f"none known, {_describe_row_counts(one)}",
}


def describe_timing(timing: Timing) -> str:
    """Name the options with which a port's rows would be right."""
    return (
        f"these are the rows of --pacing {timing.pacing} --clock {timing.clock}: give epic these"
        " options, or make your program honor EPIC_PACING and EPIC_CLOCK"
    )


def describe_circumstance(one: Circumstance) -> str:
    """Describe the packet event just before the first wrong row."""
    packet = f"the packet of {one.time:g} s"
    words = {
        PacketKind.FIRST: f"{packet}, the first",
        PacketKind.SECOND: f"{packet}, the second, with which all movement begins",
        PacketKind.LATE: (
            f"{packet} arrives late, {format_amount(one.amount)} s older than the newest"
        ),
        PacketKind.SAME_STAMP: f"{packet} has the timestamp of the one before",
        PacketKind.MANY: f"{one.amount:.0f} packets arrive in one row",
        PacketKind.AFTER_SILENCE: (
            f"{packet} arrives after {format_amount(one.amount)} s without any"
        ),
        PacketKind.SILENCE: f"no packet for {format_amount(one.amount)} s",
        PacketKind.JUMP: (
            f"{packet} is {format_amount(one.amount)} units off, further than velocities explain"
        ),
    }
    return words[one.kind]


def describe_occasion(one: Occasion) -> str:
    """Describe the packet event that precedes wrong rows."""
    words = {
        PacketKind.LATE: "late packets",
        PacketKind.SAME_STAMP: "packets that have the timestamp of the one before",
        PacketKind.AFTER_SILENCE: "silences",
        PacketKind.JUMP: "jumps that velocities do not explain",
    }
    return f"differs right after {words[one.kind]}: {one.hits} of {one.total} times"


#: Words for a status: in a headline, and in a summary for one case or many.
_STATUSES = {
    CaseStatus.HOLDS: ("holds", "holds", "hold"),
    CaseStatus.DIFFERS: ("differs", "differs", "differ"),
    CaseStatus.CONDITIONS: (
        "a metric is not as expected",
        "has wrong metrics",
        "have wrong metrics",
    ),
    CaseStatus.NOTHING_EXPECTED: (
        "nothing is expected yet",
        "expects nothing yet",
        "expect nothing yet",
    ),
    CaseStatus.PORT_FAILED: ("the program failed", "failed the program", "failed the program"),
    CaseStatus.STRATEGY_FAILED: (
        "the strategy failed",
        "failed in the strategy",
        "failed in the strategy",
    ),
    CaseStatus.BROKEN: ("cannot be run", "cannot be run", "cannot be run"),
    CaseStatus.GONE: ("cannot be run", "lacks a file", "lack a file"),
    CaseStatus.ORPHANED: ("expected rows without a case", "is an orphan", "are orphans"),
}

#: Label of the lines that name patterns of a difference.
PATTERN = "pattern: "


def write_headline(outcome: Outcome) -> str:
    """Return one line: the name of the case and its status."""
    ignored = ""
    if outcome.holds and outcome.ignored:
        ignored = f" (without {', '.join(outcome.ignored)})"
    return f"{outcome.name}: {_STATUSES[outcome.status][0]}{ignored}"


def explain_failure(outcome: Outcome) -> list[str]:
    """Return the full description of a failed case, line by line."""
    lines = outcome.problem.splitlines()
    if outcome.port is not None:
        lines = describe_port_failure(outcome.port, outcome.problem)
    if outcome.difference is not None:
        against = outcome.drawn is None
        words = describe_difference(outcome.difference, against=against)
        if outcome.timing is not None:
            words = [word for word in words if not word.startswith(PATTERN)]
            words.append(f"{PATTERN}{describe_timing(outcome.timing)}")
        else:
            words += [
                f"before it: {describe_circumstance(row)}" for row in outcome.circumstances[:2]
            ]
            if outcome.occasion is not None:
                words.append(describe_occasion(outcome.occasion))
        lines += words
    if outcome.made_by:
        lines.append(f"written by: {printable(outcome.made_by)}")
        lines.append(f"  {_suggest_next_step(outcome)}")
    lines += [describe_condition(condition) for condition in outcome.failed_conditions]
    if outcome.ignored:
        lines.append(f"not compared (not printed): {', '.join(outcome.ignored)}")
    if outcome.refused:
        lines.append(f"{format_count(outcome.refused, 'line')} of the recording refused")
    return lines


def _suggest_next_step(outcome: Outcome) -> str:
    """Return what to do about a port that ``epic code`` wrote and whose rows differ."""
    assert outcome.case is not None
    from epic_cli.jobs.code.spec import find_equivalent, strategies

    strategy = outcome.case.drawing.candidates[0]
    written = outcome.made_by.split()
    wanted = strategy.label if strategy.name in strategies() else find_equivalent(strategy)
    if wanted and wanted not in written:
        return f"write it for {wanted}: epic code {wanted} ..."
    return (
        "changed since? write it again; 'epic diagnose --drawn ROWS RECORDING' names the strategy"
        " whose rows the program prints"
    )


# ---------------------------------------------------------------- rows


def describe_difference(difference: Difference, *, against: bool = False) -> list[str]:
    """Describe the first difference, the largest, the count of rows, and the pattern."""
    if difference.written:
        what = _describe_written(difference)
        return [f"the values are the same, {what}"]
    group, index = difference.first
    total = sum(1 for _ in difference.iterate_pairs())
    differing, missing, extra = difference.differing, difference.missing, difference.extra
    counts = []
    if differing:
        counts.append(
            f"{len(differing)} of {format_count(total, 'row')}"
            f" {choose_verb(len(differing), 'differ')}"
        )
    if missing:
        counts.append(
            f"{format_count(len(missing), 'row')} {choose_verb(len(missing), 'is', 'are')} missing"
        )
    if extra:
        counts.append(f"{format_count(len(extra), 'extra row')}")
    lines = [", ".join(counts), f"first: {_describe_pair(group, group.pairs[index])}"]
    largest = difference.largest
    if largest is not None:
        pair, cell = largest
        lines.append(f"largest: {cell.column} by {format_amount(cell.amount)} at {pair.time:g} s")
    unlike = [pair for pair in differing if any(row.column == "status" for row in pair.apart)]
    if unlike and len(unlike) < len(differing):
        lines.append(f"the status differs in {format_count(len(unlike), 'row')}")
    lines += [f"{PATTERN}{describe_diagnosis(cause)}" for cause in diagnose(difference)]
    if against:
        return lines
    if difference.ignored:
        lines.append(f"columns on one side only: {', '.join(difference.ignored)}")
    return lines


def _describe_written(difference: Difference) -> str:
    if difference.expected.columns != difference.drawn.columns:
        one_sided = set(difference.expected.columns) ^ set(difference.drawn.columns)
        if one_sided:
            return f"but the columns are not: {', '.join(sorted(one_sided))} on one side only"
        return "but the columns stand in another order"
    here = [row.cells for row in difference.drawn.rows]
    there = [row.cells for row in difference.expected.rows]
    if here != there:
        return "but the rows stand in another order"
    return "but they are written in another way (line ends, blanks or quotes)"


def _describe_pair(group: Group, pair: Pair) -> str:
    name = "".join(f" of {word}" for word in group.names if word)
    if pair.drawn is None or pair.expected is None:
        row = pair.expected or pair.drawn
        what = "is missing" if pair.drawn is None else "is extra"
        return f"line {row.line if row else 0}{name}, the row at {pair.time:g} s {what}"
    line = _describe_line(pair.expected, pair.drawn)
    cell, *others = pair.apart
    rest = f"; {', '.join(cell.column for cell in others)} too" if others else ""
    return f"{line}{name}, at {pair.time:g} s: {_describe_cell(cell)}{rest}"


def _describe_line(expected: RowCells, drawn: RowCells) -> str:
    if expected.line == drawn.line:
        return f"line {expected.line}"
    return f"line {expected.line} (drawn in line {drawn.line})"


def _describe_cell(cell: CellDiff) -> str:
    more = ""
    if not math.isnan(cell.amount):
        more = f" ({format_amount(abs(cell.amount))} {'more' if cell.amount > 0 else 'less'})"
        if cell.amount == 0:
            more = " (the same number, written in another way)"
    expected, drawn = _shorten_numbers(cell.expected, cell.drawn)
    return f"{cell.column} is {drawn or 'nothing'}, expected {expected or 'nothing'}{more}"


#: Numbers of up to this many characters are shown as they are printed.
_SHORT = 10


def _shorten_numbers(*cells: str) -> tuple[str, ...]:
    """Round two numbers to the fewest digits that still differ, at least six.

    Texts, and numbers that are equal but written differently, stay as they are.
    """
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return cells
    is_same = len(set(values)) == 1
    if max(map(len, cells)) <= _SHORT or (is_same and len(set(cells)) > 1):
        return cells
    for digits in range(6, 17):
        shortened = tuple(f"{value:.{digits}g}" for value in values)
        if is_same or len(set(shortened)) > 1:
            return shortened
    return cells


# ---------------------------------------------------------------- metrics and programs


def describe_condition(checked: CheckedCondition) -> str:
    """Describe a condition that does not hold, with the value of the metric."""
    metric = find_metric(checked.condition.metric)
    if math.isnan(checked.value):
        value = "unknown"
    elif metric.unit == "s":
        value = f"{checked.value * 1000:.4g} ms"
    else:
        value = format_three_digits(checked.value)
    return f"expected {checked.condition.text} for {checked.label}: it is {value}"


def describe_port_failure(run: PortRun, problem: str) -> list[str]:
    """Describe how a program failed, with the end of its standard error."""
    rows = f"after {format_count(run.output.count(10), 'line')} of output"
    words = {
        Ending.DONE: f"its output is not rows: {problem}",
        Ending.FAILED: f"it {_describe_status(run.status)} {rows}",
        Ending.TIMEOUT: f"it timed out {rows}",
        Ending.TOO_MUCH: f"it printed more than {len(run.output):,} bytes, and was stopped",
        Ending.NOT_STARTED: "it cannot be started",
    }
    said = run.said.decode("utf-8", "backslashreplace").strip().splitlines()
    return [words[run.ending], *(f"it said: {name[:200]}" for name in said[-3:])]


def _describe_status(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    import signal

    try:
        return f"crashed ({signal.Signals(-status).name})"
    except ValueError:
        return f"crashed (signal {-status})"


# ---------------------------------------------------------------- summary


def summarize_outcomes(statuses: Iterable[CaseStatus]) -> str:
    """Return the counts of cases by status."""
    counts = Counter(statuses)
    words = [
        f"{counts[status]:,} {choose_verb(counts[status], one, many)}"
        for status, (_, one, many) in _STATUSES.items()
        if counts[status]
    ]
    total = sum(counts.values()) - counts[CaseStatus.ORPHANED]
    return f"{format_count(total, 'case')}: {', '.join(words)}"


#: Statuses that are errors of the test, not failures of what is tested.
_ERRORS = (CaseStatus.BROKEN, CaseStatus.GONE, CaseStatus.STRATEGY_FAILED)

#: Rows shown before and after the first that differs.
_AROUND = 2

_LONGEST_CELL = 22


class CaseReport(NamedTuple):
    """The description of an outcome, without its rows.

    ``cure`` is the change, if known, that would make all rows of the case right. Failures of equal
    ``kind`` (empty: of no kind) are described once.
    """

    name: str
    status: CaseStatus
    headline: str
    lines: tuple[str, ...]
    cure: str = ""
    kind: str = ""

    @property
    def holds(self) -> bool:
        """True if everything is as expected."""
        return self.status is CaseStatus.HOLDS


def report(outcome: Outcome) -> CaseReport:
    """Describe an outcome, without control characters."""
    lines = () if outcome.holds else tuple(map(printable, explain_failure(outcome)))
    name = printable(outcome.name)
    cure = "" if outcome.timing is None else describe_timing(outcome.timing)
    is_folded = outcome.status in _FOLDED and not (outcome.new or outcome.failed_conditions)
    kind = _make_failure_kind(lines) if is_folded else ""
    return CaseReport(name, outcome.status, printable(write_headline(outcome)), lines, cure, kind)


def _make_failure_kind(lines: Sequence[str]) -> str:
    """Return the patterns or lines of a failure without numbers.

    A key that similar failures share.
    """
    patterns = [line for line in lines if line.startswith(PATTERN)]
    return re.sub(r"[\d.,]+", "", "\n".join(patterns or lines))


#: Statuses whose equal failures are described once, and most other cases named.
_FOLDED, _NAMED = (CaseStatus.DIFFERS, CaseStatus.PORT_FAILED), 3


def fold_outcomes(reports: Sequence[CaseReport], names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each kind of failure, with the cases that fail in this way."""
    first = {case.kind: case.name for case in reversed(reports) if case.kind}
    left: dict[str, list[str]] = {}
    for case in reports:
        if case.name in names:
            left.setdefault(case.kind, []).append(case.name)
    for kind, others in left.items():
        more = ", ..." if len(others) > _NAMED else ""
        yield (
            f"{format_count(len(others), 'more case')}"
            f" {choose_verb(len(others), 'fails', 'fail')} as"
            f" {first[kind]} does: {', '.join(others[:_NAMED])}{more} (--verbose shows all)"
        )


#: Description of how rows are compared.
METHOD = (
    "Rows are matched by strategy, recording and entity, and then by time: those at most a quarter"
    " of a tick apart belong together.",
    "Without [tolerance] every byte counts. With it, a number may differ by the larger of atol and"
    " rtol times the expected number, what is not finite not at all; a quaternion equals its"
    " negative, and columns that one side lacks are not compared.",
    "The deviation that is named is the largest of a position. What a difference looks like is"
    " tried pattern by pattern: shifted times, a factor, an offset, another precision, mixed axes.",
)


def find_repeated_cures(reports: Iterable[CaseReport]) -> list[str]:
    """Return each change (``cure``) that several cases share, the most frequent first."""
    counts = Counter(case.cure for case in reports if case.cure and not case.holds)
    return [f"{count} of them: {cure}" for cure, count in counts.most_common() if count > 1]


# ---------------------------------------------------------------- rows


def write_rows_around(difference: Difference, columns: int | None = None) -> list[str]:
    """Return the rows around the first difference as lines.

    Minus for expected rows, plus for drawn. A line is at most ``columns`` wide (None: unlimited).
    """
    if difference.written:
        return []
    table, wanted = _make_rows_table(difference)
    while columns and _measure_table_width(table) > columns and len(table[0]) > 2:
        names = table[0][1:]
        spare = [name for name in names[1:] if name not in wanted] or names[1:]
        place = table[0].index(spare[-1])
        for row in table:
            del row[place]
    widths = [max(width(row[place]) for row in table) for place in range(len(table[0]))]
    return [
        "  ".join(" " * (wide - width(cell)) + cell for cell, wide in zip(row, widths, strict=True))
        for row in table
    ]


def write_side_by_side(difference: Difference) -> list[list[str]]:
    """Return the rows around the first difference as a table; a word marks expected rows."""
    words = {"": "row", " ": "same", "-": "expected", "+": "drawn"}
    return [[words[sign], *cells] for sign, *cells in _make_rows_table(difference)[0]]


def _make_rows_table(difference: Difference) -> tuple[list[list[str]], list[str]]:
    """Return the rows around the first wrong row, below a head, and the columns that differ."""
    group, first = difference.first
    pairs = group.pairs[max(first - _AROUND, 0) : first + _AROUND + 1]
    apart = {cell.column for pair in pairs for cell in pair.apart}
    shown = [
        column
        for column in difference.columns
        if column in NUMBERS or column in apart or (column == "status" and len(apart) < 3)
    ]
    names = ["time", *(name for name in shown if name != "time")]
    table = [["", *names], *_write_diff_rows(difference, pairs, names)]
    return table, [name for name in shown if name in apart]


def _measure_table_width(table: list[list[str]]) -> int:
    return sum(max(width(row[place]) for row in table) + 2 for place in range(len(table[0])))


def _write_diff_rows(
    difference: Difference, pairs: list[Pair], names: list[str]
) -> Iterator[list[str]]:
    for pair in pairs:
        sides = [("-", difference.expected, pair.expected), ("+", difference.drawn, pair.drawn)]
        if not pair.differs and pair.expected:
            sides = [(" ", difference.expected, pair.expected)]
        rows = [
            (sign, _select_cells(table, row, names))
            for sign, table, row in sides
            if row is not None
        ]
        columns = [
            _shorten_numbers(*cells) for cells in zip(*(row for _, row in rows), strict=True)
        ]
        for (sign, _), row in zip(rows, zip(*columns, strict=True), strict=True):
            yield [sign, *(cut(printable(cell), _LONGEST_CELL) if cell else "-" for cell in row)]


def _select_cells(table: RowTable, row: RowCells, names: list[str]) -> list[str]:
    return [row.cells[table.find_column(name)] if name in table.columns else "" for name in names]


# ---------------------------------------------------------------- for other programs


def write_tap(outcomes: Sequence[CaseReport]) -> str:
    """Return TAP version 13: a line for each case, in order."""
    lines = ["TAP version 13", f"1..{len(outcomes)}"]
    for number, one in enumerate(outcomes, 1):
        name = one.name.replace("\\", "\\\\").replace("#", "\\#")
        lines.append(f"{'ok' if one.holds else 'not ok'} {number} - {name}")
        lines += [f"# {line}" for line in (one.headline, *one.lines) if not one.holds]
    return "\n".join(lines) + "\n"


def write_junit(outcomes: Sequence[CaseReport]) -> str:
    """Return JUnit XML: a test case for each case."""
    errors = sum(outcome.status in _ERRORS for outcome in outcomes)
    failures = sum(not outcome.holds for outcome in outcomes) - errors
    counts = f'tests="{len(outcomes)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'<testsuite name="epic check" {counts}>',
    ]
    for outcome in outcomes:
        begin = f'<testcase classname="epic" name={quoteattr(outcome.name)}'
        if outcome.holds:
            lines.append(f"{begin}/>")
            continue
        kind = "error" if outcome.status in _ERRORS else "failure"
        text = escape("\n".join(outcome.lines))
        message = quoteattr(outcome.headline)
        lines += [f"{begin}>", f"<{kind} message={message}>{text}</{kind}>", "</testcase>"]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"


def write_page(outcome: Outcome, difference: Difference, scene: Scene) -> str:
    """Return the HTML page of a case; in its ``scene`` the expected rows stand for the truth."""
    told = report(outcome)
    group, first = difference.first
    heads, *rows = write_side_by_side(difference)
    tick = outcome.case.drawing.replay.timing.tick if outcome.case else DEFAULT_TICK
    columns = [Column(head, cells, right=True) for head, *cells in zip(heads, *rows, strict=True)]
    content = Content(
        title=told.name,
        report=Report(verdict=[told.headline]),
        lead=Report(verdict=told.lines, parts=[Table(columns, caption="Around the first")]),
        at=group.pairs[first].time,
        truth="expected",
        tick=tick[0] / tick[1],
    )
    return make_page([scene], content)


def diagnose(difference: Difference) -> list[DifferenceCause]:
    """Return the causes of a difference: patterns in the numbers, then rows on one side only."""
    found = [*_match_missing_ends(difference)]
    if not difference.differing:
        return found
    from epic_cli.jobs.check.patterns import (  # numpy is slow to load
        collect_numbers,
        iterate_patterns,
    )

    group = max(difference.groups, key=lambda one: sum(bool(pair.apart) for pair in one.pairs))
    numbers = collect_numbers(difference, group)
    total = sum(pair.expected is not None and pair.drawn is not None for pair in group.pairs)
    differing = [index for index, pair in enumerate(group.pairs) if pair.apart]
    first = group.pairs[differing[0]].time
    diagnosis = next(iterate_patterns(group, numbers))
    diagnosis = replace(
        diagnosis,
        count=diagnosis.count or len(differing),
        total=diagnosis.total or total,
        time=diagnosis.time or first,
    )
    return [diagnosis, *found]


def _match_missing_ends(difference: Difference) -> Iterator[DifferenceCause]:
    """Yield a cause if all rows that only one side has are at the beginning, or all at the end."""
    for pairs, at_end, at_begin, side in (
        (difference.missing, Pattern.ENDS_EARLY, Pattern.BEGINS_LATE, "drawn"),
        (difference.extra, Pattern.GOES_ON, Pattern.BEGINS_EARLY, "expected"),
    ):
        if not pairs:
            continue
        alone = [
            [getattr(pair, side) is None for pair in group.pairs]
            for group in difference.groups
            if any(getattr(pair, side) is None for pair in group.pairs)
        ]
        total = sum(1 for _ in difference.iterate_pairs())
        if all(row == sorted(row) for row in alone):
            yield DifferenceCause(at_end, count=len(pairs), total=total, time=pairs[0].time)
        elif all(row == sorted(row, reverse=True) for row in alone):
            yield DifferenceCause(at_begin, count=len(pairs), total=total, time=pairs[-1].time)
