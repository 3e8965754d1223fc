"""An archive worked through: by threads here, by processes or by a cluster, from a journal on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, NamedTuple, TypeVar

from epic_cli.analysis.jobs.cluster import NoCluster
from epic_cli.analysis.jobs.journal import digest_of
from epic_cli.analysis.jobs.runner import Failure, Memory, resumed
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import find, is_built_in
from epic_cli.engine.text.widths import printable
from epic_cli.formats.layout import Layout
from epic_cli.ui.io.errors import CannotAccess, WrongUsage, say
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import source_name
from epic_cli.ui.options.archive import Archive

Job = TypeVar("Job")
Found = TypeVar("Found")


class JobResult(NamedTuple, Generic[Found]):
    """What came of a recording.

    ``found`` None: it cannot be used at all, and ``trouble`` says why. ``refused``: lines of it
    were. ``said`` is to be said now, ``closing`` at the end.
    """

    found: Found | None
    refused: bool = False
    trouble: str = ""
    said: str = ""
    closing: str = ""


class Unusable(ValueError):
    """A worker died of a recording, or failed at it."""


class Tally:
    """What has been wrong with recordings so far."""

    def __init__(self, allowed_failures: int = 0) -> None:
        self._allowed = allowed_failures
        self.refused = False
        self.left_out = 0
        self.closing: list[str] = []

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self.refused or self.left_out > self._allowed

    def end(self) -> None:
        """Says what is to be said of each at the end."""
        for text in self.closing:
            say(text)


def capture_job(
    file: str, remarks: Messages, color: bool, work: Callable[[Reporter], Found]
) -> JobResult[Found]:
    """What ``work`` finds in a recording; what is to be said is kept, and what is wrong with it."""
    said: list[str] = []
    reporter = Reporter(source_name(file), remarks, color, said.append)
    found, trouble = None, ""
    try:
        found = work(reporter)
    except (CannotAccess, WrongUsage) as error:
        trouble = str(error)
    before = len(said)
    reporter.__exit__()
    return JobResult(
        found, reporter.refused, trouble, "".join(said[:before]), "".join(said[before:])
    )


def work_through(
    work: Callable[[Job], JobResult[Found]],
    jobs: Sequence[Job],
    executor: Executor,
    archive: Archive,
    kind: str,
    make_key: Callable[[], Callable[[Job], str | None]],
    remarks: Messages,
    tally: Tally,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[tuple[Job, Found | Unusable]]:
    """What came of each recording that can be read, in their order; the rest goes to ``tally``.

    ``kind`` is that of the journal, and ``make_key`` makes what names a job in it. Raises
    ``CannotAccess`` and ``WrongUsage`` where the workers or the journal cannot be used.
    """
    known = 0
    with archive.open_journal(kind) as journal:
        memory = Memory(journal, make_key()) if journal is not None else None
        answers = resumed(work, jobs, executor, memory, _kept)
        try:
            for count, (job, answer, was_known) in enumerate(answers, 1):
                known += was_known
                if isinstance(answer, Failure):
                    if not archive.elsewhere or isinstance(answer.error, NoCluster):
                        raise answer.error
                    tally.left_out += 1
                    yield job, Unusable(_reason(answer))
                else:
                    say(answer.said)
                    tally.closing.append(answer.closing)
                    tally.refused |= answer.refused
                    if answer.found is None:
                        tally.left_out += 1
                        say(f"epic: {printable(answer.trouble)}; it is left out\n")
                    else:
                        yield job, answer.found
                if progress is not None:
                    progress(count, len(jobs))
        except OSError as error:
            if isinstance(error, NoCluster | BrokenPipeError) or archive.journal is None:
                raise
            raise CannotAccess("write to", archive.journal, error) from error
        finally:
            answers.close()
        if journal is not None and not remarks.quiet and (archive.shard or known):
            results = f"{len(jobs)} result{'' if len(jobs) == 1 else 's'}"
            place = f"in {printable(journal.path)}, {known} of them known before"
            say(f"epic: {archive.which}{results} {place}\n")


def what_it_is(candidate: Any) -> list[str]:
    """What a journal goes by: a strategy with its settings, and the code of somebody's own."""
    assert isinstance(candidate, StrategySpec)
    settings = sorted(f"{name}={value!r}" for name, value in candidate.settings.items())
    code = None
    if not is_built_in(candidate.name):
        code = inspect.getsourcefile(find(candidate.name))
    own = [digest_of(code)] if code else []
    return [candidate.label, candidate.name, *settings, *own]


def layout_key(given: Layout | None) -> list[str] | None:
    """What a journal goes by: how a recording is read."""
    return None if given is None else list(map(str, given._replace(beginning=None)))


def _kept(answer: JobResult[Found]) -> JobResult[Found] | None:
    """What is about the recording, whatever happens to be wrong with files and machines."""
    return answer._replace(said="", closing="") if answer.found is not None else None


def _reason(failure: Failure) -> str:
    if failure.died:
        return "the process that worked on it died (too little memory, or a crash)"
    return f"{type(failure.error).__name__}: {failure.error}"
