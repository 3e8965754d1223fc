"""The pytest plugin: ``case.toml`` folders as tests, and the fixture ``epic_golden`` for rows.

The rest of this program is loaded when there is a case, or a test asks for the fixture: suites that
use neither do not wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample
    from epic_cli.jobs.check.outcome import Outcome
    from epic_cli.jobs.check.spec import Case

ACCEPT = "--epic-accept"

#: The project's setting that allows its cases to run code: ``epic_trust = true``.
TRUST = "epic_trust"

#: A line that every case has; other programs have files of this name, too.
_OURS = re.compile(rb"^[ \t]*[\"']?(recording|strateg(y|ies))[\"']?[ \t]*=", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--epic-accept``, and the setting that collects cases."""
    group = parser.getgroup("epic")
    group.addoption(
        ACCEPT,
        action="store_true",
        dest="epic_accept",
        help="accept the rows that epic draws now (never where CI is set); then read git diff",
    )
    parser.addini(
        "epic_cases", "collect case.toml folders as tests of epic", type="bool", default=True
    )
    parser.addini(TRUST, "let case.toml name strategies by file or module", type="bool")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the file of a case."""
    name = file_path.name
    if name != "case.toml" and not name.endswith(".case.toml"):
        return None
    if not parent.config.getini("epic_cases") or not _is_case(file_path):
        return None
    file: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
    return file


def _is_case(path: Path) -> bool:
    expected = path.name.removesuffix("case.toml") + "expected."
    if any(file.name.startswith(expected) for file in path.parent.iterdir()):
        return True
    with path.open("rb") as stream:
        return bool(_OURS.search(stream.read(65536)))


def _is_accepting(config: pytest.Config) -> bool:
    """Return True if an option, here or of another snapshot plugin, accepts the drawn rows."""
    wanted = config.getoption("epic_accept") or config.getoption("snapshot_update", default=False)
    if not wanted:
        return False
    from epic_cli.jobs.check.writing import is_in_ci

    if is_in_ci():
        raise pytest.UsageError(f"{ACCEPT} needs a person to decide, but CI is set")
    return True


def pytest_configure(config: pytest.Config) -> None:
    """Refuse ``--epic-accept`` where CI is set."""
    _is_accepting(config)


class CaseFile(pytest.File):
    """The file of one case."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield a test for each strategy of the case if it has several, else one test."""
        yield CaseItem.from_parent(self, name=self.path.name.removesuffix(".toml"))


class NotAsExpected(AssertionError):
    """A failure of a case; its text is the whole report."""


class CaseItem(pytest.Item):
    """A case as a test."""

    def runtest(self) -> None:
        """Run the case; raise ``NotAsExpected`` if the rows differ."""
        from epic_cli.engine.failures import StrategyFailed
        from epic_cli.jobs.check.outcome import make_broken_outcome
        from epic_cli.jobs.check.run import check
        from epic_cli.jobs.check.spec import BrokenCase

        path = str(self.path)
        try:
            case = _read_case(path, self.config)
        except (BrokenCase, StrategyFailed) as error:
            _check_outcome(make_broken_outcome(path, path, error), accepting=False)
            return
        _check_outcome(check(case), accepting=_is_accepting(self.config))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of the failure without a traceback."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place and the name of the test for pytest."""
        return self.path, 0, f"epic case {self.path.parent.name}"


def _read_case(path: str, config: pytest.Config) -> Case:
    """Read the case of a file; raise ``BrokenCase`` and ``StrategyFailed``."""
    from epic_cli.jobs.check.case_file import read_case

    return read_case(
        path, config.getini(TRUST), f"{TRUST} = true in this project's pytest settings"
    )


def _check_outcome(outcome: Outcome, *, accepting: bool) -> None:
    """Accept the drawn rows if ``accepting``; raise ``NotAsExpected`` if they differ."""
    __tracebackhide__ = True
    from epic_cli.jobs.check.writing import accept, find_takeable, keep_new

    outcome = keep_new(outcome)
    if accepting and find_takeable(outcome) is not None:
        accept(outcome)
        if not outcome.failed_conditions:
            return
    if outcome.holds:
        return
    from epic_cli.jobs.check.report import report, write_rows_around

    words = report(outcome)
    lines = [words.headline, *words.lines]
    if outcome.difference is not None:
        lines += write_rows_around(outcome.difference, 100)
    if outcome.new:
        lines.append(f"drawn: {outcome.new}; pytest {ACCEPT} accepts it")
    raise NotAsExpected("\n".join(lines))


class Golden:
    """The fixture ``epic_golden``, which compares rows with a file beside the test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._names: set[str] = set()

    def __call__(
        self,
        rows: Iterable[Sample] | str | bytes,
        name: str = "",
        *,
        atol: float = 0.0,
        rtol: float = 0.0,
    ) -> None:
        """Fail if the rows differ from the expected rows.

        ``rows`` are samples of ``epic_cli.replay``, or text in one of the formats of ``epic
        replay``. They are expected in ``golden/TEST.tsv`` beside the test's file (the suffix is
        that of the format); ``name`` distinguishes several of one test. ``atol`` and ``rtol`` are
        the tolerances of numbers. If nothing is expected yet the test fails, and ``pytest
        --epic-accept`` accepts the rows.
        """
        __tracebackhide__ = True  # a failure shows the line of the test
        from epic_cli.jobs.check.differences import recognize_format
        from epic_cli.jobs.check.run import check_rows
        from epic_cli.jobs.check.spec import Case, DrawSpec, Tolerance, Tolerances
        from epic_cli.jobs.replay.spec import ReplaySpec

        if name in self._names:
            raise ValueError(f"{name!r} is used twice in this test: give each call its own name")
        self._names.add(name)
        drawn = rows.encode() if isinstance(rows, str) else rows
        if not isinstance(drawn, bytes):
            drawn = _write_tsv(drawn)
        row_format = recognize_format(drawn) or "tsv"
        stem = re.sub(r"[^\w.+-]+", "_", self._request.node.name)
        stem += f"-{name}" if name else ""
        folder = self._request.path.parent / "golden"
        case = Case(
            f"{self._request.node.nodeid}{f' {name}' if name else ''}",
            str(self._request.path),
            DrawSpec((), (), replay=ReplaySpec(row_format=row_format)),
            str(folder / f"{stem}.{row_format}"),
            Tolerances(Tolerance(atol, rtol)),
        )
        accepting = _is_accepting(self._request.config)
        folder.mkdir(exist_ok=True)
        _check_outcome(check_rows(case, drawn), accepting=accepting)

    def case(self, path: str | Path) -> Case:
        """Return the case of a folder or file, for a test to inspect."""
        __tracebackhide__ = True
        from epic_cli.jobs.check.spec import BrokenCase

        path = Path(path)
        try:
            return _read_case(
                str(path / "case.toml" if path.is_dir() else path), self._request.config
            )
        except BrokenCase as error:  # its text has the place
            raise error.with_traceback(None) from None


def _write_tsv(samples: Iterable[Sample]) -> bytes:
    from epic_cli.jobs.check.writing import write_tsv

    return write_tsv(samples)


@pytest.fixture
def epic_golden(request: pytest.FixtureRequest) -> Golden:
    """Compare rows with expected ones: ``epic_golden(replay(packets, "mirror"))``."""
    return Golden(request)
