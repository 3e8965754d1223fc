"""Compare over simulated networks, or over recordings by threads, processes or a cluster."""

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
from epic_cli.metrics.inputs import RecordedRuns, SimulatedRuns, get_run_name
from epic_cli.recordings.opening import ReadingLog
from epic_cli.work.jobs import JobTally, Place, UnusableJob, run_recordings

if TYPE_CHECKING:
    from epic_cli.jobs.compare.spec import CompareJob
    from epic_cli.metrics.truth import Truth
    from epic_cli.recordings.opening import Logs

    #: A callback for each run that this process has read.
    Look = Callable[[Run], object]


def run(
    job: CompareJob,
    log: Logs = ReadingLog,
    tally: JobTally | None = None,
    *,
    look: Look | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the participants over all runs together.

    The workers make no difference to the result. ``log`` makes the log of each recording, in any
    process. An unusable recording of several goes to the ``tally`` and is left out. Raise what
    ``Pool.combine_comparisons`` raises, and ``UNUSABLE``: for a single recording that is unusable,
    or for an unusable truth or worker.
    """
    given, spec = job.runs, job.how
    if isinstance(given, SimulatedRuns):
        return compare(given, spec, progress)
    tally = JobTally() if tally is None else tally
    truths, refused = given.read_truths(log, spec.truth_offset)
    tally.refused |= refused
    given = given.settle_origin()
    files = given.recordings
    pictured = files[0] if spec.selection is not None else None
    each = EachRecording(spec, given, log, pictured, _LocalValues(truths, look=look))
    pool = Pool(spec)
    results = run_recordings(each, files, job.workers, tally, progress, spec.threads, (pictured,))
    with contextlib.closing(results):
        for recording, found in results:
            name = get_run_name(recording)
            if isinstance(found, UnusableJob):
                pool.skip(name, found)
            else:
                pool.add(name, found)
                tally.left_out += len(files) > 1 and not isinstance(found, Comparison)
    return pool.combine_comparisons()


class _LocalValues(NamedTuple):
    """Values that only this process has: the truths already read, and the callback ``look``."""

    truths: Mapping[str, Truth] | None = None
    place: Place = Place()
    look: Look | None = None


@dataclass(frozen=True)
class EachRecording:
    """The work of a comparison on one recording, for any worker.

    ``local`` is None in other processes. The layout in ``given`` has the truth's time origin, if
    there is a truth. Scenes are kept only for the ``pictured`` recording.
    """

    kind: ClassVar[str] = "compare"

    spec: CompareSpec
    given: RecordedRuns
    log: Logs
    pictured: Any = None
    local: _LocalValues | None = None

    def adapt_to_place(self, place: Place | None) -> EachRecording:
        """Return the work for this process's worker at ``place``, or for another process (None)."""
        local = self.local or _LocalValues()
        return replace(self, local=None if place is None else local._replace(place=place))

    def run(self, recording: Any, log: ReadingLog) -> RunResult:
        """Read and compare a recording; raise ``UNUSABLE``."""
        spec, given = self.spec, self.given
        known = given.reread_truths(spec.truth_offset) if self.local is None else None
        local = self.local or _LocalValues(known, Place(spec.threads or 1))
        run = given.run(recording, log, local.truths, self.log)
        if run.drawn is not None:
            spec = replace(spec, participants=[*spec.participants[:-1], run.drawn])
        if local.look is not None:
            local.look(run)
        if recording != self.pictured:
            spec = replace(spec, selection=None)
        found = compare_one(run, spec, local.place)
        if isinstance(found, Comparison) and log.report_unplaced(found.refused):
            found = replace(found, refused=())
        return found

    def identify_inputs(self) -> dict[str, Any]:
        """Return the inputs that determine a result, other than the recording."""
        from epic_cli.work.code import identify_strategy
        from epic_cli.work.journal import digest_file

        spec, truth = self.spec, self.given.truth
        return {
            "candidates": list(map(identify_strategy, spec.participants)),
            "timing": list(map(str, spec.timing)),
            "weights": list(spec.weights),
            "aim_range": spec.aim_range,
            "offset": spec.truth_offset,
            "warm_up": spec.warm_up,
            "share": spec.share,
            **self.given.reading.identify_inputs(),
            "truth": digest_file(truth) if truth else None,
        }
