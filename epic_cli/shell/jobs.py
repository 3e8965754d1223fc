"""Recordings run as jobs: by threads here, by processes or by a cluster, continuing a journal.

A job is a spec and the path of a recording, ``JobSpec.run`` what is done with it in whatever
process, and a ``JobResult`` what comes back: values, and what is to be reported here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import click

from epic_cli.engine.text.widths import printable
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import UNUSABLE, source_name
from epic_cli.shell.declared import OutputFile, Parsed, value
from epic_cli.shell.errors import WrongUsage, say, wrong_usage
from epic_cli.shell.messages import Messages, Reporter

if TYPE_CHECKING:
    import threading

    from epic_cli.metrics.evaluation import Progress
    from epic_cli.work.journal import ResultJournal

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)


def _cluster_address(text: str) -> str:
    """``tcp://host:8786``, as it is; raises ``ValueError``."""
    from epic_cli.work.executors import place_of

    place_of(text)
    return text


@dataclass(frozen=True)
class JobOptions:
    """Which workers, which journal, and how many failures are allowed."""

    workers: int | None = value(
        "Use this many processes, each with one thread unless --threads says"
        " otherwise.  [default: the threads of this process]",
        type=click.IntRange(1, 1024),
    )
    cluster: str | None = value(
        "Use the workers of a Dask cluster, which must see the recordings under the same"
        " paths: tcp://host:8786.",
        type=Parsed("address", _cluster_address),
    )
    journal: str | None = value(
        "Store each result in this file and reuse known ones: run the same command again to"
        " resume.",
        type=OutputFile(),
    )
    allowed_failures: int = value(
        "Tolerate this many skipped recordings (unreadable, not comparable, or a worker"
        " crashed) before the exit status shows it.",
        type=click.IntRange(0),
        default=0,
        show_default=True,
    )

    def settled(self, given: Collection[str], fits: bool) -> JobOptions:
        """The options in force; raises ``WrongUsage`` for conflicting ones.

        Options that are not ``given`` (they are from the configuration) are ignored where none of
        them ``fits``, or where the other kind of workers was given.
        """
        passed = {"workers", "cluster", "journal"} if not fits else set()
        if {"workers", "cluster"} & set(given):
            passed |= {"workers", "cluster"}
        none: dict[str, Any] = dict.fromkeys(passed - set(given))
        found = replace(self, **none)
        if found.workers is not None and found.cluster is not None:
            raise WrongUsage(
                "--workers are local processes, --cluster has its own workers: use one of them",
                "workers",
                "cluster",
            )
        return found

    @property
    def remote(self) -> bool:
        """Whether other processes do the work."""
        return self.workers is not None or self.cluster is not None

    @property
    def options(self) -> str:
        """The options that are in force and need recordings with names; empty: none."""
        given = {
            "--workers": self.workers,
            "--cluster": self.cluster,
            "--journal": self.journal,
        }
        return " and ".join(name for name, value in given.items() if value is not None)

    @contextlib.contextmanager
    def executor(self) -> Iterator[Executor]:
        """The requested workers, if ``remote``; raises ``CannotAccess``."""
        from epic_cli.work.executors import Cluster, NoCluster, Processes

        if self.cluster is None:
            with Processes(self.workers or 1) as processes:
                yield processes
            return
        try:
            with Cluster(self.cluster) as cluster:
                yield cluster
        except NoCluster as error:
            hint = "; the journal has the results so far" if self.journal else ""
            raise CannotAccess("use", self.cluster, OSError(f"{error}{hint}")) from error

    @contextlib.contextmanager
    def open_journal(self, kind: str) -> Iterator[ResultJournal | None]:
        """The journal; None: no ``--journal``.

        Reports damage. Raises ``WrongUsage``, ``CannotAccess``.
        """
        path = self.journal
        if path is None:
            yield None
            return
        from epic_cli.work.journal import ResultJournal, UnusableJournal

        try:
            journal = ResultJournal(path, kind)
        except UnusableJournal as error:
            raise WrongUsage(printable(str(error))) from error
        except OSError as error:
            raise CannotAccess("write to", path, error) from error
        if journal.cut:
            say(f"epic: {printable(path)}: its last line is truncated and will be recomputed\n")
        if journal.damage is not None:
            say(f"epic: {printable(str(journal.damage))}\n")
        try:
            with journal:
                yield journal
        except OSError as error:
            if error.filename == path:
                raise CannotAccess("write to", path, error) from error
            raise


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

    def placed(self, place: Place | None) -> JobSpec[Found_co]:
        """The same for a place in this process; None: for other processes."""


