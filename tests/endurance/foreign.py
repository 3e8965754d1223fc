"""Files from a stranger: cases, scripts, traces, journals, profiles, pages of settings, archives.

    python -m endurance.foreign --cases 2000

Each is a good file in which some values were replaced: by paths out of the folder, by code, by
commands, by names with control characters, by huge or nested values, by raw bytes; or an archive
that unpacks to hundreds of megabytes. Reading it must end soon, in bounded memory, with a status of
its own; nothing may be written outside the folder, no code may run, and nothing that a terminal
would obey may be shown.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import os
import random
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support.running import EPIC, environment

#: Seconds, and bytes of memory, that reading any file may take.
PATIENCE, MEMORY = 60.0, 3 << 30

EVIL = "import pathlib\npathlib.Path({mark!r}).write_text('ran')\nclass Evil: pass\n"

#: Values that a stranger puts in the place of others; braces stand for the folder above.
VALUES = (
    *("evil.py:Evil", "./evil.py:Evil", "{above}/evil.py:Evil", "os:system", "evil:Evil"),
    *("{above}/outside", "../outside", "/dev/zero", "/dev/stdin", "/proc/self/mem", "/dev/tty"),
    *("touch {above}/mark", "$(touch {above}/mark)", "`touch {above}/mark`", "|touch mark"),
    *(
        "\x1b[2J\x1b]0;evil\x07",
        "\x9b31m",
        "\u202eevil",
        "a\x00b",
        "\r\nrows",
        "%s%n",
        "{0.__class__}",
    ),
    *("1e999", "-1e308", "nan", "99999999999999999999", "-1", "0", "", " ", "true", "null"),
    *("x" * 100_000, "[" * 3000, "http://127.0.0.1:1/x", "tcp://127.0.0.1:1", "s3://bucket/x"),
)

CASE = 'recording = "game.csv"\nstrategy = "lerp+time=0.1"\ntick = "50ms"\nlatency = "80ms"\n'
SCRIPT = "0,0,0 / 1,0,0 / 0\n:tick 40ms\n:strategy lerp\n1,0,0 / 1,0,0 / 0.1\n:save kept.txt\nq\n"
TRACE = "send_time,owd_ms,lost\n0,20,0\n0.05,25,0\n0.1,,1\n0.15,21,0\n"
PROFILE = '[profiles.game]\nread = "csv,time=t"\n[replay]\nstrategy = "lerp"\ntick = "50ms"\n'
MATCH = "seed = 1\n0.0 A right\n0.5 A shoot\n1.0 A stop\n"
GAME = "".join(f"{n / 20},{n},{n % 7},0\n" for n in range(40))

#: Files of each kind: their names, contents, and the command that reads them.
KINDS: dict[str, tuple[str, str, str]] = {
    "case": ("tests/case.toml", CASE, "check tests"),
    "script": ("script.txt", SCRIPT, "session --init script.txt"),
    "trace": ("walk.csv", TRACE, "simulate --movement circle,duration=1 --link trace=walk.csv"),
    "profile": (".epic.toml", PROFILE, "replay game.csv"),
    "configuration": ("epic/config.toml", PROFILE, "replay game.csv"),
    "match": ("match.txt", MATCH, "play --script match.txt --duration 1 --show summary"),
    "recording": ("game.csv", f"time,x,y,z\n{GAME}", "inspect game.csv"),
    "truth": ("truth.csv", f"time,x,y,z\n{GAME}", "compare game.csv -s lerp --truth truth.csv"),
    "journal": ("journal.jsonl", "", "compare game.csv -s lerp --journal journal.jsonl"),
    "drawn": ("drawn.csv", f"time,x,y,z\n{GAME}", "diagnose game.csv --drawn drawn.csv"),
}


def alter(text: str, chance: random.Random, above: Path) -> bytes:
    """Return a file in which some values were replaced, or bytes."""
    pieces = []
    piece = ""
    for letter in text:  # a value ends where a sign begins
        if letter.isalnum() or letter in "._+-":
            piece += letter
        else:
            pieces += [piece, letter] if piece else [letter]
            piece = ""
    pieces.append(piece)
    for _ in range(chance.choice((1, 1, 2, 5))):
        value = chance.choice(VALUES).replace("{above}", str(above))
        at = chance.randrange(len(pieces))
        kind = chance.randrange(4)
        if kind == 0:
            pieces.insert(at, value)
        elif kind == 1:
            pieces[at : at + chance.randrange(1, 9)] = [value]
        elif kind == 2:
            pieces[at] = f'"{value}"'
        else:
            pieces[at] = value
    data = bytearray("".join(pieces).encode("utf-8", "surrogatepass"))
    if chance.random() < 0.2:
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def make_bomb(chance: random.Random) -> tuple[str, bytes]:
    """Return an archive that unpacks to hundreds of megabytes, and its name."""
    block = bytes(1 << 20) if chance.random() < 0.5 else b"0,0,0 / 0,0,0 / 0\n" * 58_000
    packers: dict[str, Callable[[], object]] = {
        ".gz": lambda: gzip.compress,
        ".xz": lambda: lzma.compress,
        ".bz2": lambda: bz2.compress,
    }
    ending = chance.choice([*packers, ".zip", ".xlsx", ".ods"])
    if ending in packers:
        packed = packers[ending]()(block)  # type: ignore[operator]
        return f"bomb{ending}", packed * 300  # members are read one after the other
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("xl/workbook.xml", "content.xml", "a.csv"):
            with archive.open(name, "w", force_zip64=True) as member:
                for _ in range(200):
                    member.write(block)
    return f"bomb{ending}", whole.getvalue()


def limit() -> None:
    """Limit the memory of the process that is begun."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def list_outside(above: Path) -> dict[str, int]:
    """Return the files above the folder that a stranger's file may use, with their sizes."""
    return {
        str(path): path.stat().st_size
        for path in above.rglob("*")
        if path.is_file() and "work" not in path.relative_to(above).parts
    }


