"""Tests of commands over many recordings: any workers, and any interruption, same result."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.datagrams import free_port
from support.running import EPIC, environment, epic

#: Without -W error: what a cluster's own library warns of is not ours.
PLAIN = (sys.executable, "-m", "epic_cli")

TWO = ("-s", "dumb-terminal,lerp", "--tick", "50ms")

#: A strategy that takes its whole process along when the entity is far away.
POISON = """
import os, signal
from epic_cli import Sample

class Poison:
    def reset(self):
        self.at = (0.0, 0.0, 0.0)

    def update(self, packet, now):
        self.at = tuple(packet.position)
        if self.at[0] > 1000:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def read(self, at):
        return Sample(at, self.at, (0.0, 0.0, 0.0), "held")
"""

#: A strategy with which a recording takes longer, as long as there is a file.
SLOW = """
import time
from pathlib import Path
from epic_cli import Sample

class Slow:
    def reset(self):
        self.at = (0.0, 0.0, 0.0)
        time.sleep(0.3 if Path("slow").exists() else 0)

    def update(self, packet, now):
        self.at = tuple(packet.position)
        return True

    def read(self, at):
        return Sample(at, self.at, (0.0, 0.0, 0.0), "held")
"""


def recording(shift: float = 0.0, seconds: float = 4.0) -> str:
    times = [number / 20 for number in range(int(20 * seconds))]
    return "".join(
        f"{shift + time * time:.4f},{5 * time:.4f},0 / {2 * time:.4f},5,0 / {time:.3f}"
        f" arrival={time + 0.05 + 0.013 * (number * 7 % 5):.4f}\n"
        for number, time in enumerate(times)
    )


@pytest.fixture(autouse=True)
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with seven recordings and one that has lines to be refused."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "a"
    folder.mkdir()
    for number in range(7):
        (folder / f"r{number}.txt").write_text(recording(seconds=3 + number / 4))
    (folder / "s.txt").write_text(recording() + "what?\n" * 9)
    return folder


def slow_down() -> None:
    """Add two dozen recordings, all slowed down by the strategy ``slow.py:Slow``."""
    Path("slow.py").write_text(SLOW)
    Path("slow").touch()
    for number in range(24):
        Path(f"a/t{number:02}.txt").write_text(recording(seconds=5 + number / 20))


def run(*args: str, program: tuple[str, ...] = EPIC) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*program, *args], env=environment(), capture_output=True, check=False, timeout=600
    )


def test_processes_and_a_journal_give_what_threads_give_to_the_byte() -> None:
    here = epic("compare", *TWO, "a")
    assert here.returncode == 1
    assert b"9 lines refused" in here.stderr
    other = run("compare", *TWO, "a", "--workers", "2", "--journal", "j")
    assert (other.returncode, other.stdout, other.stderr) == (1, here.stdout, here.stderr)
    size = Path("j").stat().st_size
    again = epic("compare", *TWO, "a", "--journal", "j", "--threads", "1")
    assert (again.returncode, again.stdout) == (1, here.stdout)
    assert again.stderr == b"epic: 8 results in j, 8 of them known before\n"
    assert Path("j").stat().st_size == size


@pytest.mark.parametrize("command", ["compare", "diagnose"])
def test_code_that_a_strategy_imports_changes_the_answer(command: str) -> None:
    Path("helper_of_slow.py").write_text("GAIN = 1\n")
    Path("slow.py").write_text(f"import helper_of_slow\n{SLOW}")
    words = (command, "-s", "./slow.py:Slow", "a/r0.txt", "--journal", "j")
    for known in (False, True):
        done = epic(*words)
        assert (b"known before" in done.stderr and b" 0 of" not in done.stderr) == known
    Path("helper_of_slow.py").write_text("GAIN = 2\n")
    assert b" of them known before" not in epic(*words).stderr
    Path("helper_of_slow.py").write_text("GAIN = eval('2')\n")
    done = epic(*words)
    assert done.returncode == 2
    assert b"helper_of_slow.py:1: " in done.stderr


def test_what_changes_the_answer_is_asked_again_and_names_do_not() -> None:
    epic("compare", *TWO, "a", "--journal", "j")
    Path("a").rename("b")
    for options, known in (
        ((), 8),
        (("--weights", "latency=2"), 0),
        (("--warm-up", "0.5"), 0),
        (("--seed", "3"), 8),
    ):
        done = epic("compare", *TWO, "b", "--journal", "j", *options)
        told = f"8 results in j, {known} of them known before\n".encode()
        assert (told in done.stderr) == bool(known), (options, done.stderr)


def test_tuning_is_the_same_by_processes_and_from_where_it_was_killed() -> None:
    tune = ("tune", "-s", "lerp,epic", "--trials", "20", "a/r6.txt", "--journal")
    whole = epic(*tune[:-1])
    assert whole.returncode == 0, whole.stderr

    def lines() -> list[bytes]:
        return Path("k").read_bytes().splitlines() if Path("k").exists() else []

    with subprocess.Popen([*EPIC, *tune, "k", "--workers", "1"], env=environment()) as program:
        while len(lines()) < 9 and program.poll() is None:
            time.sleep(0.005)
        program.kill()
    if len(lines()) > 100:  # it was faster: what it had when there were so many
        Path("k").write_bytes(b"".join(line + b"\n" for line in lines()[:30]) + lines()[30][:9])
    again = run(*tune, "k", "--workers", "2")
    assert (again.returncode, again.stdout) == (0, whole.stdout), again.stderr
    assert b" known before\n" in again.stderr
    tried = [json.loads(line)["key"] for line in lines()[1:]]
    assert len(tried) == len(set(tried))


def test_a_recording_that_kills_its_worker_is_told_and_the_others_are_judged() -> None:
    for name in ("r4", "r5", "r6", "s"):
        Path(f"a/{name}.txt").unlink()
    Path("a/r1.txt").write_text(recording(shift=2000))
    Path("poison.py").write_text(POISON)
    options = ("-s", "lerp,./poison.py:Poison", "--tick", "50ms", "--workers", "1")
    done = run("compare", *options, "a", "--journal", "j", "-q")
    assert done.returncode == 1
    text = " ".join(done.stdout.decode().split())
    assert "Left out: a/r1.txt: the process" in text
    assert Path("j").read_bytes().count(b"\n") == 1 + 3  # and it is asked again


def test_what_cannot_be_read_counts_as_a_failure() -> None:
    Path("a/s.txt").unlink()
    for command in (("compare", *TWO), ("diagnose",)):
        for allowed, status in (("0", 1), ("1", 0)):
            done = epic(*command, "a", "none.txt", "--allowed-failures", allowed)
            assert done.returncode == status, done.stderr
            assert b"cannot read none.txt" in done.stderr


def test_of_the_configuration_what_does_not_fit_is_passed_over() -> None:
    """Workers configured for archives are ignored for simulated networks and standard input."""
    path = Path("home/epic/config.toml")
    path.parent.mkdir(parents=True)
    asked = 'workers = 2\njournal = "j"\n'
    path.write_text(f"[compare]\n{asked}[diagnose]\n{asked}")
    home = environment(XDG_CONFIG_HOME=str(path.parents[1].absolute()))
    packets = recording().encode()
    for command, given in (
        (("compare", *TWO, "--movement", "circle,duration=3", "--seeds", "2"), b""),
        (("compare", *TWO), packets),
        (("compare", *TWO, "a/r1.txt", "--drawn", "a/r1.txt"), b""),
        (("diagnose",), packets),
        (("diagnose", "a/r1.txt", "--link-out", "link.csv"), b""),
    ):
        done = epic(*command, stdin=given, env=home)
        assert done.returncode == 0, done.stderr
        assert not Path("j").exists()
    other = epic("compare", *TWO, "a", "--cluster", "tcp://127.0.0.1:1", env=home)
    assert (other.returncode, b"does not answer" in other.stderr) == (3, True)


def is_gone(group: int) -> bool:
    """Return True if a group of processes has ended within two minutes."""
    for _ in range(12_000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_an_interruption_ends_it_with_its_processes_and_nothing_is_asked_twice() -> None:
    slow_down()
    command = ["compare", "-s", "lerp,./slow.py:Slow", "--tick", "50ms", "a", "--journal", "j"]
    with subprocess.Popen(
        [*PLAIN, *command, "--workers", "2"], env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    ) as program:  # fmt: skip
        while not Path("j").exists() or Path("j").read_bytes().count(b"\n") < 4:
            time.sleep(0.01)
        os.killpg(program.pid, signal.SIGINT)
        output = program.communicate(timeout=600)
    assert (program.returncode, *output) == (130, b"", b"")
    assert is_gone(program.pid)
    known = Path("j").read_bytes().count(b"\n") - 1
    Path("slow").unlink()
    done = epic(*command)
    assert f"32 results in j, {known} of them known before".encode() in done.stderr


@contextlib.contextmanager
def cluster(port: int, workers: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield a scheduler and ready workers on this machine, and stop them afterwards."""
    at = f"tcp://127.0.0.1:{port}"
    options = {
        "scheduler": ["--host", "127.0.0.1", "--port", str(port), "--no-show"],
        "worker": [at, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"],
    }
    with contextlib.ExitStack() as ending:
        started = []
        for name in ("scheduler", *["worker"] * workers):
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--no-dashboard"]
            log = subprocess.PIPE if name == "worker" else subprocess.DEVNULL
            process = ending.enter_context(
                subprocess.Popen(
                    [*command, *options[name]],
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    env=environment(),
                )
            )
            ending.callback(process.kill)
            started.append(process)
        for worker in started[1:]:
            assert worker.stderr is not None
            assert any(b"Registered to:" in line for line in worker.stderr)
        yield started


def test_a_comparison_outlives_a_worker_and_its_scheduler() -> None:
    pytest.importorskip("distributed")
    slow_down()
    port = free_port()
    command = ["compare", "-s", "lerp,./slow.py:Slow", "--tick", "50ms", "a"]
    there = ["--cluster", f"tcp://127.0.0.1:{port}", "--journal", "j", "-q"]

    def known() -> int:
        return Path("j").read_bytes().count(b"\n") - 1 if Path("j").exists() else 0

    tune = ("tune", "-s", "lerp", "--trials", "20", "a/t00.txt")
    with cluster(port, 2) as (scheduler, worker, _):
        tuned = run(*tune, "--cluster", f"tcp://127.0.0.1:{port}", program=PLAIN)
        assert (tuned.stdout, tuned.stderr) == (epic(*tune).stdout, b"")
        program = subprocess.Popen(
            [*PLAIN, *command, *there],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for victim, results in ((worker, 2), (scheduler, 6)):
            while known() < results and program.poll() is None:
                time.sleep(0.01)
            victim.kill()
    with program, cluster(port, 1):
        before = known()
        Path("slow").unlink()
        out, told = program.communicate(timeout=600)
    assert (program.returncode, told) == (1, b"")
    assert out == epic(*command, "-q").stdout
    assert 6 <= before < known()
