"""The running of a job for each recording, in threads, processes or a cluster, with a journal.

A job is a spec and the path of a recording. ``JobSpec.run`` does the work in any process, and a
``JobResult`` carries back values and messages.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from epic_cli.engine.failures import Portable
from epic_cli.recordings.files import CannotAccess, raise_cannot_access
from epic_cli.recordings.opening import UNUSABLE, name_source

if TYPE_CHECKING:
    import threading

    from epic_cli.recordings.opening import Logs, Progress, ReadingLog
    from epic_cli.work.journal import ResultJournal

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)


@dataclass(frozen=True)
class Workers:
    """The choice of workers: threads, other ``processes``, a Dask ``cluster``, or an ``executor``.

    Results are saved in the file ``journal``, and known ones are not computed again.
    """

    processes: int | None = None
    cluster: str | None = None
    journal: str | None = None
    executor: Executor | None = None

    def __str__(self) -> str:
        named: dict[str, object] = {
            "--workers": self.processes,
            "--cluster": self.cluster,
            "--journal": self.journal,
            "an executor": self.executor,
        }
        return " and ".join(name for name, value in named.items() if value is not None)

    @property
    def remote(self) -> bool:
        """True if other processes than this one run the jobs."""
        return (self.processes, self.cluster, self.executor) != (None, None, None)

    @contextlib.contextmanager
    def open(self) -> Iterator[Executor]:
        """Open the remote workers as an executor; raise ``CannotAccess``."""
        from epic_cli.work.executors import Cluster, NoCluster, Processes

        if self.executor is not None:
            yield self.executor
            return
        if self.cluster is None:
            with Processes(self.processes or 1) as processes:
                yield processes
            return
        try:
            with Cluster(self.cluster) as cluster:
                yield cluster
        except NoCluster as error:
            hint = "; the journal has the results so far" if self.journal else ""
            raise CannotAccess("use", self.cluster, OSError(f"{error}{hint}")) from error

    @contextlib.contextmanager
    def open_journal(self, kind: str, tally: JobTally) -> Iterator[ResultJournal | None]:
        """Open the journal, if one is set; report damaged lines to ``tally``.

        Raises ``UnusableJournal``, ``CannotAccess``.
        """
        path = self.journal
        if path is None:
            yield None
            return
        from epic_cli.work.journal import ResultJournal

        with raise_cannot_access("write to", path):
            journal = ResultJournal(path, kind)
        if journal.cut:
            tally.note(f"{path}: its last line is truncated and will be recomputed")
        if journal.damage is not None:
            tally.note(str(journal.damage))
        try:
            with journal:
                tally.journal = journal
                yield journal
        except OSError as error:
            if error.filename == path:
                raise CannotAccess("write to", path, error) from error
            raise


#: Threads of this process, and no journal.
HERE = Workers()


class JobSpec(Protocol[Found_co]):
    """The settings of the work on each recording, which can be sent to other processes."""

    @property
    def kind(self) -> str:
        """The name of the command, which is written into its journals."""

    @property
    def log(self) -> Logs:
        """A function that creates a recording's log from its name, in any process."""

    def run(self, recording: Any, log: ReadingLog) -> Found_co:
        """Read a recording and compute its result; raise ``UNUSABLE``."""

    def identify_inputs(self) -> dict[str, Any]:
        """Return the JSON values that decide the result besides the recording's content."""

    def adapt_to_place(self, place: Place | None) -> JobSpec[Found_co]:
        """Return the spec for a worker at ``place`` of this process; None: for another process."""


class Place(NamedTuple):
    """The threads and the stop event that a job in this process may use.

    ``threads`` is their number; the event ``stop`` ends the job. ``progress`` is that of a single
    recording.
    """

    threads: int | None = None
    stop: threading.Event | None = None
    progress: Progress | None = None


class Job(NamedTuple, Generic[Found]):
    """A job: a recording, mostly by its path, and the spec of the work on it."""

    spec: JobSpec[Found]
    recording: Any


class JobResult(NamedTuple, Generic[Found]):
    """The result for one recording, and its messages.

    ``found`` is None for an unusable recording, and ``trouble`` says why. ``refused``: some lines
    were refused. ``said`` is reported at once, ``closing`` at the end.
    """

    found: Found | None
    refused: bool = False
    trouble: Exception | None = None
    said: str = ""
    closing: str = ""


class UnusableJob(Portable, ValueError):
    """An error: the worker crashed or failed on a recording; ``error`` is the worker's error."""

    def __init__(self, error: Exception, died: bool) -> None:
        died_of = "the process that worked on it died (too little memory, or a crash)"
        super().__init__(died_of if died else f"{type(error).__name__}: {error}")
        self.error = error


