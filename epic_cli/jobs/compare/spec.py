"""What is compared: which runs, how, and by whose work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from epic_cli.engine.parameters import SettingError
from epic_cli.metrics.evaluation import CompareSpec
from epic_cli.metrics.inputs import RecordedRuns, RunInputs
from epic_cli.work.jobs import HERE, Workers


@dataclass(frozen=True)
class CompareJob:
    """A whole comparison: the ``runs``, how they are compared, and who does the work.

    ``how`` gets the number of the runs, and what they are called. Raises ``SettingError`` for what
    does not go together.
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
                raise SettingError(f"{self.workers}: for recordings, not for simulated networks")
            how = replace(self.how, total=len(self.runs.seeds), runs_are="networks")
        object.__setattr__(self, "how", how)
