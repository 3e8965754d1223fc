"""A pattern that backtracks without end is refused at its line, however it was given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.running import epic

from epic_cli import RefusedLine, read_packets
from epic_cli.recordings.entries.sentences import reader

#: Each with a beginning of a line on which it has no end.
ENDLESS = {
    r"(?P<time>\d) (?P<x>\d) (?P<y>(a|aa)+)$": "1 2 " + "a" * 90 + "!",
    r"(?P<time>(\d|\d\d)+) (?P<x>\d) (?P<y>\d)$": "1" * 90 + " 1 !",
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit to a tenth of a second, so that the tests are short."""
    monkeypatch.setattr(reader, "LIMIT", 0.1)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_line_on_which_it_has_no_end(tmp_path: Path, pattern: str) -> None:
    log = tmp_path / "game.log"
    log.write_text("hello\n" + f"{ENDLESS[pattern]}\n" * 1000)
    with pytest.raises(RefusedLine, match=r"takes more than 0\.1 s") as caught:
        list(read_packets(str(log), read=f'pattern="{pattern}"'))
    assert ":2:" in str(caught.value)


def test_from_a_case(tmp_path: Path) -> None:
    pattern, line = next(iter(ENDLESS.items()))
    (tmp_path / "game.log").write_text(f"{line}\n" * 50)
    read = json.dumps(f'pattern="{pattern}"')
    case = f"recording = 'game.log'\nstrict = true\nread = {read}\n"
    (tmp_path / "case.toml").write_text(case)
    (tmp_path / "expected.tsv").write_text("time\n")
    done = epic("check", str(tmp_path))
    assert done.returncode != 0
    assert b"the pattern takes more than" in b" ".join(done.stdout.split())


def test_a_proposal_is_looked_for_no_longer_than_that() -> None:
    """A line of many numbers and names is given up soon, without a pattern."""
    for line in ("x=1 " * 300, "pos (1,2,3) " * 80, "a=" * 500, "t=1 pos(" + "1," * 480):
        assert all("(?P<x>" in str(pair) for pair in reader.propose(line))
