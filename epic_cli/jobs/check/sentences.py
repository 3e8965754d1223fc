"""What came out of checking cases: a paragraph for each that fails, and a summary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from epic_cli.jobs.check.diagnosis import diagnose
from epic_cli.jobs.check.differences import Apart, Difference, Group, Pair
from epic_cli.jobs.check.figures import Figure
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.pattern_words import circumstance_words, diagnosis_words, timing_words
from epic_cli.jobs.check.port import Ending, PortRun
from epic_cli.jobs.check.rows import Row
from epic_cli.metrics import named
from epic_cli.metrics.digits import amount, counted, three_digits, verb

#: What a status is called in a headline, and how a summary counts one or many of it.
_STATUSES = {
    CaseStatus.HOLDS: ("holds", "holds", "hold"),
    CaseStatus.DIFFERS: ("differs", "differs", "differ"),
    CaseStatus.FIGURES: ("a figure is not as expected", "has wrong figures", "have wrong figures"),
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

#: What stands before a pattern that a difference shows.
PATTERN = "pattern: "


def headline(outcome: Outcome) -> str:
    """One line: which case, and what is the matter with it."""
    ignored = ""
    if outcome.holds and outcome.ignored:
        ignored = f" (without {', '.join(outcome.ignored)})"
    return f"{outcome.name}: {_STATUSES[outcome.status][0]}{ignored}"


def explanation(outcome: Outcome) -> list[str]:
    """All there is to say of a case that fails, line by line."""
    lines = outcome.problem.splitlines()
    if outcome.port is not None:
        lines = port_words(outcome.port, outcome.problem)
    if outcome.difference is not None:
        against = outcome.drawn is None
        words = difference_words(outcome.difference, against=against)
        if outcome.timing is not None:
            words = [one for one in words if not one.startswith(PATTERN)]
            words.append(f"{PATTERN}{timing_words(outcome.timing)}")
        else:
            words += [f"before it: {circumstance_words(one)}" for one in outcome.circumstances[:2]]
        lines += words
    lines += [figure_words(one) for one in outcome.failed_figures]
    if outcome.ignored:
        lines.append(f"not compared (not printed): {', '.join(outcome.ignored)}")
    if outcome.refused:
        lines.append(f"{counted(outcome.refused, 'line')} of the recording refused")
    return lines


# ---------------------------------------------------------------- rows


def difference_words(difference: Difference, *, against: bool = False) -> list[str]:
    """The first difference, the largest, how many rows, and what it looks like."""
    if difference.written:
        what = _written_words(difference)
        return [f"the values are the same, {what}"]
    group, index = difference.first
    total = sum(1 for _ in difference.pairs())
    differing, missing, extra = difference.differing, difference.missing, difference.extra
    counts = []
    if differing:
        counts.append(
            f"{len(differing)} of {counted(total, 'row')} {verb(len(differing), 'differ')}"
        )
    if missing:
        counts.append(f"{counted(len(missing), 'row')} {verb(len(missing), 'is', 'are')} missing")
    if extra:
        counts.append(f"{counted(len(extra), 'extra row')}")
    lines = [", ".join(counts), f"first: {_pair_words(group, group.pairs[index])}"]
    largest = difference.largest
    if largest is not None:
        pair, cell = largest
        lines.append(f"largest: {cell.column} by {amount(cell.amount)} at {pair.time:g} s")
    unlike = [pair for pair in differing if any(one.column == "status" for one in pair.apart)]
    if unlike and len(unlike) < len(differing):
        lines.append(f"the status differs in {counted(len(unlike), 'row')}")
    lines += [f"{PATTERN}{diagnosis_words(one)}" for one in diagnose(difference)]
    if against:
        return lines
    if difference.ignored:
        lines.append(f"columns on one side only: {', '.join(difference.ignored)}")
    return lines


def _written_words(difference: Difference) -> str:
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


def _pair_words(group: Group, pair: Pair) -> str:
    name = "".join(f" of {one}" for one in group.names if one)
    if pair.drawn is None or pair.expected is None:
        row = pair.expected or pair.drawn
        what = "is missing" if pair.drawn is None else "is extra"
        return f"line {row.line if row else 0}{name}, the row at {pair.time:g} s {what}"
    line = _lines(pair.expected, pair.drawn)
    cell, *others = pair.apart
    rest = f"; {', '.join(one.column for one in others)} too" if others else ""
    return f"{line}{name}, at {pair.time:g} s: {_cell_words(cell)}{rest}"


def _lines(expected: Row, drawn: Row) -> str:
    if expected.line == drawn.line:
        return f"line {expected.line}"
    return f"line {expected.line} (drawn in line {drawn.line})"


def _cell_words(cell: Apart) -> str:
    more = ""
    if not math.isnan(cell.amount):
        more = f" ({amount(abs(cell.amount))} {'more' if cell.amount > 0 else 'less'})"
        if cell.amount == 0:
            more = " (the same number, written in another way)"
    return (
        f"{cell.column} is {cell.drawn or 'nothing'}, expected {cell.expected or 'nothing'}{more}"
    )


# ---------------------------------------------------------------- figures and programs


def figure_words(figure: Figure) -> str:
    """A condition that does not hold, with the figure."""
    metric = named(figure.condition.metric)
    if math.isnan(figure.value):
        value = "unknown"
    elif metric.unit == "s":
        value = f"{figure.value * 1000:.4g} ms"
    else:
        value = three_digits(figure.value)
    return f"expected {figure.condition.text} for {figure.label}: it is {value}"


def port_words(run: PortRun, problem: str) -> list[str]:
    """How a program failed, and what it said last."""
    rows = f"after {counted(run.output.count(10), 'line')} of output"
    words = {
        Ending.DONE: f"its output is not rows: {problem}",
        Ending.FAILED: f"it {_status_words(run.status)} {rows}",
        Ending.TIMEOUT: f"it timed out {rows}",
        Ending.TOO_MUCH: f"it printed more than {len(run.output):,} bytes, and was stopped",
        Ending.NOT_STARTED: "it cannot be started",
    }
    said = run.said.decode("utf-8", "backslashreplace").strip().splitlines()
    return [words[run.ending], *(f"it said: {one[:200]}" for one in said[-3:])]


def _status_words(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    import signal

    try:
        return f"crashed ({signal.Signals(-status).name})"
    except ValueError:
        return f"crashed (signal {-status})"


# ---------------------------------------------------------------- summary


def summary(statuses: Iterable[CaseStatus]) -> str:
    """How many cases there were of each kind."""
    counts = Counter(statuses)
    words = [
        f"{counts[status]:,} {verb(counts[status], one, many)}"
        for status, (_, one, many) in _STATUSES.items()
        if counts[status]
    ]
    total = sum(counts.values()) - counts[CaseStatus.ORPHANED]
    return f"{counted(total, 'case')}: {', '.join(words)}"
