"""Tests that a journal's results are known after any end of the program, and nothing else is."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import epic_cli
from epic_cli.work.journal import (
    OtherVersion,
    ResultJournal,
    UnusableJournal,
    compute_key,
    digest_file,
)

#: Answers without end, each said when it is known.
ENDLESS = """
import sys
from epic_cli.work.journal import ResultJournal, compute_key
journal, number = ResultJournal(sys.argv[1], "compare"), 0
while True:
    journal.add(compute_key(number=number), ["x" * 5000, number])
    print(number, flush=True)
    number += 1
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "results.jsonl")


def filled(path: str, count: int) -> bytes:
    with ResultJournal(path, "compare") as journal:
        for number in range(count):
            journal.add(compute_key(number=number), {"figure": number / 3})
    return Path(path).read_bytes()


def test_what_was_answered_is_found_again(path: str) -> None:
    answers = [{"score": 71.5, "lags": [0.1, math.inf]}, "äöü\ud800", [], 0, False]
    with ResultJournal(path, "compare") as journal:
        for number, answer in enumerate(answers):
            assert journal.find(compute_key(number=number)) is None
            journal.add(compute_key(number=number), answer)
            assert journal.find(compute_key(number=number)) == answer
    with ResultJournal(path, "compare") as journal:
        assert [journal.find(compute_key(number=number)) for number in range(5)] == answers
        assert (len(journal), journal.cut) == (5, 0)
        journal.add(compute_key(number=2), "another")
        assert journal.find(compute_key(number=2)) == "another"


def test_every_prefix_of_a_journal_is_one(path: str) -> None:
    whole = filled(path, 2)
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in {*range(0, len(whole), 9), *ends, *(end - 1 for end in ends)}:
        Path(path).write_bytes(whole[:size])
        with ResultJournal(path, "compare") as journal:
            known = sum(end <= size for end in ends[1:])
            assert len(journal) == known
            assert journal.find(compute_key(number=0)) == ({"figure": 0.0} if known else None)


def test_many_damaged_lines_are_counted_and_few_named(path: str) -> None:
    Path(path).write_bytes(filled(path, 200).replace(b'"sum":"', b'"sum":"0'))
    with pytest.raises(UnusableJournal):  # no line of it, nor the header
        ResultJournal(path, "compare")
    Path(path).write_bytes(filled(f"{path}2", 1) + b"{}\n" * 2000)
    with ResultJournal(path, "compare") as journal:
        assert journal.damage == (path, 2000, (3, 4, 5, 6, 7))
        assert len(str(journal.damage[0])) < len(path) + 100


def damage(lines: list[bytes], chance: random.Random) -> bytes:
    """Return a journal's lines with a bit turned, a line cut, lost or doubled, or all mixed."""
    place = chance.randrange(len(lines))
    kind = chance.choice(("turned", "cut", "lost", "doubled", "mixed"))
    if kind == "turned":
        data = bytearray(lines[place])
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        lines[place] = bytes(data)
    elif kind == "cut":
        lines[place] = lines[place][: chance.randrange(len(lines[place]))]
    elif kind == "mixed":
        chance.shuffle(lines)
    else:
        lines[place : place + 1] = [lines[place]] * (2 * (kind == "doubled"))
    return b"".join(lines)


def test_no_mishap_changes_an_answer(path: str) -> None:
    whole, chance, known = filled(path, 12), random.Random(5), 0
    right = {compute_key(number=number): {"figure": number / 3} for number in range(12)}
    for _ in range(100):
        Path(path).write_bytes(damage(whole.splitlines(keepends=True), chance))
        with ResultJournal(path, "compare") as journal:
            for name, answer in right.items():
                found = journal.find(name)
                assert found in (None, answer)
                known += found is not None
                journal.add(name, answer)
        with ResultJournal(path, "compare") as journal:  # nothing that was added is lost
            assert [journal.find(name) for name in right] == list(right.values())
    assert 0 < known < 100 * len(right)


def test_it_is_all_there_after_kill_9(path: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(30)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout if line.endswith("\n")]
    with ResultJournal(path, "compare") as journal:
        assert all(journal.find(compute_key(number=number)) for number in said)
        assert len(journal) in (len(said), len(said) + 1)


def test_one_of_another_version_is_refused_and_left_alone(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("epic_cli.work.journal.get_program_version", lambda: "0.0.7")
        old = filled(path, 1)
    with pytest.raises(OtherVersion, match=r"epic 0\.0\.7.*epic " + epic_cli.__version__):
        ResultJournal(path, "compare")
    assert Path(path).read_bytes() == old


@pytest.mark.parametrize(
    "content",
    [
        b"time,x,y,z\n1,2,3,4\n",
        b"no line's end",
        b'{"epic": 3, "journal": "compare"}\n',
        b"[1]\n",
        b"\0" * 5000,
        json.dumps({"epic": epic_cli.__version__, "journal": "tune"}).encode() + b"\n",
    ],
)
def test_what_is_no_such_journal_is_refused_and_left_alone(path: str, content: bytes) -> None:
    Path(path).write_bytes(content)
    with pytest.raises(UnusableJournal):
        ResultJournal(path, "compare")
    assert Path(path).read_bytes() == content


def test_pipes_and_folders_are_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(UnusableJournal, match="not a file"):
            ResultJournal(str(tmp_path / name), "compare")
    with pytest.raises(FileNotFoundError):
        ResultJournal(str(tmp_path / "no" / "such"), "compare")


def test_one_program_writes_it_at_a_time(path: str) -> None:
    with ResultJournal(path, "compare"), pytest.raises(UnusableJournal, match="another epic"):
        ResultJournal(path, "compare")


def test_keys_are_of_values_alone(tmp_path: Path) -> None:
    assert compute_key(a=1, b=[0.1, None]) == compute_key(b=[0.1, None], a=1)
    asked: list[dict[str, object]] = [
        {"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"b": 1}, {"a": [1]}, {"a": math.nan}, {},
    ]  # fmt: skip
    assert len({compute_key(**record) for record in asked}) == len(asked)
    # the same in every version that reads these journals
    assert compute_key(a=1).startswith(
        "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    )
    (tmp_path / "file").write_bytes(b"abc")
    assert digest_file(str(tmp_path / "file")).startswith("ba7816bf8f01cfea")


def test_a_disk_may_take_a_few_bytes_at_a_time(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = filled(f"{path}.whole", 3)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data[:7])))
    assert filled(path, 3) == whole
