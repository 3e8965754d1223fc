"""Messages help: the caret is under the mistake, and their advice works."""

import pytest
from support.running import epic


def told(recording: bytes, *options: str) -> list[str]:
    """Return the lines on stderr, which must report a refused line."""
    done = epic("replay", *options, stdin=recording)
    assert done.returncode == 1
    return done.stderr.decode().splitlines()


@pytest.mark.parametrize("time", [b"1048575.9375", b"2e6", b"1e9", b"1e30", b"inf"])
def test_what_is_suggested_for_a_time_out_of_reach_helps(time: bytes) -> None:
    recording = b"1,2,3 / 4,5,6 / %s\n" % time
    said = told(recording)[-1]
    assert ("--clock exact" in said or "--tick" in said) == (time not in (b"1e30", b"inf"))
    to_nowhere = ("--output", "/dev/null")
    if "--clock exact" in said:
        fewer = ("--clock", "exact", "--tick", "10", *to_nowhere)
        assert epic("replay", *fewer, stdin=recording).returncode == 0
    if "--tick" in said:
        longer = ("--tick", "3600", *to_nowhere)
        assert epic("replay", *longer, stdin=recording).returncode == 0
