"""The recordings of ``epic compare``, by threads here, by processes or by a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.analysis.compare.pool import Pool, RunResult, compare_one
from epic_cli.analysis.compare.result import Comparison
from epic_cli.analysis.compare.spec import CompareSpec, Run
from epic_cli.analysis.jobs.executors import Threads
from epic_cli.analysis.truth import Truth, truths_of
from epic_cli.formats.layout import STATE, Beginning, Layout, begun_together
from epic_cli.ui.commands.archive import (
    JobResult,
    Tally,
    Unusable,
    capture_job,
    layout_key,
    what_it_is,
    work_through,
)
from epic_cli.ui.commands.recordings import given_truths, of_entity, recordings_of
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load, source_name
from epic_cli.views.page.sections import MOST, Section

if TYPE_CHECKING:
    from epic_cli.analysis.compare.run import Progress
    from epic_cli.ui.io.profiles import Saving
    from epic_cli.ui.options.archive import Archive
    from epic_cli.ui.options.compare import Inputs
    from epic_cli.ui.options.drawn import DrawnFile


class Reading(NamedTuple):
    """How recordings are read, here or in another process.

    ``layout`` has the truth's beginning where there is a ``truth`` (a file).
    """

    layout: Layout | None = None
    input_format: str = "auto"
    entity: str | None = None
    truth: str | None = None
    remarks: Messages = Messages()
    color: bool = False

    @property
    def own_layout(self) -> Layout | None:
        """That of a recording, which begins by itself unless it shares a truth."""
        return self.layout if self.truth else begun_together(self.layout)

    def run(self, file: str, reporter: Reporter, truths: Mapping[str, Truth] | None) -> Run:
        """A recording; raises ``CannotAccess`` and ``WrongUsage``."""
        packets = load(file, self.input_format, reporter, self.own_layout)
        return Run(reporter.name, of_entity(packets, self.entity, reporter.name), truths)

    def truths(self, offset: float) -> Mapping[str, Truth] | None:
        """The truth, in a process that has not read it yet."""
        if self.truth is None or self.layout is None:
            return None
        time = self.layout.beginning.time if self.layout.beginning else None
        return _truths(self.truth, self.layout._replace(beginning=None), time, offset)


class Job(NamedTuple):
    """A recording by its name; ``pictured``: what is drawn of it is kept for pictures."""

    file: str
    pictured: bool = False


class Recordings:
    """All that are meant, in their order; what is wrong with one is said, and it is left out.

    With ``diagnoses``, what is wrong with those that are compared in this process is looked for.

    Raises ``WrongUsage`` and ``CannotAccess``: of one recording for what is wrong with it, of
    several for what is wrong with the options, the truth or the workers.
    """

    def __init__(
        self,
        inputs: Inputs,
        archive: Archive,
        spec: CompareSpec,
        remarks: Messages,
        color: bool,
        *,
        drawing: DrawnFile,
        saving: Saving | None = None,
        diagnoses: bool = False,
    ) -> None:
        self.names = recordings_of(inputs.recordings, inputs.truth)
        if archive.options and "-" in (*self.names, inputs.truth):
            raise WrongUsage(f"{archive.options}: for files, not for standard input")
        if archive.options and saving is not None:
            raise WrongUsage(f"--save-profile looks at a recording here: without {archive.options}")
        drawing.check(self.names, archive.options)
        self._archive, self._drawing, self._saving = archive, drawing, saving
        self._diagnosed = self.names[:MOST] if diagnoses else []
        self._sections: dict[str, Section | None] = {}
        given = begun_together(inputs.given) if inputs.truth else inputs.given
        shared = given if inputs.truth else None
        self._truths, refused = given_truths(inputs, shared, remarks, color)
        if inputs.truth and given is not None:
            given = _begun(given, self.names, inputs.input_format)
        self._reading = Reading(
            given, inputs.input_format, inputs.entity, inputs.truth, remarks, color
        )
        self._spec = replace(spec, total=len(self.names))
        self._tally = Tally(archive.allowed_failures)
        self._tally.refused = refused
        self._reporter: Reporter | None = None

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self._tally.incomplete

    def compared(self, progress: Progress) -> Comparison | None:
        """Compares them; None: this is a shard's part, and the results are in its journal.

        Raises what ``pool.compare`` does.
        """
        archive, spec, reading = self._archive, self._spec, self._reading
        part = archive.part(self.names)
        jobs = [Job(name, pictured=not index) for index, name in enumerate(part)]
        pool = Pool(spec)
        if len(self.names) == 1 and not archive.options:
            self._reporter = Reporter(source_name(jobs[0].file), reading.remarks, reading.color)
            pool.add(self._reporter.name, self._here(jobs[0], self._reporter, progress=progress))
            self._tally.refused |= self._reporter.refused
            return pool.comparison()
        with contextlib.ExitStack() as ending:
            work: Callable[[Job], JobResult[RunResult]]
            if archive.elsewhere:
                executor: Executor = ending.enter_context(archive.executor())
                work = partial(compare_elsewhere, spec, reading)
            else:
                here = ending.enter_context(Threads(spec.threads, len(jobs)))
                executor, work = here, partial(self._captured, here)
            found = work_through(
                work,
                jobs,
                executor,
                archive,
                "compare",
                partial(key_maker, spec, reading),
                reading.remarks,
                self._tally,
                progress,
            )
            ending.callback(found.close)
            for job, one in found:
                name = source_name(job.file)
                if isinstance(one, Unusable):
                    pool.skip(name, one)
                else:
                    pool.add(name, one)
                    self._tally.left_out += not isinstance(one, Comparison)
        return pool.comparison() if archive.shard is None else None

    def sections(self) -> list[Section]:
        """What is wrong with the first of them; those compared elsewhere are read here now.

        Nothing of those that can only be read there.
        """
        for file in self._diagnosed:
            if file != "-" and file not in self._sections:
                silent = Reporter(source_name(file), Messages(quiet=True))
                with contextlib.suppress(CannotAccess, WrongUsage):
                    self._diagnose(self._reading.run(file, silent, None))
        found = [self._sections.get(source_name(file)) for file in self._diagnosed]
        return [one for one in found if one is not None]

    def end(self) -> None:
        """Says how many lines were refused, however it ended."""
        self._tally.end()
        if self._reporter is not None:
            self._reporter.__exit__()

    def _captured(self, here: Threads, job: Job) -> JobResult[RunResult]:
        def work(reporter: Reporter) -> RunResult:
            return self._here(job, reporter, threads=here.inner, stop=here.stop)

        return capture_job(job.file, self._reading.remarks, self._reading.color, work)

    def _here(self, job: Job, reporter: Reporter, **running: Any) -> RunResult:
        """A recording compared in this process; raises ``CannotAccess`` and ``WrongUsage``."""
        spec, reading = self._spec, self._reading
        run = reading.run(job.file, reporter, self._truths)
        reporter.save(self._saving, reading.layout)
        if self._drawing.drawn is not None:
            run, drawn = self._drawing.beside(run, reading.own_layout, reading.remarks)
            spec = replace(spec, participants=[*spec.participants[:-1], drawn])
        self._diagnose(run)
        return _compared(run, spec, job, reporter, **running)

    def _diagnose(self, run: Run) -> None:
        """Says on the page what is wrong with a recording; nothing of one with few packets."""
        if run.name not in map(source_name, self._diagnosed):
            return
        from epic_cli.analysis.diagnosis.diagnose import diagnose
        from epic_cli.analysis.diagnosis.traffic import traffic_of
        from epic_cli.views.diagnosis.report import report

        traffic = traffic_of(run.packets)
        self._sections[run.name] = (
            Section(run.name, report(run.name, diagnose(traffic))) if traffic.streams else None
        )


def compare_elsewhere(spec: CompareSpec, reading: Reading, job: Job) -> JobResult[RunResult]:
    """Reads and compares a recording, in a process that has nothing but its name."""

    def work(reporter: Reporter) -> RunResult:
        run = reading.run(job.file, reporter, reading.truths(spec.truth_offset))
        return _compared(run, spec, job, reporter, threads=spec.threads or 1)

    return capture_job(job.file, reading.remarks, reading.color, work)


def _compared(
    run: Run, spec: CompareSpec, job: Job, reporter: Reporter, **running: Any
) -> RunResult:
    if any(block.lacks_velocity() for block in run.packets.values()):
        reporter.estimated()
    found = compare_one(run, spec if job.pictured else replace(spec, selection=None), **running)
    if isinstance(found, Comparison):
        reporter.refuse(found.refused)
        found = replace(found, refused=())
    return found


@lru_cache(maxsize=1)
def _truths(
    file: str, given: Layout, beginning: float | None, offset: float
) -> Mapping[str, Truth]:
    """The truth, read once in each process; the one that asks has said what is odd about it."""
    silent = Reporter(source_name(file), Messages(quiet=True))
    given = given.beside(STATE)._replace(beginning=Beginning(beginning))
    return truths_of(load(file, "auto", silent, given), "given", offset)[0]


def key_maker(spec: CompareSpec, reading: Reading) -> Callable[[Any], str | None]:
    """What names a job's result in a journal: the recording's content, and what is wanted of it.

    None where the recording cannot be read, and where pictures are wanted.
    """
    from epic_cli.analysis.jobs.journal import digest_of, key

    layout = reading.layout
    shared = {
        "candidates": list(map(what_it_is, spec.participants)),
        "timing": list(map(str, spec.timing)),
        "weights": list(spec.weights),
        "offset": spec.truth_offset,
        "warm_up": spec.warm_up,
        "share": spec.share,
        "layout": layout_key(layout),
        "beginning": layout.beginning.time if layout and layout.beginning else None,
        "input_format": reading.input_format,
        "entity": reading.entity,
        "truth": digest_of(reading.truth) if reading.truth else None,
    }

    def key_of(job: Job) -> str | None:
        if job.pictured and spec.selection is not None:
            return None
        try:
            return key(recording=digest_of(job.file), **shared)
        except OSError:
            return None

    return key_of


def _begun(given: Layout, names: list[str], input_format: str) -> Layout:
    """The layout with the moment at which all recordings begin, as if they were read in order."""
    from epic_cli.ui.io.sources import blocks

    beginning = given.beginning or Beginning()
    for name in names:
        if beginning.time is not None or name == "-":
            break
        silent = Reporter(source_name(name), Messages(quiet=True))
        try:
            next(blocks(name, input_format, given, silent), None)
        except (CannotAccess, WrongUsage):
            continue
    return given._replace(beginning=Beginning(beginning.time))
