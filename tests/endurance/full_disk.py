"""Every command with a disk that is full at its first write, at its second, at each of them.

    python -m endurance.full_disk

``fail_write.c`` is compiled and preloaded: the n-th write, creation or renaming of a file fails
with "No space left on device". A command must then end with status 3 and one line that says so,
leave its old output files as they were and no other file; a session must go on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support.terminals import Terminal

SOURCE = Path(__file__).with_name("fail_write.c")

RECORDING = "".join(f"{k},0,0 / 10,0,0 / {k / 10} arrival={k / 10 + 0.05}\n" for k in range(40))

LINK = "--latency 80ms --jitter 20ms --seed 1"

#: In words, with the files that each writes; stdout is a file as well.
COMMANDS = {
    "--version": (),
    "--help": (),
    "strategies": (),
    "strategies epic": (),
    "replay packets.txt": (),
    "replay -f csv packets.txt": (),
    "replay -f table -o rows packets.txt": ("rows",),
    f"simulate --movement circle,duration=2 {LINK}": (),
    f"simulate --movement circle,duration=2 -o rows --truth-out truth {LINK}": ("rows", "truth"),
    "compare packets.txt --strategies epic --strategies lerp": (),
    "compare packets.txt --strategies epic --html page": ("page",),
    "play --duration 1 -q -o rows --record script": ("rows", "script"),
}


def compiled(folder: Path) -> Path:
    """Return the shared library to preload, compiled."""
    library = folder / "fail_write.so"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", str(SOURCE)]
    subprocess.run([*" ".join(command).split(), "-o", str(library)], check=True)
    return library


def environment(library: Path, mark: Path, at: int) -> dict[str, str]:
    """Return the environment in which the write of this number fails."""
    return {"LD_PRELOAD": str(library), "FAIL_AT": str(at), "FAIL_MARK": str(mark)}


def wrong_with(command: str, outputs: tuple[str, ...], library: Path, at: int) -> str | None:
    """Return what is wrong after the write of this number failed.

    None if there is no such write.
    """
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        folder, mark = Path(name), Path(other) / "mark"
        (folder / "packets.txt").write_text(RECORDING)
        for output in outputs:
            (folder / output).write_text("old")
        with (Path(other) / "stdout").open("wb") as stdout:
            done = subprocess.run(
                [sys.executable, "-m", "epic_cli", *command.split()],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**os.environ, **environment(library, mark, at)},
            )
        if not mark.exists():
            return None if done.returncode == 0 else f"status {done.returncode}: {done.stderr!r}"
        left = sorted(path.name for path in folder.iterdir())
        said = done.stderr.decode()
        if done.returncode != 3 or "No space left on device" not in said or "Traceback" in said:
            return f"status {done.returncode}: {said}"
        if left != sorted(["packets.txt", *outputs]):
            return f"files are left: {left}"
        # what was renamed before another file failed is new, and whole
        empty = [output for output in outputs if not (folder / output).read_bytes()]
        return f"empty files: {empty}" if empty else ""


def try_command(command: str, library: Path, most: int = 1000) -> tuple[int, list[str]]:
    """Return the number of writes, and what went wrong after any of them failed."""
    wrong: list[str] = []
    for at in range(1, most + 1):
        found = wrong_with(command, COMMANDS[command], library, at)
        if found is None:
            return at - 1, wrong
        if found:
            wrong.append(f"epic {command}, write {at}: {found}")
    return most, wrong


def try_session(library: Path, most: int = 1000) -> tuple[int, list[str]]:
    """Return the number of writes of a session, which must warn and go on, and what went wrong."""
    wrong: list[str] = []
    for at in range(1, most + 1):
        with tempfile.TemporaryDirectory() as name:
            state, mark = Path(name), Path(name) / "mark"
            settings = environment(library, mark, at)
            with Terminal(state, environment=settings) as terminal:
                terminal.prompt()
                for line in ("0,0,0 / 1,0,0 / 0", ":tick 40ms", "1,0,0 / 1,0,0 / 0.1"):
                    terminal.type(line)
                terminal.type(":save kept")
                terminal.send("q\r")
                status, text = terminal.status(), "\n".join(terminal.everything())
            if not mark.exists():
                return at - 1, wrong
            told = "No space left on device" in " ".join(text.split())  # it is wrapped
            if status or "Traceback" in text or not told:
                wrong.append(f"a session, write {at}: status {status}\n{text}")
            if list(state.glob(".epic-*")):
                wrong.append(f"a session, write {at}: half a file is left")
    return most, wrong


def main() -> int:
    """Try every command; return status 1 if one misbehaves."""
    total, wrong = 0, list[str]()
    with tempfile.TemporaryDirectory() as name:
        library = compiled(Path(name))
        for what in (*COMMANDS, ""):
            count, found = try_command(what, library) if what else try_session(library)
            print(f"{count:5d} writes: {'epic ' + what if what else 'a session'}", flush=True)
            total, wrong = total + count, wrong + found
            print("".join(word + "\n" for word in found), end="", flush=True)
    print(f"{total} writes failed, {len(wrong)} found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
