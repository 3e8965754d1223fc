"""Checks of cases in parallel: draw each case as ``epic replay`` does, and compare the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from epic_cli.engine.failures import StrategyFailed
from epic_cli.jobs.check.differences import (
    Difference,
    NotRows,
    compare,
    parse,
    recognize_format,
)
from epic_cli.jobs.check.drawing import draw, evaluate_conditions
from epic_cli.jobs.check.outcome import CaseStatus, Outcome, make_broken_outcome
from epic_cli.jobs.check.spec import BrokenCase, Case, CheckSpec
from epic_cli.work.executors import Threads
from epic_cli.work.runner import Failure, run_jobs

EXPECTED_ROWS = CheckSpec()


def check_all(
    cases: Sequence[Case | Outcome], spec: CheckSpec = EXPECTED_ROWS
) -> Iterator[Outcome]:
    """Yield the outcome of each case, in order; pass outcomes in ``cases`` through unchanged."""
    with Threads(spec.threads, len(cases)) as executor:

        def check_one(case: Case | Outcome) -> Outcome:
            return case if isinstance(case, Outcome) else check(case, spec, executor.stop.is_set)

        for _, outcome in run_jobs(check_one, cases, executor):
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome


def check(
    case: Case, spec: CheckSpec = EXPECTED_ROWS, stopped: Callable[[], bool] = bool
) -> Outcome:
    """Return the outcome of a case, even if the case cannot be run."""
    try:
        if spec.port is not None or case.printed_by:
            from epic_cli.jobs.check.against import check_port, check_printed

            if spec.port is None:
                return check_printed(case)
            return check_port(case, spec.port, spec, stopped)
        drawn = draw(case.drawing)
        outcome = check_rows(case, drawn.rows)
        outcome = outcome._replace(
            refused=drawn.refused, conditions=tuple(evaluate_conditions(case))
        )
    except (BrokenCase, StrategyFailed) as error:
        return make_broken_outcome(case.name, case.file, error, case)
    if outcome.holds and outcome.failed_conditions:
        return outcome._replace(status=CaseStatus.CONDITIONS)
    return outcome


def check_rows(case: Case, rows: bytes) -> Outcome:
    """Return the outcome of a case whose drawn rows these are; raise ``BrokenCase``."""
    header = case.drawing.replay.row_format in ("tsv", "csv")
    count = rows.count(b"\n") - header
    outcome = Outcome(case.name, case.file, CaseStatus.HOLDS, case, rows=count)
    wrong = None if case.expected is None else _find_fault_in_rows(case.expected, case, rows)
    if wrong is None:
        return outcome
    status, problem, difference = wrong
    return outcome._replace(status=status, problem=problem, difference=difference, drawn=rows)


def _find_fault_in_rows(
    expected_at: str, case: Case, drawn: bytes
) -> tuple[CaseStatus, str, Difference | None] | None:
    """Return why the drawn rows are not the expected ones; None if they are."""
    try:
        with open(expected_at, "rb") as stream:  # noqa: PTH123
            expected = stream.read()
    except FileNotFoundError:
        return CaseStatus.NOTHING_EXPECTED, "", None
    except OSError as error:
        raise BrokenCase.from_unreadable(expected_at, error) from error
    if expected == drawn:
        return None
    wanted, found = case.drawing.replay.row_format, recognize_format(expected)
    if expected.strip() and found != wanted:
        what = f"these are rows of {found}" if found else "these are not rows"
        return CaseStatus.DIFFERS, f"{expected_at}: {what}, and the case draws {wanted}", None
    try:
        if expected and not expected.endswith(b"\n"):
            raise NotRows(expected.count(b"\n") + 1, "the row is cut off: end it with a line feed")
        here = parse(drawn, wanted)
        there = parse(expected, wanted) if expected.strip() else here._replace(rows=[])
    except NotRows as error:
        return CaseStatus.DIFFERS, f"{expected_at}:{error.line}: {error.what}", None
    difference = compare(there, here, case.tolerances, literal=True)
    if difference is None:
        if not case.tolerances.exact and here.columns == there.columns:
            return None
        difference = Difference(there, here, here.columns, (), [], written=True)
    return CaseStatus.DIFFERS, "", difference
