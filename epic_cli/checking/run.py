"""Cases in parallel, each drawn and held against what is expected; outcomes in their order."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from epic_cli.checking.case import Case
from epic_cli.checking.differences import Difference, compare
from epic_cli.checking.drawing import draw
from epic_cli.checking.figures import figures
from epic_cli.checking.outcome import Outcome, Verdict
from epic_cli.checking.rows import NotRows, format_of, parse
from epic_cli.checking.toml_file import BrokenCase
from epic_cli.engine.failures import StrategyFailed

#: How many outcomes may wait for those before them.
_AHEAD = 64


def check_all(
    cases: Sequence[Case | Outcome],
    check: Callable[[Case], Outcome],
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Outcome]:
    """The outcome of each case, in their order; what is an outcome already stays one.

    ``stop`` is set when nobody waits for the outcomes any more.
    """
    stop = stop or threading.Event()

    def one(case: Case | Outcome) -> Outcome | None:
        if isinstance(case, Outcome):
            return case
        return None if stop.is_set() else guarded(case, check)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1, "check") as executor:
        try:
            waiting = [executor.submit(one, case) for case in cases[:_AHEAD]]
            for index in range(len(cases)):
                outcome = waiting.pop(0).result()
                if index + _AHEAD < len(cases):
                    waiting.append(executor.submit(one, cases[index + _AHEAD]))
                if outcome is not None:
                    yield outcome
        finally:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)


def guarded(case: Case, check: Callable[[Case], Outcome]) -> Outcome:
    """The outcome of a case, whatever keeps it from being run."""
    try:
        return check(case)
    except (BrokenCase, StrategyFailed) as error:
        return broken(case.name, case.file, error, case)


def broken(
    name: str, file: str, error: BrokenCase | StrategyFailed, case: Case | None = None
) -> Outcome:
    """The outcome of a case that cannot be run."""
    verdict = Verdict.STRATEGY_FAILED
    if isinstance(error, BrokenCase):
        verdict = Verdict.GONE if error.gone else Verdict.BROKEN
    return Outcome(name, file, verdict, case, str(error))


def check_rows(case: Case) -> Outcome:
    """Draws a case and holds it against its expected rows and figures.

    What is drawn and not expected is written beside the expected rows, as ``case.new``; where all
    is as expected, what was written there before is removed. Raises ``BrokenCase`` and
    ``StrategyFailed``.
    """
    return _with_new(judged(case))


def expect(case: Case, rows: bytes) -> Outcome:
    """As ``check_rows``, of rows that somebody else has drawn."""
    return _with_new(_against_expected(case, rows))


def _with_new(outcome: Outcome) -> Outcome:
    case = outcome.case
    if case is None or case.expected is None:
        return outcome
    if outcome.drawn is None:
        with contextlib.suppress(OSError):
            os.unlink(case.new)  # noqa: PTH108
        return outcome
    try:
        write(case.new, outcome.drawn)
    except OSError as error:
        problem = f"{case.new}: cannot be written: {error.strerror or error}"
        return outcome._replace(problem="\n".join(filter(None, (outcome.problem, problem))))
    return outcome._replace(new=case.new)


def judged(case: Case) -> Outcome:
    """What comes out, with nothing written; raises ``BrokenCase`` and ``StrategyFailed``."""
    drawn = draw(case.drawing)
    outcome = _against_expected(case, drawn.rows)
    outcome = outcome._replace(refused=drawn.refused, figures=tuple(figures(case)))
    if outcome.holds and outcome.failed_figures:
        return outcome._replace(verdict=Verdict.FIGURES)
    return outcome


def _against_expected(case: Case, rows: bytes) -> Outcome:
    header = case.drawing.row_format in ("tsv", "csv")
    count = rows.count(b"\n") - header
    outcome = Outcome(case.name, case.file, Verdict.HOLDS, case, rows=count)
    wrong = None if case.expected is None else _rows(case, rows)
    if wrong is None:
        return outcome
    verdict, problem, difference = wrong
    return outcome._replace(verdict=verdict, problem=problem, difference=difference, drawn=rows)


def _rows(case: Case, drawn: bytes) -> tuple[Verdict, str, Difference | None] | None:
    """What is wrong with the rows; None: nothing is."""
    expected_at = case.expected or ""
    try:
        with open(expected_at, "rb") as stream:  # noqa: PTH123
            expected = stream.read()
    except FileNotFoundError:
        return Verdict.NOTHING_EXPECTED, "", None
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise BrokenCase(expected_at, what, gone=True) from error
    if expected == drawn:
        return None
    wanted, found = case.drawing.row_format, format_of(expected)
    if expected.strip() and found != wanted:
        what = f"these are rows of {found}" if found else "these are no rows"
        return Verdict.DIFFERS, f"{expected_at}: {what}, and the case draws {wanted}", None
    try:
        if expected and not expected.endswith(b"\n"):
            raise NotRows(expected.count(b"\n") + 1, "cut off, the row does not end")
        here = parse(drawn, wanted)
        there = parse(expected, wanted) if expected.strip() else here._replace(rows=[])
    except NotRows as error:
        return Verdict.DIFFERS, f"{expected_at}:{error.line}: {error.what}", None
    difference = compare(there, here, case.tolerances, literal=True)
    if difference is None:
        if not case.tolerances.exact and here.columns == there.columns:
            return None
        difference = Difference(there, here, here.columns, (), [], written=True)
    return Verdict.DIFFERS, "", difference


def write(path: str, rows: bytes) -> None:
    """Writes a file whole or not at all; raises ``OSError``."""
    part = f"{path}.{os.urandom(6).hex()}.part"
    try:
        with open(part, "xb") as stream:  # noqa: PTH123
            stream.write(rows)
        os.replace(part, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise
