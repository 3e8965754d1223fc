from __future__ import annotations

from typing import Any

import pytest

from epic_cli.recordings.opening import ReadingLog
from epic_cli.work.jobs import HERE, Job, JobSpec, JobTally, Place, run_job, run_recordings


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


class Telling(ReadingLog):
    """A log that says something as it is closed."""

    def __exit__(self, *error: object) -> None:
        self.write("closed\n")


class Said(Failing):
    """A job that says something."""

    log = Telling

    def run(self, recording: Any, log: ReadingLog) -> None:
        log.write(f"read {recording}\n")


def test_each_message_is_carried_back_once() -> None:
    found = run_job(Job(Said(), "a"))
    assert (found.said, found.closing) == ("read a\n", "closed\n")
