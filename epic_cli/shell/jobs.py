"""Recordings run as jobs: by threads here, by processes or by a cluster, continuing a journal.

A job is a spec and the path of a recording, ``JobSpec.run`` what is done with it in whatever
process, and a ``JobResult`` what comes back: values, and what is to be reported here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.text.widths import printable
from epic_cli.shell.errors import CannotAccess, WrongUsage, say, wrong_usage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.jobs import JobOptions
from epic_cli.shell.sources import source_name
from epic_cli.work.runner import Failure, Memory, resumed

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)


class JobSpec(Protocol[Found_co]):
    """What is done with each recording: a value that other processes are sent."""

    @property
    def kind(self) -> str:
        """The command, which its journals name."""

    @property
    def messages(self) -> Messages:
        """How much is reported."""

    @property
    def color(self) -> bool:
        """Whether it is reported in colour."""

    def run(self, recording: str, reporter: Reporter) -> Found_co:
        """Reads a recording and works on it; raises ``CannotAccess`` and ``WrongUsage``."""

    def identity(self) -> dict[str, Any]:
        """What results depend on beside the recording's content, as JSON holds it."""


class Job(NamedTuple, Generic[Found]):
    """A recording, by its path, and what to do with it."""

    spec: JobSpec[Found]
    recording: str


class JobResult(NamedTuple, Generic[Found]):
    """The result for a recording, and its messages.

    ``found`` None: it cannot be used, and ``trouble`` says why. ``refused``: it had refused lines.
    ``said`` is reported at once, ``closing`` at the end.
    """

    found: Found | None
    refused: bool = False
    trouble: str = ""
    said: str = ""
    closing: str = ""


class UnusableJob(ValueError):
    """A worker crashed or failed on a recording."""


class JobTally:
    """Counts what was wrong with recordings so far."""

    def __init__(self, allowed_failures: int = 0, refused: bool = False) -> None:
        self._allowed = allowed_failures
        self.refused = refused
        self.left_out = 0
        #: What is to be reported at the end.
        self.closing: list[str] = []

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self.refused or self.left_out > self._allowed

    def add(self, result: JobResult[Any]) -> None:
        """Writes the messages of a recording."""
        say(result.said)
        self.closing.append(result.closing)
        self.refused |= result.refused
        if result.found is None:
            self.leave_out(result.trouble)

    def leave_out(self, trouble: object) -> None:
        """Reports that a recording cannot be used."""
        self.left_out += 1
        say(f"epic: {printable(str(trouble))}; it is left out\n")

    def end(self) -> None:
        """Writes the closing messages, once."""
        for text in self.closing:
            say(text)
        self.closing.clear()


def run_job(job: Job[Found]) -> JobResult[Found]:
    """Runs a job in any process, and captures its messages and errors."""
    spec = job.spec
    said: list[str] = []
    reporter = Reporter(source_name(job.recording), spec.messages, spec.color, said.append)
    found, trouble = None, ""
    try:
        found = spec.run(job.recording, reporter)
    except (CannotAccess, WrongUsage) as error:
        trouble = str(error)
    before = len(said)
    reporter.__exit__()
    return JobResult(
        found, reporter.refused, trouble, "".join(said[:before]), "".join(said[before:])
    )


def run_recordings(
    spec: JobSpec[Found],
    recordings: Sequence[str],
    executor: Executor,
    options: JobOptions,
    tally: JobTally,
    progress: Callable[[int, int], None] | None = None,
    unkept: Collection[str | None] = (),
) -> Generator[tuple[str, Found | UnusableJob]]:
    """The result of each readable recording, in order; other recordings go to ``tally``.

    Results of ``unkept`` recordings are in no journal. Raises ``CannotAccess`` and
    ``WrongUsage`` where the workers or the journal cannot be used.
    """
    known = 0
    jobs = [Job(spec, one) for one in recordings]
    with options.open_journal(spec.kind) as journal:
        memory = Memory(journal, _key_maker(spec, unkept)) if journal is not None else None
        results = resumed(run_job, jobs, executor, memory, _lasting)
        try:
            for count, ((_, recording), result, was_known) in enumerate(results, 1):
                known += was_known
                if isinstance(result, Failure):
                    if not options.remote or _cluster_is_gone(options, result.error):
                        raise result.error
                    tally.left_out += 1
                    yield recording, UnusableJob(_reason(result))
                else:
                    tally.add(result)
                    if result.found is not None:
                        yield recording, result.found
                if progress is not None:
                    progress(count, len(jobs))
        finally:
            results.close()
        if journal is not None and not spec.messages.quiet and (options.shard or known):
            count_words = f"{len(jobs)} result{'' if len(jobs) == 1 else 's'}"
            place = f"in {printable(journal.path)}, {known} of them known before"
            say(f"epic: {options.part_label}{count_words} {place}\n")


def _cluster_is_gone(options: JobOptions, error: Exception) -> bool:
    if options.scheduler is None:
        return False
    from epic_cli.work.executors import NoCluster  # few have one

    return isinstance(error, NoCluster)


def strategy_identity(strategy: Any) -> list[str]:
    """What results depend on: a strategy with its settings, and the code of a custom one.

    Raises ``WrongUsage`` where that cannot be known.
    """
    from epic_cli.work.code import UnknownCode, code_of

    assert isinstance(strategy, StrategySpec)
    settings = sorted(f"{name}={value!r}" for name, value in strategy.settings.items())
    with wrong_usage(kind=UnknownCode):
        return [strategy.label, strategy.name, *settings, *code_of(strategy.name)]


def _key_maker(
    spec: JobSpec[Found], unkept: Collection[str | None]
) -> Callable[[Job[Found]], str | None]:
    """What names a job in a journal: the recording's content, and what its result depends on.

    None where the recording cannot be read.
    """
    from epic_cli.work.journal import digest_of, key

    identity = spec.identity()

    def key_of(job: Job[Found]) -> str | None:
        if job.recording in unkept:
            return None
        try:
            return key(recording=digest_of(job.recording), **identity)
        except OSError:
            return None

    return key_of


def _lasting(result: JobResult[Found]) -> JobResult[Found] | None:
    """What is about the recording, whatever happens to be wrong with files and machines."""
    return result._replace(said="", closing="") if result.found is not None else None


def _reason(failure: Failure) -> str:
    if failure.died:
        return "the process that worked on it died (too little memory, or a crash)"
    return f"{type(failure.error).__name__}: {failure.error}"
