"""What a replay draws, followed block by block, so that two views can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from operator import ne
from typing import TYPE_CHECKING

from epic_cli.engine.packets import Entities, SampleBlock
from epic_cli.engine.text.rows import RowWriter

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample


class Drawing:
    """How many rows were drawn, and the sample of the last one; None: there is none."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self.rows = 0
        self.last: Sample | None = None

    def follow(self, blocks: Iterator[SampleBlock]) -> Iterator[bytes]:
        """The rows of each block, as a table has them."""
        writer = RowWriter("table")
        for samples in blocks:
            self.rows += len(samples)
            self.last = samples.last(self._entities)
            yield writer.rows(samples, self._entities)


def count_different(before: Iterator[bytes], after: Iterator[bytes]) -> int:
    """How many rows are drawn differently; numbers that differ may be drawn alike.

    The blocks on both sides end at the same ticks.
    """
    return sum(_different(*pair) for pair in zip_longest(before, after, fillvalue=b""))


def _different(before: bytes, after: bytes) -> int:
    if before == after:
        return 0
    rows_before, rows = before.splitlines(), after.splitlines()
    differing: int = sum(map(ne, rows_before, rows))
    return differing + abs(len(rows_before) - len(rows))
