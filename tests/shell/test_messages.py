"""What is told helps: the caret is under the culprit, and advice that is followed works."""

from pathlib import Path

import pytest
from support.running import PACKET, environment, epic


def told(recording: bytes, *options: str) -> list[str]:
    """The lines on stderr; there must be a refused line."""
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


MODULE = """
class Empty: "Not a strategy."

class Needy:
    def __init__(self, need): ...
    def reset(self): ...
    def update(self, packet, now): return True
    def read(self, at): ...
"""


@pytest.mark.parametrize(
    "strategy",
    [
        ":",
        ":Name",
        "mine:",
        "mine:None",
        "mine:Empty",
        "mine:Needy",
        "broken:Name",
        ".a:Name",
        "json:",
    ],
)
def test_strategy_that_is_none(tmp_path: Path, strategy: str) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("def (:\n")
    env = environment(PYTHONPATH=str(tmp_path))
    done = epic("replay", "--strategy", strategy, stdin=PACKET, env=env)
    assert b"Traceback" not in done.stderr
    failed = strategy == "broken:Name"  # its own code did
    assert (done.returncode, done.stdout) == (4 if failed else 2, b"")
    assert ("broken.py, line 1" if failed else strategy) in done.stderr.decode()