def try_file(name: str, data: bytes, command: str) -> tuple[int, list[str]]:
    """Read a file with a command; return its status, and what is wrong."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        above = Path(folder)
        work = above / "work"
        (work / name).parent.mkdir(parents=True)
        (work / "game.csv").write_text(f"time,x,y,z\n{GAME}")
        (work / "tests").mkdir(exist_ok=True)
        (work / "tests/game.csv").write_text(f"time,x,y,z\n{GAME}")
        mark = above / "mark"
        for place in (work, above, work / "tests"):
            (place / "evil.py").write_text(EVIL.format(mark=str(mark)))
        (work / name).write_bytes(data)
        before = list_outside(above)
        configured = {"XDG_CONFIG_HOME": str(work)} if name.startswith("epic/") else {}
        try:
            done = subprocess.run(
                [*EPIC, *command.split()],
                cwd=work,
                env={**environment(**configured), "HOME": str(work)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=PATIENCE,
                preexec_fn=limit,
            )
        except subprocess.TimeoutExpired:
            return -1, [f"still reading after {PATIENCE:.0f} s"]
        after = list_outside(above)
        if mark.exists():
            wrong.append("its code has run")
        if after != before:
            wrong.append(f"files outside were written: {sorted(set(after) ^ set(before))}")
    if done.returncode not in (0, 1, 2, 3, 4):
        wrong.append(f"status {done.returncode}")
    for stream in (done.stdout, done.stderr):
        if b"Traceback (most recent call last)" in stream:
            wrong.append(stream[-1500:].decode(errors="replace"))
        shown = stream.decode(errors="replace")
        if any(sign in shown for sign in "\x1b\x07\x9b\u202e"):
            wrong.append(f"control characters are shown: {stream[:300]!r}")
    return done.returncode, wrong


def draw_case(number: int, seed: int) -> tuple[str, str, bytes, str]:
    """Return the kind of a case's file, its name, its bytes, and the command that reads it."""
    chance = random.Random(f"{seed} {number}")
    if chance.random() < 0.03:
        name, data = make_bomb(chance)
        return "bomb", name, data, f"{chance.choice(('inspect', 'replay -f csv -o out'))} {name}"
    kind = chance.choice(list(KINDS))
    name, text, command = KINDS[kind]
    text = (
        text or f'{{"sum": "abc", "format": 1}}\n{{"key": "x", "value": "{os.urandom(0).hex()}"}}\n'
    )
    return kind, name, alter(text, chance, Path("..")), command


def main() -> int:
    """Read the files; return status 1 if one does harm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="read this one alone, and print it")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    found = 0
    for number in range(options.cases) if options.case is None else [options.case]:
        kind, name, data, command = draw_case(number, options.seed)
        status, wrong = try_file(name, data, command)
        counts[f"{kind} {status}"] += 1
        if wrong:
            found += 1
            print(f"case {number}: epic {command}", *wrong, sep="\n    ", flush=True)
        if options.case is not None:
            print(data[:3000], status)
    print(f"{sum(counts.values())} files, {found} found: {dict(sorted(counts.items()))}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
