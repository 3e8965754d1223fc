"""Recordings compared: by threads here, by processes or by a cluster, continuing a journal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, Pool, Run, RunResult, compare_one
from epic_cli.metrics.truth import Truth, truths_of
from epic_cli.recordings.opening import UNUSABLE, ReadingLog, blocks, load, source_name
from epic_cli.recordings.read_spec import STATE, Beginning, ReadSpec
from epic_cli.shell.jobs import JobTally, Place, UnusableJob, results_of
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.recordings import RecordingSpec, given_truths
from epic_cli.show.page import MOST, Section

if TYPE_CHECKING:
    from epic_cli.metrics.evaluation import Progress
    from epic_cli.shell.jobs import JobOptions
    from epic_cli.shell.options.runs import DrawnFile
    from epic_cli.shell.profiles import Saving


@dataclass(frozen=True)
class RecordedRuns:
    """Recordings (files; ``-``: standard input), how they are read, and what they are judged by.

    The real movement is in the file ``truth``, None: it is rebuilt from the packets. With a
    ``drawing``, of a single recording, the last participant is what the game drew.
    """

    recordings: tuple[str, ...]
    reading: RecordingSpec = RecordingSpec()  # noqa: RUF009 - a value
    truth: str | None = None
    drawing: DrawnFile | None = None


class _Local(NamedTuple):
    """What only this process has: the truth as it has been read, and what looks on."""

    truths: Mapping[str, Truth] | None = None
    place: Place = Place()
    saving: Saving | None = None
    look: Callable[[Run], object] | None = None


@dataclass(frozen=True)
class EachRecording:
    """What is done with every recording; ``local`` is None in other processes.

    The layout of the reading has the truth's beginning where there is a truth. Scenes are kept of
    the recording that is ``pictured``.
    """

    kind: ClassVar[str] = "compare"

    spec: CompareSpec
    given: RecordedRuns
    messages: Messages = Messages()  # noqa: RUF009 - a value
    color: bool = False
    pictured: str | None = None
    local: _Local | None = None

    def placed(self, place: Place | None) -> EachRecording:
        """The same for a place in this process; None: for other processes."""
        local = self.local or _Local()
        return replace(self, local=None if place is None else local._replace(place=place))

    def run(self, recording: str, reporter: Reporter) -> RunResult:
        """Reads and compares a recording; raises ``CannotAccess`` and ``WrongUsage``."""
        local = self.local or _Local(self._truths(), Place(self.spec.threads or 1))
        spec, drawing = self.spec, self.given.drawing
        reading = self.given.reading.of_one()
        run = reading.run(recording, reporter, local.truths)
        reporter.save(local.saving, self.given.reading.spec)
        if drawing is not None and drawing.drawn is not None:
            run, drawn = drawing.beside(run, reading.spec, self.messages)
            spec = replace(spec, participants=[*spec.participants[:-1], drawn])
        if local.look is not None:
            local.look(run)
        if recording != self.pictured:
            spec = replace(spec, selection=None)
        threads, stop, progress = local.place
        found = compare_one(run, spec, threads=threads, progress=progress, stop=stop)
        if isinstance(found, Comparison):
            reporter.refuse(found.refused)
            found = replace(found, refused=())
        return found

    def identity(self) -> dict[str, Any]:
        """What a result depends on beside the recording."""
        from epic_cli.work.code import strategy_identity
        from epic_cli.work.journal import digest_of

        spec, truth = self.spec, self.given.truth
        return {
            "candidates": list(map(strategy_identity, spec.participants)),
            "timing": list(map(str, spec.timing)),
            "weights": list(spec.weights),
            "aim_range": spec.aim_range,
            "offset": spec.truth_offset,
            "warm_up": spec.warm_up,
            "share": spec.share,
            **self.given.reading.identity(),
            "truth": digest_of(truth) if truth else None,
        }

    def _truths(self) -> Mapping[str, Truth] | None:
        spec = self.given.reading.spec
        if self.given.truth is None:
            return None
        begin = spec.beginning.time if spec.beginning else None
        offset = self.spec.truth_offset
        return _read_truths(self.given.truth, spec._replace(beginning=None), begin, offset)


def compare_recordings(
    given: RecordedRuns,
    spec: CompareSpec,
    jobs: JobOptions,
    tally: JobTally,
    messages: Messages = Messages(),  # noqa: B008 - a value
    color: bool = False,
    *,
    saving: Saving | None = None,
    look: Callable[[Run], object] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares the participants over all recordings together; the same, whoever does the work.

    What is wrong with one of several recordings is said, and it is left out (``tally``). ``look``
    is shown each run that is read by this process. Raises what ``Pool.comparison`` does, and
    ``WrongUsage`` and ``CannotAccess``: of one recording for what is wrong with it, of several for
    what is wrong with the options, the truth or the workers.
    """
    files, reading = given.recordings, given.reading
    truths, refused = given_truths(given.truth, spec.truth_offset, reading.spec, messages, color)
    tally.refused |= refused
    if given.truth:
        shared = _with_common_beginning(reading.spec, files)
        given = replace(given, reading=reading._replace(spec=shared))
    spec = replace(spec, total=len(files))
    pictured = files[0] if spec.selection is not None else None
    local = _Local(truths, saving=saving, look=look)
    each = EachRecording(spec, given, messages, color, pictured, local)
    pool = Pool(spec)
    results = results_of(each, files, jobs, tally, progress, spec.threads, (pictured,))
    with contextlib.closing(results):
        for recording, found in results:
            name = source_name(recording)
            if isinstance(found, UnusableJob):
                pool.skip(name, found)
            else:
                pool.add(name, found)
                tally.left_out += len(files) > 1 and not isinstance(found, Comparison)
    return pool.comparison()


class Diagnoses:
    """What is wrong with the first ``recordings``, for the page; ``look`` is shown each run."""

    def __init__(self, recordings: Sequence[str], reading: RecordingSpec) -> None:
        self._files = recordings[:MOST]
        self._reading = reading
        self._sections: dict[str, Section | None] = {}

    def look(self, run: Run) -> None:
        """Diagnoses a recording; nothing is said of one with few packets."""
        if run.name not in map(source_name, self._files):
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

    def sections(self) -> list[Section]:
        """Those of all recordings; what was compared elsewhere is read here now.

        Nothing of those that can only be read there.
        """
        for file in self._files:
            if file != "-" and source_name(file) not in self._sections:
                silent = ReadingLog(source_name(file))
                with contextlib.suppress(*UNUSABLE):
                    self.look(self._reading.of_one().run(file, silent))
        found = [self._sections.get(source_name(file)) for file in self._files]
        return [section for section in found if section is not None]


@lru_cache(maxsize=1)
def _read_truths(
    file: str, spec: ReadSpec, begin: float | None, offset: float
) -> Mapping[str, Truth]:
    """The truth, read once in each process; the main one has reported what is odd about it."""
    silent = ReadingLog(source_name(file))
    spec = spec.beside(STATE)._replace(beginning=Beginning(begin))
    return truths_of(load(file, spec, silent), "given", offset)[0]


def _with_common_beginning(spec: ReadSpec, recordings: Sequence[str]) -> ReadSpec:
    """The same with the moment at which all recordings begin, as if they were read in order."""
    beginning = spec.beginning or Beginning()
    for name in recordings:
        if beginning.time is not None or name == "-":
            break
        silent = ReadingLog(source_name(name))
        try:
            next(blocks(name, spec, silent), None)
        except UNUSABLE:
            continue
    return spec._replace(beginning=Beginning(beginning.time))
