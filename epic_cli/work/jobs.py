"""Recordings run as jobs: by threads here, by processes or by a cluster, continuing a journal.

A job is a spec and the path of a recording, ``JobSpec.run`` what is done with it in whatever
process, and a ``JobResult`` what comes back: values, and what is to be reported here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

from epic_cli.engine.failures import Portable
from epic_cli.recordings.files import CannotAccess, accessing
from epic_cli.recordings.opening import UNUSABLE, source_name

if TYPE_CHECKING:
    import threading

    from epic_cli.recordings.opening import Logs, Progress, ReadingLog
    from epic_cli.work.journal import ResultJournal

Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)


@dataclass(frozen=True)
class Workers:
    """Who does the work: threads here; as many ``processes``; a Dask ``cluster``; an ``executor``.

    Results are kept in the file ``journal``, and known ones are not computed again.
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
        """Whether other processes do the work."""
        return (self.processes, self.cluster, self.executor) != (None, None, None)

    @contextlib.contextmanager
    def open(self) -> Iterator[Executor]:
        """Those of them that are ``remote``; raises ``CannotAccess``."""
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
        """The journal; None: there is none. Its damage goes to the ``tally``.

        Raises ``UnusableJournal``, ``CannotAccess``.
        """
        path = self.journal
        if path is None:
            yield None
            return
        from epic_cli.work.journal import ResultJournal

        with accessing("write to", path):
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
    """What is done with each recording: a value that other processes are sent."""

    @property
    def kind(self) -> str:
        """The command, which its journals name."""

    @property
    def log(self) -> Logs:
        """Makes the log of a recording, in whatever process."""

    def run(self, recording: Any, log: ReadingLog) -> Found_co:
        """Reads a recording and works on it; raises ``UNUSABLE``."""

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
    """A recording, mostly by its path, and what to do with it."""

    spec: JobSpec[Found]
    recording: Any


class JobResult(NamedTuple, Generic[Found]):
    """The result for a recording, and its messages.

    ``found`` None: it cannot be used, and ``trouble`` says why. ``refused``: it had refused lines.
    ``said`` is reported at once, ``closing`` at the end.
    """

    found: Found | None
    refused: bool = False
    trouble: Exception | None = None
    said: str = ""
    closing: str = ""


class UnusableJob(Portable, ValueError):
    """A worker crashed or failed on a recording; ``error`` is its error."""

    def __init__(self, error: Exception, died: bool) -> None:
        died_of = "the process that worked on it died (too little memory, or a crash)"
        super().__init__(died_of if died else f"{type(error).__name__}: {error}")
        self.error = error


