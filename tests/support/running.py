"""Helpers for tests of the command line: ``epic`` in its own process."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from support.forks import Forks, Order

#: ``epic`` as installed beside the tests' own Python, with warnings as errors there too.
EPIC = (sys.executable, "-W", "error", "-m", "epic_cli")


PACKET = b"1,2,3 / 4,5,6 / 0.1\n"

#: What the demo answers to ``PACKET``.
ROWS = b"""\
pos: -0.45,-0.75,-1.05  vel: 9.000,15.000,21.000  time: 0.050
pos: 0.00,0.00,0.00  vel: 9.000,15.000,21.000  time: 0.100
pos: 0.45,0.75,1.05  vel: 9.000,15.000,21.000  time: 0.150
pos: 0.90,1.50,2.10  vel: 9.000,15.000,21.000  time: 0.200
pos: 1.35,2.25,3.15  vel: 9.000,15.000,21.000  time: 0.250
"""

# A test sets what it needs of these; where the tests run must not matter.
_DROPPED = {"NO_COLOR", "FORCE_COLOR", "TERM", "LINES", "PYTHONUNBUFFERED", "PYTHONWARNINGS"}


# Where there is no configuration file and no history, and no other package adds a strategy.
_NOWHERE = {"XDG_CONFIG_HOME": os.devnull, "XDG_STATE_HOME": os.devnull, "EPIC_ENTRY_POINTS": "off"}


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of every run of ``epic``, with these changes."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _DROPPED and (not name.startswith("EPIC_") or name == "EPIC_ENGINE")
    }
    return {**kept, **_NOWHERE, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **changes}


def started(*args: str, python: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """Start ``epic`` in a process that goes on, with pipes to all its streams.

    ``python`` are more options of Python's own.
    """
    words, pipe = [*EPIC[:3], *python, *EPIC[3:], *args], subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())


@cache
def _forks(*loaded: str) -> Forks:
    return Forks(EPIC[1:3], environment(), *loaded)


def _at_start(environment: dict[str, str]) -> dict[str, str]:
    """Return the variables that Python, and the modules it loads, read only once."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(("PYTHON", "LC_", "LANG", "EPIC_ENGINE")) and name != "PYTHONSAFEPATH"
    }


def epic(
    *args: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run ``epic`` to its end, in a process of its own without a terminal.

    The process is one in which Python has started and ``epic`` is loaded, unless the environment
    asks for another start, or ``EPIC_TESTS=exhaustive`` for a start of every one; Windows has no
    fork.
    """
    usual = environment()
    env = usual if env is None else env
    anew = sys.platform == "win32" or os.environ.get("EPIC_TESTS") == "exhaustive"
    if not anew and _at_start(env) == _at_start(usual):
        order = Order(tuple(map(str, args)), str(cwd or Path.cwd()), env)
        loaded = ("tuning",) if "tune" in order.words else ()
        return _forks(*loaded).run(order, stdin)
    return subprocess.run(
        [*EPIC, *args], check=False, input=stdin, capture_output=True, cwd=cwd, env=env
    )


#: A script whose only command of ours is its first, of words alone: its words, the files that its
#: streams go to, and the commands behind the pipe.
_SIMPLE = re.compile(
    r"(set -o pipefail; )?"
    r"epic((?: +(?:'[^'\n]*'|\"[^\"$`\\\n]*\"|[^\s|;&<>()$`*?\[\]{}~#!\\'\"])+)*)"
    r"((?: +2?> ?(?:/dev/null|\w[\w./-]*))*)"
    r"(?:\s+\| ((?:(?!\bepic\b|PIPESTATUS).)*))?",
    re.DOTALL,
)


def shell(script: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a bash script in which ``epic`` is the command under test.

    Where ``epic`` is its first command alone, bash gets only what stands behind that.
    """
    if simple := _SIMPLE.fullmatch(script.replace("\\\n", " ")):
        pipefail, words, files, behind = simple.groups()
        done = epic(*shlex.split(words), cwd=cwd)
        for error, name in re.findall(r" (2?)> ?(\S+)", files):
            ((cwd or Path.cwd()) / name).write_bytes(done.stderr if error else done.stdout)
            setattr(done, "stderr" if error else "stdout", b"")
        if behind is None:
            return done
        last = _run_bash(behind, done.stdout, cwd)
        last.stderr = done.stderr + last.stderr
        last.returncode = last.returncode or (done.returncode if pipefail else 0)
        return last
    define = f'epic() {{ {" ".join(EPIC)} "$@"; }}\n'
    return _run_bash(define + script, b"", cwd)


def _run_bash(script: str, given: bytes, cwd: Path | None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", script],
        check=False, input=given, capture_output=True, cwd=cwd, env=environment(),
    )  # fmt: skip
