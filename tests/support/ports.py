"""The ports that the guide of ``epic check`` names, built, and deliberately wrong ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from epic_cli.jobs.check.streams import make_builtin_streams
from support.places import ROOT, SAMPLES

GUIDE = ROOT / "epic_cli" / "jobs" / "check" / "README.md"

#: What is wrong in each, as a replacement in the C++ of the guide.
WRONG = {
    "double": ("using Real = float", "using Real = double"),
    "late": ("      now += tick;", "      now += tick;\n      old = shown;"),
    "slope": ("* (1 / behind);", "* (1 / behind) * 1.000001f;"),
    "swapped": ("double(shown.x),\n                  double(shown.y)",
                "double(shown.y),\n                  double(shown.x)"),
}  # fmt: skip


def stream_lines() -> list[tuple[float, bytes]]:
    """Return the built-in streams, an entity each: arrival and text of each line."""
    return [
        (float(line.rpartition(b"=")[2]), line + f" entity={stream.name}\n".encode())
        for stream in make_builtin_streams()
        for line in stream.text.splitlines()
    ]


def example(kind: str) -> str:
    """Return the port in a language: a sample, or the only block in that language in the guide."""
    if kind == "cpp":
        return (SAMPLES / "port.cpp").read_text()
    (block,) = re.findall(rf"^```{kind}\n(.*?)^```\n", GUIDE.read_text(), re.M | re.S)
    return str(block)


def wrong(name: str) -> str:
    """Return the C++ of a wrong port."""
    before, after = WRONG[name]
    text = example("cpp")
    assert text.count(before) == 1
    text = text.replace(before, after)
    if name == "late":  # it prints what was shown before
        text = text.replace("shown{};", "shown{}, old{};")
        text = re.sub(r"double\(shown\.(.)\)", r"double(old.\1)", text)
    return text


def build(folder: Path, **sources: str) -> dict[str, Path]:
    """Compile programs in parallel."""
    compiler = os.environ.get("CXX", "g++").split()
    running = {}
    for name, text in sources.items():
        (folder / f"{name}.cpp").write_text(text)
        files = ["-o", str(folder / name), str(folder / f"{name}.cpp")]
        command = [*compiler, "-O1", "-ffp-contract=off", *files]
        running[name] = subprocess.Popen(command)
    for name, process in running.items():
        assert process.wait() == 0, name
    return {name: folder / name for name in sources}


def script(folder: Path, text: str, name: str = "port.py") -> str:
    """Return a Python program, as a command."""
    (folder / name).write_text(text)
    return f"{sys.executable} {folder / name}"