class Place(NamedTuple):
    """Where a job of this process runs: on this many ``threads``, until ``stop`` is set.

    ``progress`` is that of a single recording, if it is one.
    """

    threads: int | None = None
    stop: threading.Event | None = None
    progress: Progress | None = None


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

    def __init__(self, allowed_failures: int = 0) -> None:
        self._allowed = allowed_failures
        self.refused = False
        self.left_out = 0
        self._closing: list[str] = []
        self._last: Reporter | None = None

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self.refused or self.left_out > self._allowed

    def alone(self, reporter: Reporter) -> None:
        """Takes the reporter of the only recording, which has its last word at the end."""
        self._last = reporter

    def add(self, result: JobResult[Any]) -> None:
        """Writes the messages of a recording."""
        say(result.said)
        self._closing.append(result.closing)
        self.refused |= result.refused
        if result.found is None:
            self.leave_out(result.trouble)

    def leave_out(self, trouble: object) -> None:
        """Reports that a recording cannot be used."""
        self.left_out += 1
        say(f"epic: {printable(str(trouble))}; it is left out\n")

    def end(self) -> None:
        """Writes the closing messages, once."""
        for text in self._closing:
            say(text)
        self._closing.clear()
        if self._last is not None:
            self._last.__exit__()
            self._last = None


def run_job(job: Job[Found]) -> JobResult[Found]:
    """Runs a job in any process, and captures its messages and errors."""
    spec = job.spec
    said: list[str] = []
    found, trouble, before = None, "", 0
    with Reporter(source_name(job.recording), spec.messages, spec.color, said.append) as reporter:
        try:
            found = spec.run(job.recording, reporter)
        except (*UNUSABLE, WrongUsage) as error:
            trouble = str(error)
        before = len(said)
    return JobResult(
        found, reporter.refused, trouble, "".join(said[:before]), "".join(said[before:])
    )


def results_of(
    spec: JobSpec[Found],
    recordings: Sequence[str],
    options: JobOptions,
    tally: JobTally,
    progress: Progress | None = None,
    threads: int | None = None,
    unkept: Collection[str | None] = (),
) -> Generator[tuple[str, Found | UnusableJob]]:
    """The result of each readable recording, in order; other recordings go to ``tally``.

    Without workers, ``threads`` (None: one on each core) of this process do it. Results of
    ``unkept`` recordings are in no journal. Raises ``CannotAccess`` and ``WrongUsage`` for what
    is wrong with the only recording, and where the workers or the journal cannot be used.
    """
    from epic_cli.work.executors import Threads
    from epic_cli.work.runner import Failure, Memory, resumed

    if len(recordings) == 1 and not options.options:
        (recording,) = recordings
        reporter = Reporter(source_name(recording), spec.messages, spec.color)
        tally.alone(reporter)
        found = spec.placed(Place(threads, None, progress)).run(recording, reporter)
        tally.refused |= reporter.refused
        yield recording, found
        return
    known = 0
    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(options.open_journal(spec.kind))
        executor: Executor
        if options.remote:
            executor, spec = opened.enter_context(options.executor()), spec.placed(None)
        else:
            executor = here = opened.enter_context(Threads(threads, len(recordings)))
            spec = spec.placed(Place(here.inner, here.stop))
        memory = Memory(journal, _key_maker(spec, unkept)) if journal is not None else None
        jobs = [Job(spec, recording) for recording in recordings]
        results = resumed(run_job, jobs, executor, memory, _lasting)
        opened.callback(results.close)
        for count, ((_, recording), result, was_known) in enumerate(results, 1):
            known += was_known
            if isinstance(result, Failure):
                if not options.remote or _cluster_is_gone(options, result.error):
                    raise result.error
                tally.left_out += 1
                yield recording, UnusableJob(_reason(result.error, result.died))
            else:
                tally.add(result)
                if result.found is not None:
                    yield recording, result.found
            if progress is not None:
                progress(count, len(jobs))
        if journal is not None and not spec.messages.quiet and known:
            count_words = f"{len(jobs)} result{'' if len(jobs) == 1 else 's'}"
            say(f"epic: {count_words} in {printable(journal.path)}, {known} of them known before\n")


def _cluster_is_gone(options: JobOptions, error: Exception) -> bool:
    if options.cluster is None:
        return False
    from epic_cli.work.executors import NoCluster

    return isinstance(error, NoCluster)


def _key_maker(
    spec: JobSpec[Found], unkept: Collection[str | None]
) -> Callable[[Job[Found]], str | None]:
    """What names a job in a journal: the recording's content, and what its result depends on.

    None where the recording cannot be read. Raises ``WrongUsage`` where what a strategy consists
    of cannot be known.
    """
    from epic_cli.work.code import UnknownCode
    from epic_cli.work.journal import digest_of, key

    with wrong_usage(kind=UnknownCode):
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


def _reason(error: Exception, died: bool) -> str:
    if died:
        return "the process that worked on it died (too little memory, or a crash)"
    return f"{type(error).__name__}: {error}"
