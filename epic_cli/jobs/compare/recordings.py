"""The recordings of ``epic compare``, by threads here, by processes or by a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, Pool, Run, RunResult, compare_one
from epic_cli.metrics.truth import Truth, truths_of
from epic_cli.recordings.columns import STATE
from epic_cli.recordings.layout import Beginning, Layout
from epic_cli.shell.errors import CannotAccess, WrongUsage
from epic_cli.shell.jobs import JobTally, UnusableJob, run_recordings, strategy_identity
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.recordings import Reading, given_truths, recordings_of
from epic_cli.shell.sources import blocks, load, source_name
from epic_cli.show.page.page import MOST, Section
from epic_cli.work.executors import Threads

if TYPE_CHECKING:
    import threading

    from epic_cli.metrics.evaluation import Progress
    from epic_cli.shell.options.drawn import DrawnFile
    from epic_cli.shell.options.jobs import JobOptions
    from epic_cli.shell.options.runs import Inputs
    from epic_cli.shell.profiles import Saving


class Here(NamedTuple):
    """What only this process has: the truth as it has been read, threads, and what looks on.

    With a ``drawing``, the last participant is what the game drew. ``look`` is shown each run.
    """

    truths: Mapping[str, Truth] | None = None
    threads: int | None = None
    stop: threading.Event | None = None
    saving: Saving | None = None
    progress: Progress | None = None
    drawing: DrawnFile | None = None
    look: Callable[[Run], object] | None = None


@dataclass(frozen=True)
class CompareJobs:
    """What is done with every recording; ``here`` is None in other processes.

    The layout of ``reading`` has the truth's beginning where there is a ``truth`` (a file). Scenes
    are kept of the recording that is ``pictured``.
    """

    kind: ClassVar[str] = "compare"

    spec: CompareSpec
    reading: Reading
    truth: str | None = None
    messages: Messages = Messages()  # noqa: RUF009 - a value
    color: bool = False
    pictured: str | None = None
    here: Here | None = None

    def run(self, recording: str, reporter: Reporter) -> RunResult:
        """Reads and compares a recording; raises ``CannotAccess`` and ``WrongUsage``."""
        here = self.here or Here(self._truths(), self.spec.threads or 1)
        spec, reading = self.spec, self.reading.of_one()
        run = reading.run(recording, reporter, here.truths)
        reporter.save(here.saving, self.reading.layout)
        if here.drawing is not None and here.drawing.drawn is not None:
            run, drawn = here.drawing.beside(run, reading.layout, self.messages)
            spec = replace(spec, participants=[*spec.participants[:-1], drawn])
        if here.look is not None:
            here.look(run)
        if recording != self.pictured:
            spec = replace(spec, selection=None)
        found = compare_one(run, spec, threads=here.threads, progress=here.progress, stop=here.stop)
        if isinstance(found, Comparison):
            reporter.refuse(found.refused)
            found = replace(found, refused=())
        return found

    def identity(self) -> dict[str, Any]:
        """What a result depends on beside the recording."""
        from epic_cli.work.journal import digest_of

        spec = self.spec
        return {
            "candidates": list(map(strategy_identity, spec.participants)),
            "timing": list(map(str, spec.timing)),
            "weights": list(spec.weights),
            "offset": spec.truth_offset,
            "warm_up": spec.warm_up,
            "share": spec.share,
            **self.reading.identity(),
            "truth": digest_of(self.truth) if self.truth else None,
        }

    def _truths(self) -> Mapping[str, Truth] | None:
        layout = self.reading.layout
        if self.truth is None or layout is None:
            return None
        begin = layout.beginning.time if layout.beginning else None
        return _read_truths(
            self.truth, layout._replace(beginning=None), begin, self.spec.truth_offset
        )


class Recordings:
    """All that are meant, in their order; what is wrong with one is said, and it is left out.

    With ``diagnoses``, what is wrong with those that are compared in this process is looked for.

    Raises ``WrongUsage`` and ``CannotAccess``: of one recording for what is wrong with it, of
    several for what is wrong with the options, the truth or the workers.
    """

    def __init__(
        self,
        inputs: Inputs,
        jobs: JobOptions,
        spec: CompareSpec,
        messages: Messages,
        color: bool,
        *,
        drawing: DrawnFile,
        saving: Saving | None = None,
        diagnoses: bool = False,
    ) -> None:
        self.names = recordings_of(inputs.recordings, inputs.truth)
        if jobs.options and "-" in (*self.names, inputs.truth):
            raise WrongUsage(f"{jobs.options}: for files, not for standard input")
        if jobs.options and saving is not None:
            raise WrongUsage(f"--save-profile looks at a recording here: without {jobs.options}")
        drawing.check(self.names, jobs.options)
        self._jobs = jobs
        self._diagnosed = self.names[:MOST] if diagnoses else []
        self._sections: dict[str, Section | None] = {}
        reading = Reading.of(inputs)
        truths, refused = given_truths(inputs, reading.layout, messages, color)
        if inputs.truth and reading.layout is not None:
            layout = with_common_beginning(reading.layout, self.names, inputs.input_format)
            reading = reading._replace(layout=layout)
        spec = replace(spec, total=len(self.names))
        self._spec = CompareJobs(spec, reading, inputs.truth, messages, color)
        self._here = Here(truths, spec.threads, saving=saving, drawing=drawing, look=self._diagnose)
        self._tally = JobTally(jobs.allowed_failures, refused)
        self._reporter: Reporter | None = None

    @property
    def incomplete(self) -> bool:
        """Whether lines of one were refused, or more were left out than may be."""
        return self._tally.incomplete

    def compared(self, progress: Progress) -> Comparison | None:
        """Compares them; None: this is a shard's part, and the results are in its journal.

        Raises what ``pool.compare`` does.
        """
        jobs, here = self._jobs, self._here
        part = jobs.part(self.names)
        pictured = part[0] if part and self._spec.spec.selection is not None else None
        spec = replace(self._spec, pictured=pictured)
        pool = Pool(spec.spec)
        if len(self.names) == 1 and not jobs.options:
            self._reporter = Reporter(source_name(part[0]), spec.messages, spec.color)
            spec = replace(spec, here=here._replace(progress=progress))
            pool.add(self._reporter.name, spec.run(part[0], self._reporter))
            self._tally.refused |= self._reporter.refused
            return pool.comparison()
        with contextlib.ExitStack() as ending:
            executor: Executor
            if jobs.remote:
                executor = ending.enter_context(jobs.executor())
            else:
                executor = threads = ending.enter_context(Threads(here.threads, len(part)))
                here = here._replace(threads=threads.inner, stop=threads.stop)
                spec = replace(spec, here=here)
            found = run_recordings(
                spec, part, executor, jobs, self._tally, progress, unkept=(pictured,)
            )
            ending.callback(found.close)
            for recording, one in found:
                name = source_name(recording)
                if isinstance(one, UnusableJob):
                    pool.skip(name, one)
                else:
                    pool.add(name, one)
                    self._tally.left_out += not isinstance(one, Comparison)
        return pool.comparison() if jobs.shard is None else None

    def sections(self) -> list[Section]:
        """What is wrong with the first of them; those compared elsewhere are read here now.

        Nothing of those that can only be read there.
        """
        for file in self._diagnosed:
            if file != "-" and file not in self._sections:
                silent = Reporter(source_name(file), Messages(quiet=True))
                with contextlib.suppress(CannotAccess, WrongUsage):
                    self._diagnose(self._spec.reading.of_one().run(file, silent))
        found = [self._sections.get(source_name(file)) for file in self._diagnosed]
        return [one for one in found if one is not None]

    def end(self) -> None:
        """Says how many lines were refused, however it ended."""
        self._tally.end()
        if self._reporter is not None:
            self._reporter.__exit__()

    def _diagnose(self, run: Run) -> None:
        """Says on the page what is wrong with a recording; nothing of one with few packets."""
        if run.name not in map(source_name, self._diagnosed):
            return
        from epic_cli.jobs.diagnose import run as diagnosing
        from epic_cli.jobs.diagnose.report import report
        from epic_cli.jobs.diagnose.spec import DiagnoseSpec
        from epic_cli.metrics.traffic import TooFewPackets

        section = None
        with contextlib.suppress(TooFewPackets):
            found = diagnosing.run(DiagnoseSpec(run.packets))
            section = Section(run.name, report(run.name, found))
        self._sections[run.name] = section


@lru_cache(maxsize=1)
def _read_truths(
    file: str, layout: Layout, begin: float | None, offset: float
) -> Mapping[str, Truth]:
    """The truth, read once in each process; the main one has reported what is odd about it."""
    silent = Reporter(source_name(file), Messages(quiet=True))
    layout = layout.beside(STATE)._replace(beginning=Beginning(begin))
    return truths_of(load(file, "auto", silent, layout), "given", offset)[0]


def with_common_beginning(layout: Layout, recordings: Sequence[str], input_format: str) -> Layout:
    """The layout with the moment at which all recordings begin, as if they were read in order."""
    beginning = layout.beginning or Beginning()
    for name in recordings:
        if beginning.time is not None or name == "-":
            break
        silent = Reporter(source_name(name), Messages(quiet=True))
        try:
            next(blocks(name, input_format, layout, silent), None)
        except (CannotAccess, WrongUsage):
            continue
    return layout._replace(beginning=Beginning(beginning.time))
