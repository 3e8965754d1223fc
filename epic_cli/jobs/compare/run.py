"""Comparisons: over simulated networks, or over recordings by threads, processes or a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import (
    CompareSpec,
    Pool,
    Progress,
    Run,
    RunResult,
    compare,
    compare_one,
)
from epic_cli.metrics.inputs import RecordedRuns, SimulatedRuns, run_name
from epic_cli.recordings.opening import ReadingLog
from epic_cli.work.jobs import JobTally, Place, UnusableJob, run_recordings

if TYPE_CHECKING:
    from epic_cli.jobs.compare.spec import CompareJob
    from epic_cli.metrics.truth import Truth
    from epic_cli.recordings.opening import Logs

    #: Sees each run that this process has read.
    Look = Callable[[Run], object]


def run(
    job: CompareJob,
    log: Logs = ReadingLog,
    tally: JobTally | None = None,
    *,
    look: Look | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares the participants over all runs together; the same, whoever does the work.

    ``log`` makes the log of each recording, in whatever process. What is wrong with one of several
    recordings goes to the ``tally``, and it is left out. Raises what ``Pool.comparison`` does, and
    ``UNUSABLE``: of one recording for what is wrong with it, of several for what is wrong with the
    truth or the workers.
    """
    given, spec = job.runs, job.how
    if isinstance(given, SimulatedRuns):
        return compare(given, spec, progress)
    tally = JobTally() if tally is None else tally
    truths, refused = given.truths(log, spec.truth_offset)
    tally.refused |= refused
    given = given.settled()
    files = given.recordings
    pictured = files[0] if spec.selection is not None else None
    each = EachRecording(spec, given, log, pictured, _Local(truths, look=look))
    pool = Pool(spec)
    results = run_recordings(each, files, job.workers, tally, progress, spec.threads, (pictured,))
    with contextlib.closing(results):
        for recording, found in results:
            name = run_name(recording)
            if isinstance(found, UnusableJob):
                pool.skip(name, found)
            else:
                pool.add(name, found)
                tally.left_out += len(files) > 1 and not isinstance(found, Comparison)
    return pool.comparison()


class _Local(NamedTuple):
    """What only this process has: the truth as it has been read, and what looks on."""

    truths: Mapping[str, Truth] | None = None
    place: Place = Place()
    look: Look | None = None


@dataclass(frozen=True)
class EachRecording:
    """What is done with every recording; ``local`` is None in other processes.

    The layout of the reading has the truth's beginning where there is a truth. Scenes are kept of
    the recording that is ``pictured``.
    """

    kind: ClassVar[str] = "compare"

    spec: CompareSpec
    given: RecordedRuns
    log: Logs
    pictured: Any = None
    local: _Local | None = None

    def placed(self, place: Place | None) -> EachRecording:
        """The same for a place in this process; None: for other processes."""
        local = self.local or _Local()
        return replace(self, local=None if place is None else local._replace(place=place))

    def run(self, recording: Any, log: ReadingLog) -> RunResult:
        """Reads and compares a recording; raises ``UNUSABLE``."""
        spec, given = self.spec, self.given
        known = given.known_truths(spec.truth_offset) if self.local is None else None
        local = self.local or _Local(known, Place(spec.threads or 1))
        run = given.run(recording, log, local.truths, self.log)
        if run.drawn is not None:
            spec = replace(spec, participants=[*spec.participants[:-1], run.drawn])
        if local.look is not None:
            local.look(run)
        if recording != self.pictured:
            spec = replace(spec, selection=None)
        found = compare_one(run, spec, local.place)
        if isinstance(found, Comparison) and log.unplaced(found.refused):
            found = replace(found, refused=())
        return found

    def identity(self) -> dict[str, Any]:
        """What a result depends on beside the recording."""
        from epic_cli.work.code import strategy_identity
        from epic_cli.work.journal import digest_file

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
            "truth": digest_file(truth) if truth else None,
        }
