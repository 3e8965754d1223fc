"""The recordings of ``epic compare``, judged by threads here, by processes or by a cluster."""

from __future__ import annotations

import contextlib
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.analysis.compare import Comparison
from epic_cli.analysis.jobs.executors import Threads
from epic_cli.analysis.study import StudyBuilder
from epic_cli.formats.layout import begun_together
from epic_cli.ui.commands.archive import Tally, Unusable, capture_job, work_through
from epic_cli.ui.commands.compare_diagnosis import section_on
from epic_cli.ui.commands.compare_jobs import (
    Job,
    Judged,
    Request,
    judge,
    judge_here,
    key_maker,
    recording_of,
    settled,
)
from epic_cli.ui.commands.compare_runs import given_truths
from epic_cli.ui.commands.recordings import recordings_of
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import source_name
from epic_cli.views.page.sections import MOST, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from epic_cli.analysis.compare import Progress
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.study import Asked, Run
    from epic_cli.ui.io.profiles import Saving
    from epic_cli.ui.options.archive import Archive
    from epic_cli.ui.options.compare import Inputs
    from epic_cli.ui.options.drawn import DrawnFile


class Recordings:
    """All that are meant, in their order; what is wrong with one is said, and it is left out.

    With ``diagnoses``, what is wrong with those that are judged in this process is looked for.

    Raises ``WrongUsage`` and ``CannotAccess``: of one recording for what is wrong with it, of
    several for what is wrong with the options, the truth or the workers.
    """

    def __init__(
        self,
        inputs: Inputs,
        archive: Archive,
        asked: Asked,
        remarks: Messages,
        color: bool,
        *,
        drawing: DrawnFile,
        diagnoses: bool = False,
    ) -> None:
        self.names = recordings_of(inputs.recordings, inputs.truth)
        self._archive = archive
        if archive.options and "-" in (*self.names, inputs.truth):
            raise WrongUsage(f"{archive.options}: for files, not for standard input")
        drawing.check(self.names, archive.options)
        self._drawing = drawing
        self._diagnosed = self.names[:MOST] if diagnoses else []
        self._sections: dict[str, Section | None] = {}
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
        self._tally = Tally(archive.allowed_failures)
        self._tally.refused = refused
        self._reporter: Reporter | None = None

    def sections(self) -> list[Section]:
        """What is wrong with the first of them; those judged elsewhere are read here now.

        Nothing of those that can only be read there.
        """
        for file in self._diagnosed:
            if file != "-" and file not in self._sections:
                with contextlib.suppress(CannotAccess, WrongUsage):
                    self._look(recording_of(self._request, file))
        found = [self._sections.get(source_name(file)) for file in self._diagnosed]
        return [one for one in found if one is not None]

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self._tally.incomplete

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
        gathered = StudyBuilder()
        with contextlib.ExitStack() as ending:
            work: Callable[[Job], Judged]
            if archive.elsewhere:
                executor: Executor = ending.enter_context(archive.executor())
                work = partial(judge, request)
            else:
                here = ending.enter_context(Threads(threads, len(jobs)))
                executor, work = here, partial(self._judge_here, saving, here)
            found = work_through(
                work,
                jobs,
                executor,
                archive,
                "compare",
                partial(key_maker, request),
                request.remarks,
                self._tally,
                progress,
            )
            ending.callback(found.close)
            for job, one in found:
                name = source_name(job.file)
                if isinstance(one, Unusable):
                    gathered.skip(name, one)
                else:
                    gathered.add(name, one)
                    self._tally.left_out += not isinstance(one, Comparison)
        return gathered.conclusion(request.asked, seed) if archive.shard is None else None

    def _look(self, run: Run) -> None:
        """Says on the page what is wrong with a recording."""
        if run.name in map(source_name, self._diagnosed):
            self._sections[run.name] = section_on(run)

    def end(self) -> None:
        """Says how many lines were refused, however it ended."""
        self._tally.end()
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
            request,
            job,
            reporter,
            self._truths,
            threads,
            saving=saving,
            progress=progress,
            drawing=self._drawing,
            look=self._look,
        )
        self._tally.refused |= reporter.refused
        gathered = StudyBuilder()
        gathered.add(reporter.name, found)
        return gathered.conclusion(request.asked, seed)

    def _judge_here(self, saving: Saving | None, here: Threads, job: Job) -> Judged:
        request, truths = self._request, self._truths
        return capture_job(
            job.file,
            request.remarks,
            request.color,
            lambda reporter: judge_here(
                request,
                job,
                reporter,
                truths,
                here.inner,
                saving=saving,
                stop=here.stop,
                look=self._look,
            ),
        )
