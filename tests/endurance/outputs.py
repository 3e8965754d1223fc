"""Kill commands that write files at random moments: each file is complete, or the old one.

    python -m endurance.outputs --kills 60

With SIGKILL and SIGTERM. What is there under its name afterwards must be the old file or a whole
new one, what a kill leaves beside it must be gone after the next run, and after SIGTERM nothing is
left at all.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from support.running import EPIC, environment

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: Commands, with the names of what they write.
COMMANDS = {
    "tune --html": ("tune -s lerp --trials 4 {s}/jitter.txt --html out.html", ("out.html",)),
    "compare --html --svg": (
        "compare {s}/jitter.txt -s epic,lerp --html out.html --svg out.svg",
        ("out.html", "out.svg"),
    ),
    "convert": ("convert long.csv --shift 1s -o out.csv", ("out.csv",)),
    "convert to Parquet": ("convert long.csv -o out.parquet", ("out.parquet",)),
    "check --new": (
        "check --new out {s}/turn.txt -s mirror --latency 80ms",
        ("out/case.toml", "out/expected.tsv"),
    ),
}  # fmt: skip

OLD = b"the old file"


def started(command: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start the command in a folder of its own."""
    words = command.format(s=SAMPLES).split()
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [*EPIC, *words], cwd=folder, env=environment(), stdin=quiet, stdout=quiet, stderr=quiet
    )


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder and its subfolders."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "long.csv"
    }


class Attacked:
    """A command, what it writes, and how long it takes."""

    def __init__(self, name: str, folder: Path) -> None:
        self.command, self.names = COMMANDS[name]
        self.folder = folder
        rows = "".join(f"{k / 20},{k % 97},{k % 89},0\n" for k in range(60_000))
        (folder / "long.csv").write_text(f"time,x,y,z\n{rows}")
        begin = time.monotonic()
        assert not started(self.command, folder).wait()
        self.seconds = time.monotonic() - begin
        self.whole = files(folder)
        assert sorted(self.whole) == sorted(self.names)

    def live_and_die(self, chance: random.Random) -> str:
        """Run the command twice, once killed; return what went wrong."""
        for name in files(self.folder):
            (self.folder / name).unlink()
        is_case = "out" in self.command.split() and "--new" in self.command
        before = {} if is_case or chance.random() < 0.5 else dict.fromkeys(self.names, OLD)
        for name, data in before.items():
            (self.folder / name).write_bytes(data)
        number = chance.choice((signal.SIGKILL, signal.SIGTERM))
        process = started(self.command, self.folder)
        time.sleep(chance.uniform(0.3, 1.05) * self.seconds)
        process.send_signal(number)
        status = process.wait()
        after = files(self.folder)
        for name in self.names:
            if after.get(name) not in (before.get(name), self.whole[name]):
                return f"WRONG: {name} is neither the old one nor whole"
        rest = set(after) - set(self.names)
        if rest and status != -signal.SIGKILL:
            return f"WRONG: status {status} leaves {rest}"
        complete = set(after) >= set(self.names)
        again = started(self.command, self.folder).wait()
        if again != (2 if is_case and complete else 0):
            return f"WRONG: the next run ends with {again}"
        last = files(self.folder)
        if not (is_case and complete) and last != self.whole:
            return f"WRONG: the next run leaves {sorted(last)}"
        how = "ended" if status >= 0 else signal.Signals(-status).name
        return f"{how}{', parts left' if rest else ''}"


def main() -> int:
    """Kill each command; return status 1 if a file was left incomplete."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    for name in COMMANDS:
        found: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            attacked = Attacked(name, Path(folder))
            for kill in range(options.kills):
                came = attacked.live_and_die(random.Random(f"{name} {options.seed} {kill}"))
                if came.startswith("WRONG"):
                    print(f"{name}, kill {kill}: {came}", flush=True)
                found[came.partition(":")[0]] += 1
        print(f"{name}: {dict(found)}", flush=True)
        wrong += found["WRONG"]
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
