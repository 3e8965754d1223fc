"""Messages help: the caret is under the mistake, and their advice works."""

from itertools import product

import pytest
from support.running import epic
from wcwidth import wcswidth

from epic_cli.recordings.wording import Problem
from epic_cli.shell.errors import escape_controls
from epic_cli.shell.refused_lines import write_three_lines


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


@pytest.mark.parametrize("signs", ["a", "é", "界", "🙂", "\x1b", "a界,", "界\x1b🙂a"])
@pytest.mark.parametrize("columns", [40, 80, None])
def test_a_refused_line_fits_the_screen_and_the_caret_is_below_its_character(
    signs: str, columns: int | None
) -> None:
    for count, part in product((1, 5, 10, 18, 21, 30, 36, 45), (0.0, 0.5, 0.9)):
        text = (signs * count)[:90]
        before = text[: int(part * len(text))]
        problem = Problem(1, 1, text.encode(), len(before.encode()), "x is wrong", "y")
        _, line, under, *_ = write_three_lines(problem, "file", columns=columns).splitlines()
        assert wcswidth(line) <= (columns or 80)
        rest = escape_controls(text[len(before) :].encode())
        if wcswidth(rest) <= 36 * (columns or 80) // 80:  # is shown whole
            assert line.endswith(rest)
            assert wcswidth(line) - wcswidth(rest) == under.index("^")
