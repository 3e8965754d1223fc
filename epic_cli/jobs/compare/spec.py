"""A comparison as a job: the runs, the spec and the workers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from epic_cli.engine.parameters import SettingError
from epic_cli.metrics.evaluation import CompareSpec
from epic_cli.metrics.inputs import RecordedRuns, RunInputs
from epic_cli.work.jobs import HERE, Workers


@dataclass(frozen=True)
class CompareJob:
    """A whole comparison: the ``runs``, the comparison's spec ``how``, and the ``workers``.

    The number of runs, and their kind, are entered into ``how``. Raises ``SettingError`` for
    workers that cannot do it.
    """

    runs: RunInputs
    how: CompareSpec
    workers: Workers = HERE

    def __post_init__(self) -> None:
        if isinstance(self.runs, RecordedRuns):
            self.runs.check(self.workers)
            how = replace(self.how, total=len(self.runs.recordings), runs_are="recordings")
        else:
            if self.workers != HERE:
                raise SettingError(
                    f"{self.workers} shares recordings among workers: leave it out with --movement"
                )
            how = replace(self.how, total=len(self.runs.seeds), runs_are="networks")
        object.__setattr__(self, "how", how)
