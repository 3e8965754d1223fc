"""Two drawings of the same packets: how many rows are different."""

from collections.abc import Iterator
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.text import RowWriter
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.session.state import RowTail, count_different

#: Around the borders of rounding to 2 and 3 digits, and where numbers are printed otherwise.
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.004, 0.005, 0.0051, -0.004, 0.015, 0.0149999, 1e5, 1e15, 1e300]),
    st.floats(-2, 2, width=32),
    st.floats(allow_nan=True, allow_infinity=True),
)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
PACKETS = st.lists(st.tuples(VECTORS, VECTORS, st.sampled_from("ab")), min_size=1, max_size=6)


def drawn(packets: list[Packet], view: ReplaySpec, entities: Entities) -> Iterator[SampleBlock]:
    block = PacketBlock(entities)
    for packet in packets:
        block.append(packet)
    stream = view.stream(at_once=3)
    yield from stream.feed(block)
    yield from stream.finish()


@given(PACKETS, st.sampled_from([0.0, 1e-9, 0.0005, 0.004, 0.01, 0.011, 1.0]))
@examples(100)
def test_rows_are_counted_as_their_texts_differ(
    states: list[tuple[tuple[float, ...], tuple[float, ...], str]], moved: float
) -> None:
    timing, entities = Timing(clock="exact"), Entities()
    one = [Packet(p, v, k / 10, entity=e) for k, (p, v, e) in enumerate(states)]  # type: ignore[arg-type]
    other = [packet._replace(position=(packet[0][0] + moved, *packet[0][1:])) for packet in one]
    before = ReplaySpec(StrategySpec("lerp"), timing)
    after = ReplaySpec(StrategySpec("extrapolator"), timing)
    for left, right in ((before, before), (after, after), (before, after)):
        rows = [
            b"".join(RowWriter("table").rows(block, entities) for block in drawn(*side, entities))
            for side in ((one, left), (other, right))
        ]
        pairs = zip_longest(*(text.splitlines() for text in rows))
        assert count_different(
            drawn(one, left, entities), drawn(other, right, entities), entities
        ) == sum(a != b for a, b in pairs)


def test_a_drawing_knows_its_rows_and_the_last_of_them() -> None:
    entities = Entities()
    drawing = RowTail(entities)
    blocks = drawn(
        [Packet((1.0, 0.0, 0.0), None, t / 10) for t in range(4)], ReplaySpec(), entities
    )
    assert drawing.last is None
    assert sum(len(block) for block in drawing.follow(blocks)) == drawing.count > 5
    assert drawing.last is not None
    assert drawing.last.time == pytest.approx(drawing.count * 0.05)
