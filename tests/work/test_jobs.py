from __future__ import annotations

from typing import Any

import pytest

from epic_cli.recordings.opening import ReadingLog
from epic_cli.work.jobs import HERE, JobSpec, JobTally, Place, run_recordings


class Failing:
    """A job with a bug."""

    kind, log = "fail", ReadingLog

    def run(self, recording: Any, log: ReadingLog) -> None:
        del log
        raise ZeroDivisionError(recording)

    def identify_inputs(self) -> dict[str, Any]:
        return {}

    def adapt_to_place(self, place: Place | None) -> JobSpec[None]:
        del place
        return self


@pytest.mark.parametrize("recordings", [["a"], ["a", "b"]])
def test_a_bug_in_this_process_is_no_unusable_recording(recordings: list[str]) -> None:
    with pytest.raises(ZeroDivisionError, match="a"):
        list(run_recordings(Failing(), recordings, HERE, JobTally(), threads=1))
