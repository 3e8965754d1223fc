"""What a replay draws, followed block by block, so that two views can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from operator import ne
from typing import TYPE_CHECKING

from epic_cli.engine.packets import Entities, SampleBlock, count_apart
from epic_cli.engine.text.rows import RowWriter

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample


class Drawing:
    """How many rows were drawn, and the sample of the last one; None: there is none."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self.rows = 0
        self.last: Sample | None = None

    def follow(self, blocks: Iterator[SampleBlock]) -> Iterator[SampleBlock]:
        """The blocks as they come."""
        for samples in blocks:
            self.rows += len(samples)
            self.last = samples.last(self._entities)
            yield samples


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
