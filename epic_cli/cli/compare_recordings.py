"""The recordings of ``epic compare``, judged by threads here, by processes or by a cluster."""

from __future__ import annotations

import contextlib
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.analysis.archive.cluster import NoCluster
from epic_cli.analysis.archive.resumed import Memory, resumed
from epic_cli.analysis.archive.threads import Threads
from epic_cli.analysis.archive.workers import Failure
from epic_cli.analysis.compare import Comparison
from epic_cli.analysis.study import Gathered
from epic_cli.cli.compare_jobs import (
    Job,
    Judged,
    Request,
    judge,
    judge_here,
    judged,
    key_maker,
    settled,
)
from epic_cli.cli.compare_runs import given_truths, recordings_of
from epic_cli.engine.text.widths import printable
from epic_cli.formats.layout import begun_together
from epic_cli.terminal.errors import WrongUsage, say
from epic_cli.terminal.remarks import Remarks, Reporter
from epic_cli.terminal.sources import source_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.analysis.compare import Progress
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.study import Asked
    from epic_cli.cli.options.archive import Archive
    from epic_cli.cli.options.compare import Inputs
    from epic_cli.terminal.profiles import Saving


class Unusable(ValueError):
    """A recording of which a worker died, or at which it failed."""


class Recordings:
    """All that are meant, in their order; what is wrong with one is said, and it is left out.

    Raises ``WrongUsage`` and ``CannotAccess``: of one recording for what is wrong with it, of
    several for what is wrong with the options, the truth or the workers.
    """

    def __init__(
        self, inputs: Inputs, archive: Archive, asked: Asked, remarks: Remarks, color: bool
    ) -> None:
        self.names = recordings_of(inputs)
        self._archive = archive
        if archive.options and "-" in (*self.names, inputs.truth):
            raise WrongUsage(f"{archive.options}: for files, not for standard input")
        given = begun_together(inputs.given) if inputs.truth else inputs.given
        self._truths, refused = given_truths(
            inputs, given if inputs.truth else None, remarks, color
        )
        if inputs.truth and given is not None:
            given = settled(given, self.names, inputs.input_format)
        self._request = Request(
            asked._replace(total=len(self.names)),
            given,
            inputs.input_format,
            inputs.entity,
            inputs.truth,
            remarks,
            color,
        )
        self._refused = refused
        self._left_out = 0
        self._closing: list[str] = []
        self._reporter: Reporter | None = None

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self._refused or self._left_out > self._archive.allowed_failures

    def compared(
        self,
        selection: Selection | None,
        threads: int | None,
        saving: Saving | None,
        seed: int,
        progress: Progress,
    ) -> Comparison | None:
        """Judges them; None: this is a shard's part, and the results are in its journal.

        ``seed`` is that of the bootstrap. Raises what ``study`` does.
        """
        archive, request = self._archive, self._request._replace(threads=threads or 1)
        if saving is not None and archive.options:
            raise WrongUsage(f"--save-profile looks at a recording here: without {archive.options}")
        part = archive.part(self.names)
        jobs = [Job(name, None if index else selection) for index, name in enumerate(part)]
        if len(self.names) == 1 and not archive.options:
            return self._only(jobs[0], threads, saving, seed, progress)
        gathered, known = Gathered(), 0
        with archive.open_journal("compare") as journal, contextlib.ExitStack() as ending:
            work: Callable[[Job], Judged]
            if archive.elsewhere:
                executor: Executor = ending.enter_context(archive.executor())
                work = partial(judge, request)
            else:
                here = ending.enter_context(Threads(threads, len(jobs)))
                executor = here
                work = partial(self._judge_here, request, here, saving)
            memory = Memory(journal, key_maker(request)) if journal is not None else None
            answers = resumed(work, jobs, executor, memory, _kept)
            ending.callback(answers.close)
            for count, (job, answer, was_known) in enumerate(answers, 1):
                self._take(source_name(job.file), answer, gathered)
                known += was_known
                progress(count, len(jobs))
        if journal is not None:
            self._tell(journal.path, known, len(jobs))
        return gathered.conclusion(request.asked, seed) if archive.shard is None else None

    def end(self) -> None:
        """Says how many lines were refused, however it ended."""
        for text in self._closing:
            say(text)
        if self._reporter is not None:
            self._reporter.__exit__()

    def _only(
        self,
        job: Job,
        threads: int | None,
        saving: Saving | None,
        seed: int,
        progress: Progress,
    ) -> Comparison:
        """The only recording, of which everything is said at once."""
        request = self._request
        reporter = Reporter(source_name(job.file), request.remarks, request.color)
        self._reporter = reporter
        found = judge_here(
            request, job, reporter, self._truths, threads, saving=saving, progress=progress
        )
        self._refused |= reporter.refused
        gathered = Gathered()
        gathered.add(reporter.name, found)
        return gathered.conclusion(request.asked, seed)

    def _judge_here(
        self, request: Request, here: Threads, saving: Saving | None, job: Job
    ) -> Judged:
        return judged(request, job, lambda: self._truths, here.inner, here.stop, saving)

    def _take(self, name: str, answer: Judged | Failure, gathered: Gathered) -> None:
        """One more of them."""
        if isinstance(answer, Failure):
            if not self._archive.elsewhere or isinstance(answer.error, NoCluster):
                raise answer.error
            self._left_out += 1
            gathered.skip(name, Unusable(_reason(answer)))
            return
        if answer.said:
            say(answer.said)
        self._closing.append(answer.closing)
        self._refused |= answer.refused
        if answer.trouble:
            say(f"epic: {printable(answer.trouble)}; it is left out\n")
        elif answer.verdict is not None:
            gathered.add(name, answer.verdict)
        self._left_out += not isinstance(answer.verdict, Comparison)

    def _tell(self, path: str, known: int, total: int) -> None:
        shard = self._archive.shard
        part = f"part {shard.number} of {shard.of}: " if shard else ""
        if (shard or known) and not self._request.remarks.quiet:
            results = f"{total} result{'' if total == 1 else 's'}"
            say(f"epic: {part}{results} in {printable(path)}, {known} of them known before\n")


def _kept(answer: Judged) -> Judged | None:
    """What is about the recording, whatever happens to be wrong with files and machines."""
    return answer._replace(said="", closing="") if answer.verdict is not None else None


def _reason(failure: Failure) -> str:
    if failure.died:
        return "the process that worked on it died (too little memory, or a crash)"
    return f"{type(failure.error).__name__}: {failure.error}"
