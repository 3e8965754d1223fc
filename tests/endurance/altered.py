"""Altered journals: results are computed again or the damage is reported; no figure is wrong.

    python -m endurance.altered --each 200

The journals of ``compare``, ``tune`` and ``diagnose`` and that of a session are altered at random
(digits, bytes, lines cut, doubled, swapped, lost, mixed with another journal's) and gone on with. A
command must print what it prints without a journal, or refuse the journal; a session must keep
lines that were typed, in their order; and both must say that something is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from support.running import epic
from support.typed_session import TypedSession

from epic_cli.session import journal as journals

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: Commands with a journal, and others of the same kind.
COMMANDS = {
    "compare": ("--by recording jitter.txt hop.jsonl -s epic,snapshot,lerp -f jsonl",
                "--by recording turn.txt two_tanks.csv --latency 0.1 -s epic,lerp -f jsonl"),
    "tune": ("-s lerp --trials 12 jitter.txt -f jsonl", "-s lerp --trials 9 hop.jsonl -f jsonl"),
    "diagnose": ("jitter.txt two_tanks.csv hop.jsonl -f jsonl", "two_tanks.csv -f jsonl"),
}  # fmt: skip


def altered(chance: random.Random, whole: bytes, other: bytes) -> bytes:
    """Return the journal with one random alteration."""
    data, lines = bytearray(whole), whole.splitlines(True)
    one, two = (chance.randrange(len(lines)) for _ in range(2))
    kind = chance.randrange(12)
    if kind < 3:
        at = chance.choice([at for at, code in enumerate(whole) if 48 <= code < 58])
        data[at] = 48 + (data[at] - 48 + chance.randrange(1, 10)) % 10
        return bytes(data)
    if kind < 5:
        for _ in range(chance.choice((1, 1, 2, 20))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)
    if kind == 5:
        return bytes(data[: chance.randrange(len(data))])
    if kind == 6:
        lines[one] = lines[one][: chance.randrange(len(lines[one]))] + chance.choice((b"", b"\n"))
    elif kind == 7:
        lines[one], lines[two] = lines[two], lines[one]
    elif kind == 8:
        lines.insert(one, lines[two])
    elif kind == 9:
        del lines[one]
    elif kind == 10:
        theirs = other.splitlines(True)
        lines[one:two] = theirs[: chance.randrange(1, len(theirs) + 1)]
    else:
        odd = (
            b"\0" * 3000,
            b"9" * 100_000,
            b"\n" * 500,
            b"\xff\xfe",
            b"q\n",
            b":quit\n",
            b"[" * 9999,
        )
        lines.insert(one, chance.choice(odd))
    return b"".join(lines)


class Results:
    """The journal of a command."""

    def __init__(self, name: str, folder: Path) -> None:
        self._path = folder / name
        self._command = [name, *COMMANDS[name][0].split()]
        self.expected = epic(*self._command, cwd=SAMPLES)
        assert self.expected.returncode == 0, self.expected.stderr
        self.other = self._written([name, *COMMANDS[name][1].split()])
        self.whole = self._written(self._command)

    def _written(self, command: list[str]) -> bytes:
        self._path.unlink(missing_ok=True)
        epic(*command, "--journal", self._path, cwd=SAMPLES)
        return self._path.read_bytes()

    def attempt(self, data: bytes) -> str:
        """Run the command on an altered journal; return the result."""
        self._path.write_bytes(data)
        done = epic(*self._command, "--journal", self._path, cwd=SAMPLES)
        if b"Traceback" in done.stderr or done.returncode not in (0, 2, 3):
            return f"WRONG: status {done.returncode}: {done.stderr.decode()[-300:]}"
        if done.returncode:
            return "refused" if not done.stdout else "WRONG: output of what was refused"
        if done.stdout != self.expected.stdout:
            return "WRONG: another figure"
        return "told" if b"damaged" in done.stderr or b"truncated" in done.stderr else "the same"


class Typed:
    """The journal of a session."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "session"
        self.other = self._written(b"%d,9,9 / 1,1,1 / %d.5", 9)
        self.whole = self._written(b"%d,0,0 / 10,0,0 / %d.25 entity=a", 40)

    def _written(self, line: bytes, count: int) -> bytes:
        self._path.unlink(missing_ok=True)
        journal = journals.SessionJournal(self._path.parent, print, self._path)
        typed = TypedSession(journal=journal)
        typed.type(*((line % (k, k)).decode() for k in range(count)), ":tick 40ms", ":undo")
        journal.close()
        return self._path.read_bytes()

    def attempt(self, data: bytes) -> str:
        """Resume an altered session; return the result."""
        self._path.write_bytes(data)
        typed = TypedSession()
        typed.run_quietly(journals.read(self._path), "session")
        said = typed.output.getvalue()
        if b"Traceback" in said or b"\x1b" in said:
            return f"WRONG: {said.decode('utf-8', 'replace')[-300:]}"
        left = iter(data.splitlines(keepends=True))
        if not all(line in left for line in typed.lines):
            return "WRONG: lines that are not in the journal, or in another order"
        return "told" if said else "the same"


def attack(name: str, count: int, seed: int, folder: Path) -> Counter[str]:
    """Alter a journal this many times; return the outcomes."""
    journal = Typed(folder) if name == "session" else Results(name, folder)
    found: Counter[str] = Counter()
    for number in range(count):
        chance = random.Random(f"{name} {seed} {number}")
        data = altered(chance, journal.whole, journal.other)
        came = journal.attempt(data)
        if came.startswith("WRONG"):
            print(f"{name} --seed {seed}, case {number}: {came}", flush=True)
        found[came.partition(":")[0]] += 1
    return found


def main() -> int:
    """Attack each journal; return status 1 if one attack succeeded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    for name in ("session", *COMMANDS):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = attack(name, options.each, options.seed, Path(folder))
        print(f"{name}: {dict(found)}; {time.monotonic() - begin:.0f} s", flush=True)
        wrong += found["WRONG"]
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