class JobTally:
    """A tally of problems with recordings; front ends override the methods that do nothing.

    ``refused``: some lines were refused; ``left_out`` counts unusable recordings. An error that
    ends the block gets a note that the ``journal`` has the results so far.
    """

    def __init__(self) -> None:
        self.refused = False
        self.left_out = 0
        self.journal: ResultJournal | None = None
        self._closing: list[str] = []
        self._last: ReadingLog | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Report the closing messages, and where the results of a failed run are saved."""
        self.end()
        if error is not None and self.journal is not None and len(self.journal):
            path = self.journal.path
            error.add_note(f"{path} has the results so far; run the same command to go on from it")

    def say(self, text: str) -> None:
        """Write a message from a recording's log."""

    def note(self, words: str) -> None:
        """Write a message about the journal."""

    def report_resumed(self, words: str) -> None:
        """Report how many results were already in the journal."""

    def leave_out(self, name: str, error: Exception) -> None:
        """Count and report an unusable recording."""
        del name, error
        self.left_out += 1

    def take_only_log(self, log: ReadingLog) -> None:
        """Take the log of the only recording; its closing messages come at the end."""
        self._last = log

    def add(self, name: str, result: JobResult[Any]) -> None:
        """Count and report what a recording's result says."""
        self.say(result.said)
        self._closing.append(result.closing)
        self.refused |= result.refused
        if result.trouble is not None:
            self.leave_out(name, result.trouble)

    def end(self) -> None:
        """Report the closing messages, unless they have been reported."""
        for text in self._closing:
            self.say(text)
        self._closing.clear()
        if self._last is not None:
            self._last.__exit__()
            self._last = None


def run_job(job: Job[Found]) -> JobResult[Found]:
    """Run a job in any process; return its result with its messages and errors."""
    said: list[str] = []
    found, trouble, before = None, None, 0
    log = job.spec.log(name_source(job.recording))
    log.write = said.append
    with log:
        try:
            found = job.spec.run(job.recording, log)
        except UNUSABLE as error:
            trouble = error
        before = len(said)
    return JobResult(found, log.refused, trouble, "".join(said[:before]), "".join(said[before:]))


def run_recordings(
    spec: JobSpec[Found],
    recordings: Sequence[Any],
    workers: Workers,
    tally: JobTally,
    progress: Progress | None = None,
    threads: int | None = None,
    unkept: Collection[str | None] = (),
) -> Generator[tuple[Any, Found | UnusableJob]]:
    """Run a job for each recording; yield the results in order, and report the others to ``tally``.

    Without workers, ``threads`` (None for one on each core) of this process run the jobs. Results
    of ``unkept`` recordings are in no journal. Raises ``UNUSABLE`` if the only recording is
    unusable; ``CannotAccess``, ``UnusableJournal`` and ``UnknownCode`` if the workers or the
    journal are.
    """
    from epic_cli.work.executors import Threads
    from epic_cli.work.runner import Failure, Memory, resume_jobs

    if len(recordings) == 1 and workers == HERE:
        (recording,) = recordings
        log = spec.log(name_source(recording))
        tally.take_only_log(log)
        found = spec.adapt_to_place(Place(threads, None, progress)).run(recording, log)
        tally.refused |= log.refused
        yield recording, found
        return
    known = 0
    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(workers.open_journal(spec.kind, tally))
        executor: Executor
        if workers.remote:
            executor, spec = opened.enter_context(workers.open()), spec.adapt_to_place(None)
        else:
            executor = here = opened.enter_context(Threads(threads, len(recordings)))
            spec = spec.adapt_to_place(Place(here.inner, here.stop))
        memory = None
        if journal is not None:
            memory = Memory(journal, _make_key_function(spec, unkept), _make_result_check(spec))
        jobs = [Job(spec, recording) for recording in recordings]
        results = resume_jobs(run_job, jobs, executor, memory, _strip_messages)
        opened.callback(results.close)
        for count, ((_, recording), result, was_known) in enumerate(results, 1):
            known += was_known
            if isinstance(result, Failure):
                if not workers.remote or _is_cluster_gone(workers, result.error):
                    raise result.error
                tally.left_out += 1
                yield recording, UnusableJob(result.error, result.died)
            else:
                tally.add(name_source(recording), result)
                if result.found is not None:
                    yield recording, result.found
            if progress is not None:
                progress(count, len(jobs))
        if journal is not None and known:
            words = f"{len(jobs)} result{'' if len(jobs) == 1 else 's'}"
            tally.report_resumed(f"{words} in {journal.path}, {known} of them known before")


def _is_cluster_gone(workers: Workers, error: Exception) -> bool:
    if workers.cluster is None:
        return False
    from epic_cli.work.executors import NoCluster

    return isinstance(error, NoCluster)


def _make_result_check(spec: JobSpec[Found]) -> Callable[[Any], bool]:
    """Return a function that tests if a journal's value can be a result of this spec's jobs."""
    from epic_cli.work.journal import find_declared_type, is_of_type

    kind = find_declared_type(type(spec).run.__annotations__.get("return"), type(spec))
    return lambda result: isinstance(result, JobResult) and is_of_type(result.found, kind)


def _make_key_function(
    spec: JobSpec[Found], unkept: Collection[str | None]
) -> Callable[[Job[Found]], str | None]:
    """Return a function that computes the journal's key of a job.

    The key covers the recording's content and everything else that decides the result. It is None
    if the recording cannot be read. Raises ``UnknownCode``.
    """
    from epic_cli.work.journal import compute_key, digest_file

    identity = spec.identify_inputs()

    def compute_job_key(job: Job[Found]) -> str | None:
        if job.recording in unkept:
            return None
        try:
            return compute_key(recording=digest_file(job.recording), **identity)
        except OSError:
            return None

    return compute_job_key


def _strip_messages(result: JobResult[Found]) -> JobResult[Found] | None:
    """Return the part of a result to save, which depends on the recording alone.

    None for a failure.
    """
    return result._replace(said="", closing="") if result.found is not None else None
