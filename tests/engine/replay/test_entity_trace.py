from __future__ import annotations

import threading

import numpy as np
import pytest
from support import movements

from epic_cli import Packet, replay
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.replay import TooManyRows, Trace, separate
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.strategies import create
from epic_cli.metrics.arrays import (
    ARRIVAL,
    POSITION,
    TELEPORT,
    TIME,
    collect_rows,
    make_packet_table,
)


def trace(packets: list[Packet], **given: object) -> Trace:
    block = movements.block(packets)
    pacing = Timing().resolve(block.begins_with_arrival())
    return Trace(lambda: create("epic"), pacing, block, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("latency", [None, 0.08])
def test_a_trace_has_the_rows_of_a_replay(latency: float | None) -> None:
    packets = movements.packets(movements.circle, latency=latency)
    rows = np.asarray(trace(packets))
    samples = list(replay(packets))
    assert rows["time"].tolist() == [sample.time for sample in samples]
    assert rows["position"].tolist() == [list(sample.position) for sample in samples]
    assert rows["velocity"].tolist() == [list(sample.velocity) for sample in samples]
    names = ["none", "held", "interpolated", "extrapolated"]
    assert [names[status] for status in rows["status"]] == [sample.status for sample in samples]


def test_traces_longer_than_a_stretch_are_whole() -> None:
    packets = [Packet((0, 0, 0), (1, 0, 0), 0.0), Packet((1, 0, 0), (1, 0, 0), 10_000.0)]
    assert len(trace(packets)) > 200_000


def test_more_rows_than_allowed_are_refused() -> None:
    packets = [Packet((0, 0, 0), (1, 0, 0), 0.0), Packet((1, 0, 0), (1, 0, 0), 10_000.0)]
    with pytest.raises(TooManyRows, match=r"more than 100,000 rows") as caught:
        trace(packets, most=100_000)
    assert caught.value.most == 100_000


def test_a_trace_can_be_stopped() -> None:
    packets = [Packet((0, 0, 0), (1, 0, 0), 0.0), Packet((1, 0, 0), (1, 0, 0), 10_000.0)]
    assert len(trace(packets, stopped=lambda: True)) < 100_000


def test_the_rows_cannot_be_written_to() -> None:
    rows = np.asarray(trace(movements.packets(movements.circle, 1.0)))
    with pytest.raises(ValueError, match="read-only"):
        rows["time"][0] = 1


def test_rows_are_the_same_without_their_format() -> None:
    made = trace(movements.packets(movements.circle, 1.0))
    for rows in (collect_rows(made), collect_rows(made)):
        assert rows.dtype == np.asarray(made).dtype
        assert rows.tobytes() == np.asarray(made).tobytes() == bytes(made)
        assert not rows.flags.writeable
    assert len(collect_rows(trace([]))) == 0


def test_packets_without_a_place_on_the_clock_are_refused() -> None:
    packets = movements.packets(movements.circle, 1.0)
    packets[3] = packets[3]._replace(arrival=-5.0)
    made = trace(packets)
    assert [refusal.reason for refusal in made.refusals] == [Reason.ARRIVAL_GOES_BACK]


def test_traces_of_the_same_packets_run_in_parallel() -> None:
    block = movements.block(movements.packets(movements.circle, 60.0))
    found: dict[int, bytes] = {}

    def work(index: int) -> None:
        pacing = Timing().resolve(arrivals=True)
        made = Trace(lambda: create("epic", {"calc_ahead": index / 10}), pacing, block)
        found[index] = np.asarray(made).tobytes()

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = {}
    for index in (0, 1):
        work(index)
        alone[index] = found[index]
    assert found == alone
    assert found[0] != found[1]


def test_packets_are_separated_by_entity_in_their_order() -> None:
    entities = Entities()
    found: dict[str, PacketBlock] = {}
    for part in (0, 5):
        block = PacketBlock(entities)
        for k in range(part, part + 5):
            block.append(Packet((k, 0, 0), (0, 0, 0), k, entity="ab"[k % 2], teleport=k == 6))
        assert separate(block, found) == 5
    tables = {name: make_packet_table(one) for name, one in found.items()}
    assert tables["a"][TIME].tolist() == [0, 2, 4, 6, 8]
    assert tables["b"][POSITION][0].tolist() == [1, 3, 5, 7, 9]
    assert tables["a"][TELEPORT].tolist() == [0, 0, 0, 1, 0]
    assert np.isnan(tables["a"][ARRIVAL]).all()
