"""Tests of the number of rows that differ between two views of the same packets."""

from collections.abc import Iterator

import pytest

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session.state import RowTail, count_different


def drawn(entities: Entities, count: int, x: float, at_once: int = 3) -> Iterator[SampleBlock]:
    block = PacketBlock(entities)
    for k in range(count):
        block.append(Packet((x, 0.0, 0.0), (0.0, 0.0, 0.0), k / 10))
    stream = ReplaySpec().make_stream(at_once)
    yield from stream.feed(block)
    yield from stream.finish()


@pytest.mark.parametrize(("x", "differ"), [(1.0, 0), (1.01, 9), (-1.0, 9)])
def test_rows_that_a_table_shows_differently_are_counted(x: float, differ: int) -> None:
    entities = Entities()
    assert count_different(drawn(entities, 4, 1.0), drawn(entities, 4, x, 5), entities) == differ
    shorter = count_different(drawn(entities, 4, 1.0), drawn(entities, 2, x), entities)
    assert shorter == (9 if differ else 4)


def test_a_drawing_knows_its_rows_and_the_last_of_them() -> None:
    entities = Entities()
    drawing = RowTail(entities)
    assert drawing.last is None
    blocks = drawing.follow(drawn(entities, 4, 1.0))
    assert sum(len(block) for block in blocks) == drawing.count == 9
    assert drawing.last is not None
    assert drawing.last.time == pytest.approx(drawing.count * 0.05)