class JobTally:
    """Counts what is wrong with recordings; a front end says it, in the methods that do nothing.

    ``refused``: lines of one were; ``left_out``: as many were. An error that ends its block is
    noted to have left the results so far in the ``journal``, if there is one.
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
        """Say the closing messages, and where the results of a run that failed are kept."""
        self.end()
        if error is not None and self.journal is not None and len(self.journal):
            path = self.journal.path
            error.add_note(f"{path} has the results so far; run the same command to go on from it")

    def say(self, text: str) -> None:
        """Writes what the log of a recording has said elsewhere."""

    def note(self, words: str) -> None:
        """Something about the journal."""

    def resumed(self, words: str) -> None:
        """Says how many results were known before."""

    def leave_out(self, name: str, error: Exception) -> None:
        """A recording of this name cannot be used."""
        del name, error
        self.left_out += 1

    def alone(self, log: ReadingLog) -> None:
        """Takes the log of the only recording, which has its last word at the end."""
        self._last = log

    def add(self, name: str, result: JobResult[Any]) -> None:
        """Takes what was said of a recording of this name."""
        self.say(result.said)
        self._closing.append(result.closing)
        self.refused |= result.refused
        if result.trouble is not None:
            self.leave_out(name, result.trouble)

    def end(self) -> None:
        """Says the closing messages, once."""
        for text in self._closing:
            self.say(text)
        self._closing.clear()
        if self._last is not None:
            self._last.__exit__()
            self._last = None


def run_job(job: Job[Found]) -> JobResult[Found]:
    """Runs a job in any process, and captures its messages and errors."""
    said: list[str] = []
    found, trouble, before = None, None, 0
    log = job.spec.log(source_name(job.recording))
    log.write = said.append
    with log:
        try:
            found = job.spec.run(job.recording, log)
        except UNUSABLE as error:
            trouble = error
        before = len(said)
    return JobResult(found, log.refused, trouble, "".join(said[:before]), "".join(said[before:]))


def results_of(
    spec: JobSpec[Found],
    recordings: Sequence[Any],
    workers: Workers,
    tally: JobTally,
    progress: Progress | None = None,
    threads: int | None = None,
    unkept: Collection[str | None] = (),
) -> Generator[tuple[Any, Found | UnusableJob]]:
    """The result of each readable recording, in order; other recordings go to ``tally``.

    Without workers, ``threads`` (None: one on each core) of this process do it. Results of
    ``unkept`` recordings are in no journal. Raises ``UNUSABLE`` for what is wrong with the only
    recording, ``CannotAccess``, ``UnusableJournal`` and ``UnknownCode`` where the workers or the
    journal cannot be used.
    """
    from epic_cli.work.executors import Threads
    from epic_cli.work.runner import Failure, Memory, resumed

    if len(recordings) == 1 and workers == HERE:
        (recording,) = recordings
        log = spec.log(source_name(recording))
        tally.alone(log)
        found = spec.placed(Place(threads, None, progress)).run(recording, log)
        tally.refused |= log.refused
        yield recording, found
        return
    known = 0
    with contextlib.ExitStack() as opened:
        journal = opened.enter_context(workers.open_journal(spec.kind, tally))
        executor: Executor
        if workers.remote:
            executor, spec = opened.enter_context(workers.open()), spec.placed(None)
        else:
            executor = here = opened.enter_context(Threads(threads, len(recordings)))
            spec = spec.placed(Place(here.inner, here.stop))
        memory = None
        if journal is not None:
            memory = Memory(journal, _key_maker(spec, unkept), _result_check(spec))
        jobs = [Job(spec, recording) for recording in recordings]
        results = resumed(run_job, jobs, executor, memory, _lasting)
        opened.callback(results.close)
        for count, ((_, recording), result, was_known) in enumerate(results, 1):
            known += was_known
            if isinstance(result, Failure):
                if not workers.remote or _cluster_is_gone(workers, result.error):
                    raise result.error
                tally.left_out += 1
                yield recording, UnusableJob(result.error, result.died)
            else:
                tally.add(source_name(recording), result)
                if result.found is not None:
                    yield recording, result.found
            if progress is not None:
                progress(count, len(jobs))
        if journal is not None and known:
            words = f"{len(jobs)} result{'' if len(jobs) == 1 else 's'}"
            tally.resumed(f"{words} in {journal.path}, {known} of them known before")


def _cluster_is_gone(workers: Workers, error: Exception) -> bool:
    if workers.cluster is None:
        return False
    from epic_cli.work.executors import NoCluster

    return isinstance(error, NoCluster)


def _result_check(spec: JobSpec[Found]) -> Callable[[Any], bool]:
    """What says whether a value of a journal can be the result of such a job."""
    from epic_cli.work.journal import declared_type, fits

    kind = declared_type(type(spec).run.__annotations__.get("return"), type(spec))
    return lambda result: isinstance(result, JobResult) and fits(result.found, kind)


def _key_maker(
    spec: JobSpec[Found], unkept: Collection[str | None]
) -> Callable[[Job[Found]], str | None]:
    """What names a job in a journal: the recording's content, and what its result depends on.

    None where the recording cannot be read. Raises ``UnknownCode``.
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
