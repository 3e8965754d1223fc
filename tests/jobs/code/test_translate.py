"""The subset of Python for sources: what it has is written, and the rest is refused."""

from __future__ import annotations

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


def translate(body: str) -> ParsedSource:
    return parse(SOURCE.replace("BODY", body), {}, {})


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
