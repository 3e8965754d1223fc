"""The subset of Python for sources: what it has is written, and the rest is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from epic_cli.jobs.code.languages import load_languages
from epic_cli.jobs.code.translate import ParsedSource, parse

SOURCE = '''
"""A program."""

class Smoothing:
    """A sum."""

    position: Vec3  # what is drawn
    count: int  # packets so far

    def reset(self) -> None:
        """Forget all."""
        self.position = Vec3(0.0, 0.0, 0.0)
        self.count = 0

    def receive(self, position: Vec3) -> None:
        """Take a packet."""
        self.position = position
        self.count += 1

    def teleport(self, position: Vec3) -> None:
        """Take a teleport."""
        self.position = position

    def draw(self, now: float) -> bool:
        """Draw a frame."""
        total: float = 0.0 * now
        for i in range(self.count, self.count * 2 + 3):
            BODY
        self.position = Vec3(total, 0.0, 0.0)
        return self.count > 0
'''


#: What needs each bracket, bound and division, and its sum for i from 2 to 6.
SUMS = {
    "float(i - self.count) / 2.0": sum((i - 2) / 2 for i in range(2, 7)),
    "100.0 / float(i + self.count)": sum(100 / (i + 2) for i in range(2, 7)),
    "3.0 * float(i - self.count)": sum(3 * (i - 2) for i in range(2, 7)),
    "8.0 - float(self.count - i)": sum(8 - (2 - i) for i in range(2, 7)),
    "float(i) / float(i + 1)": sum(i / (i + 1) for i in range(2, 7)),
    "float(self.count * (i // 2))": sum(2 * (i // 2) for i in range(2, 7)),
    "float(7 * i // 2)": sum(7 * i // 2 for i in range(2, 7)),
}


PACKETS = "0,0,0/0,0,0/0\n0,0,0/0,0,0/0\n"


BUILDS = {
    "python": ("python3 {0}",),
    "lua": ("lua5.4 {0}",),
    "cpp": ("g++ -std=c++17 -o {0}.out {0}", "{0}.out"),
    "csharp": ("mcs -out:{0}.exe {0}", "mono {0}.exe"),
    "rust": ("rustc -A warnings -o {0}.out {0}", "{0}.out"),
}


def translate(body: str) -> ParsedSource:
    return parse(SOURCE.replace("BODY", body), {}, {})


@pytest.mark.parametrize("language", BUILDS)
def test_a_program_computes_what_its_source_says(language: str, tmp_path: Path) -> None:
    commands = BUILDS[language]
    if shutil.which(commands[0].split()[0]) is None:
        pytest.skip(f"{commands[0].split()[0]} is not there")
    program = translate("\n            ".join(f"total += {term}" for term in SUMS))
    writer = load_languages()[language](program, single=False)
    file = tmp_path / f"sums{writer.suffix}"
    file.write_text(writer.write([], main=True))
    for command in commands:
        done = subprocess.run(
            command.format(file).split(),
            input=PACKETS, capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "EPIC_TICK": "1/20"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[-1].split("\t")
    assert float(row[2]) == pytest.approx(sum(SUMS.values()))


#: Conditions that begin with the same test: merged where nothing between them changes it.
CONDITIONS = (
    "if i > 3:\n    total += 1.0\nif i > 3 and i > 4:\n    total += 4.0",
    "if i > 3:\n    total += 1.0\nelse:\n    total += 2.0\nif i > 3:\n    total += 4.0",
    "if i > 3:\n    total += 1.0\nif i > 3 and i > 4:\n    total += 4.0\nelse:\n    total += 8.0",
    "if total < 9.0:\n    total += 5.0\nif total < 9.0:\n    total += 7.0",
    "if self.count < 4:\n    self.count += 1\nif self.count < 4:\n    total += 7.0",
)


@pytest.mark.parametrize("body", CONDITIONS)
def test_conditions_that_follow_each_other_keep_their_meaning(body: str) -> None:
    text = load_languages()["python"](translate(body.replace("\n", "\n            ")), False)
    made: dict[str, Any] = {}
    exec(text.write([], main=False), made)
    smoothing, own = made["Smoothing"](), SimpleNamespace(count=2)
    smoothing.count = 2
    smoothing.draw(0.0)
    names = {"self": own, "total": 0.0}
    for i in range(2, 7):
        exec(body, names | {"i": i}, names)
    assert smoothing.position.x == names["total"]


@pytest.mark.parametrize("language", load_languages())
def test_an_operation_keeps_its_brackets_and_a_loop_its_start(language: str) -> None:
    text = load_languages()[language](translate("total += float(i - self.count)"), False)
    written = text.write([], main=False).replace("this.", "").replace("self.", "")
    assert "(i - count)" in written
    (loop,) = [line for line in written.splitlines() if line.lstrip().startswith("for ")]
    assert loop.count("count") == 2


@pytest.mark.parametrize(
    "body",
    [
        "total *= 2.0",
        "total = self.count = i",
        "if 0 < i < 3: total += 1.0",
        "for k in range(0, i, 2): total += 1.0",
        "for k in self.counts: total += 1.0",
        "self.counts.pop(2)",
        "total = max(i, key=abs)",
    ],
)
def test_what_would_be_written_in_part_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="not in the subset"):
        translate(body)
