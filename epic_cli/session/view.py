"""How packets are shown, as a value, and what a view of them draws."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from operator import ne
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.measure import count_apart
from epic_cli.engine.packets import Entities, SampleBlock
from epic_cli.engine.parameter_base import Value
from epic_cli.engine.places import absolute
from epic_cli.engine.replay.playback import TIMING, ReplaySpec
from epic_cli.engine.text import RowWriter
from epic_cli.recordings.writing import value_text

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample
    from epic_cli.engine.refusals import Refusal


def view_commands(view: ReplaySpec) -> list[str]:
    """The commands that lead from the defaults to this view."""
    defaults = ReplaySpec()
    lines = []
    if view.strategy.name != defaults.strategy.name:
        lines.append(strategy_command(view.strategy.name))
    if view.strategy.settings:
        lines.append(f":set {assignments(view.strategy.settings)}")
    for setting in TIMING:
        value = getattr(view.timing, setting.name)
        if value != setting.default:
            lines.append(f":{setting.name} {setting.write(value)}")
    return lines


def strategy_command(name: str) -> str:
    """What chooses a strategy, in a session that is resumed in another folder, too."""
    return f":strategy {shlex.quote(absolute(name))}"


def assignments(settings: Mapping[str, Value]) -> str:
    """Settings as the words of ``:set``."""
    return " ".join(shlex.quote(f"{name}={value_text(value)}") for name, value in settings.items())


class Tail(NamedTuple):
    """The last rows, and how many there are before them."""

    rows: list[bytes]
    before: int


class Drawing:
    """How many rows were drawn, and the sample of the last one; None: there is none.

    The last rows can be asked for, this many of them as are ``kept``.
    """

    def __init__(self, entities: Entities, kept: int = 0) -> None:
        self._entities = entities
        self._kept = kept
        self._pieces: deque[SampleBlock] = deque()
        self._held = 0  # samples in the pieces
        self.rows = 0
        self.last: Sample | None = None

    def follow(self, blocks: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
        """The blocks as they come."""
        for samples in blocks:
            self.rows += len(samples)
            self.last = samples.last(self._entities)
            if self._kept:
                self._keep(samples.copy())
            yield samples

    def _keep(self, piece: SampleBlock) -> None:
        self._pieces.append(piece)
        self._held += len(piece)
        while self._held - len(self._pieces[0]) >= self._kept:
            self._held -= len(self._pieces.popleft())

    def tail(self, writer: RowWriter) -> Tail:
        """The last rows."""
        text = b"".join(writer.rows(piece, self._entities) for piece in self._pieces)
        rows = text.splitlines(keepends=True)[-self._kept :]
        return Tail(rows, self.rows - len(rows))


def count_different(
    before: Iterator[SampleBlock], after: Iterator[SampleBlock], entities: Entities
) -> int:
    """How many rows of a table are drawn differently; numbers that differ may be drawn alike.

    The blocks on both sides end at the same ticks.
    """
    writer, none = RowWriter("table"), SampleBlock()
    count = 0
    for one, other in zip_longest(before, after, fillvalue=none):
        certain, left, right = count_apart(one, other)
        count += certain + abs(len(one) - len(other))
        if len(left):
            rows = (writer.rows(side, entities).splitlines() for side in (left, right))
            count += sum(map(ne, *rows))
    return count


class ViewChange(NamedTuple):
    """What was drawn before and after another view of the same packets was chosen.

    ``different`` counts the rows that are drawn differently; None: they are of other ticks.
    """

    before: Drawing
    after: Drawing
    different: int | None
    refusals: list[Refusal]
