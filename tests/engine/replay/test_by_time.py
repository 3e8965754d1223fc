"""Tests of recordings grouped by entity: rows come in order of time, as if each were alone."""

import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import epic_cli
from epic_cli import Packet, Sample
from epic_cli.engine.packets import Entities
from epic_cli.engine.replay.playback import SampleStream, Timing
from epic_cli.engine.strategies import make_factory
from epic_cli.recordings.opening import read_blocks
from epic_cli.recordings.rows import make_source


def groups(rng: random.Random, entities: int, length: int) -> list[Packet]:
    """Return packets grouped by entity, with different starts, lengths and rates."""
    found = []
    for entity in range(entities):
        time, step = rng.uniform(0, 0.15), rng.uniform(0.02, 0.3)
        for _ in range(rng.randint(4, length)):
            place = (rng.uniform(-9, 9), rng.uniform(-9, 9), 0.0)
            turn = None if entity % 2 else (0.0, 0.0, 0.0, 1.0)
            found.append(Packet(place, (1.0, 0.0, 0.0), time, entity=f"p{entity}", rotation=turn))
            time += step * rng.uniform(0.3, 1.7)
    return found


def drawn(packets: list[Packet], at_once: int, by_time: bool, timing: Timing) -> Iterator[Sample]:
    stream = SampleStream(make_factory("epic"), timing, at_once=at_once, by_time=by_time)
    entities = Entities()
    for block in read_blocks(make_source(packets), at_once=4 * at_once):
        entities = block.entities
        for samples in stream.feed(block):
            yield from samples.samples(entities)
    for samples in stream.finish():
        yield from samples.samples(entities)


@pytest.mark.parametrize("seed", range(12))
def test_rows_come_by_time_and_are_those_of_each_entity_alone(seed: int) -> None:
    rng = random.Random(seed)
    packets = groups(rng, rng.randint(1, 6), 40)
    at_once = rng.choice((1, 7, 500))
    timing = Timing(latency=rng.choice((None, 0.1)))
    before, after = (list(drawn(packets, at_once, literal, timing)) for literal in (False, True))
    times = [sample.time for sample in after]
    assert times == sorted(times)
    assert sorted(map(repr, before)) == sorted(map(repr, after))
    for name in {sample.entity for sample in before}:
        mine = [[repr(row) for row in rows if row.entity == name] for rows in (before, after)]
        assert mine[0] == mine[1]


def test_what_memory_does_not_hold_is_written_to_a_file() -> None:
    packets = [
        Packet((float(second), 0, 0), (1, 0, 0), 10.0 * second, entity=name)
        for name in ("a", "b")
        for second in range(200)
    ]
    timing = Timing((1, 60), "exact")  # 120,000 rows each: 15 MB
    keys = [(sample.time, sample.entity) for sample in drawn(packets, 2048, True, timing)]
    assert len(keys) > 200_000
    assert keys == sorted(keys)


def test_entities_that_are_mixed_do_not_wait() -> None:
    def endless() -> Iterator[Packet]:
        for count in itertools.count():
            yield Packet((count, 0, 0), (1, 0, 0), count / 10, entity="ab"[count % 2])

    stream = SampleStream(make_factory("epic"), Timing(), by_time=True)
    endlessly = read_blocks(make_source(endless()), at_once=16)
    next_rows = (len(samples) for block in endlessly for samples in stream.feed(block))
    assert next(next_rows) > 0


def test_python_sorts_what_is_there_as_a_whole(tmp_path: Path) -> None:
    rows = [(name, step / 10, step) for name in ("a", "b") for step in range(20)]
    text = "entity,time,x\n" + "".join(f"{n},{t},{x}\n" for n, t, x in rows)
    (tmp_path / "a.csv").write_text(text)
    packets = [Packet((x, 0, 0), None, t, entity=n) for n, t, x in rows]
    sources: list[Any] = [str(tmp_path / "a.csv"), io.BytesIO(text.encode()), packets]
    with pytest.warns(epic_cli.RecordingWarning):
        found = [
            [(item.time, item.entity) for item in epic_cli.replay(source)] for source in sources
        ]
    assert found[0] == found[1] == found[2] == sorted(found[0])
    one_by_one = [sample.entity for sample in epic_cli.replay(iter(packets))]
    assert one_by_one == sorted(one_by_one)  # its end may never come
