"""The parts of the proxy that need no socket."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from epic_cli.live.proxy.run import DelayQueue, Flow, TrafficLog
from epic_cli.live.proxy.spec import Direction, LinkController
from epic_cli.network import Link, LinkConditions
from epic_cli.network.link import WAYS
from epic_cli.network.link_spec import TwoWays, parse_word


def flow(
    conditions: LinkConditions, waiting: DelayQueue, log: TrafficLog | None = None
) -> tuple[Flow, Direction, list[bytes]]:
    """A client's way up, with its counts and what it has sent."""
    sent: list[bytes] = []

    def send(data: bytes) -> None:
        if data == b"too long":
            raise OSError(errno.EMSGSIZE, "Message too long")
        sent.append(data)

    direction = Direction("up", conditions)
    made = Flow(direction, Link(conditions), send, waiting, 28, "1,127.0.0.1:5", log)
    return made, direction, sent


def deliver(waiting: DelayQueue, until: float = 1e9) -> None:
    """Delivers what is due by then, each a millisecond and a half late."""
    while (due := waiting.due) is not None and due <= until:
        flight = waiting.pop()
        flight.deliver(flight, lambda due=due: due + 0.0015)  # type: ignore[misc]


def test_equal_times_keep_the_order_and_counts_are_of_what_was_sent() -> None:
    waiting = DelayQueue()
    made, direction, sent = flow(LinkConditions(latency=0.1), waiting)
    for data in (b"1", b"2", b"too long", b"3"):
        made.take(data, 5.0)
    made.take(b"a clock that was set back", 4.0)
    deliver(waiting)
    assert sent == [b"1", b"2", b"3", b"a clock that was set back"]
    assert (direction.sent, direction.arrived, direction.late, direction.waiting) == (5, 4, 4, 0)
    assert direction.unsent == {"Message too long": 1}
    assert direction.requested.delay(1) == pytest.approx(0.1)
    assert direction.delay(1) == pytest.approx(0.1015, abs=1e-3)
    assert made.flying == 0


def test_memory_has_an_end() -> None:
    waiting = DelayQueue(most=10_000)
    made, direction, sent = flow(LinkConditions(latency=60), waiting)
    for _ in range(100):
        made.take(b"x" * 1000, 1.0)
    assert direction.overflowed == direction.lost == 93
    deliver(waiting)
    assert len(sent) == 7
    made.take(b"x" * 1000, 2.0)
    assert direction.lost == 93


def test_lines_are_in_the_order_of_arrival_whatever_overtakes_what(tmp_path: Path) -> None:
    file, waiting = tmp_path / "log.csv", DelayQueue()
    log = TrafficLog(str(file), payload=True)
    made, direction, _ = flow(LinkConditions(latency=0.1, reorder=0.5), waiting, log)
    for number in range(20):
        made.take(b"%d" % number, number / 100)
        deliver(waiting, number / 100)
        log.write()
        text = file.read_bytes()
        assert text.endswith(b"\n")
        lines = text.splitlines()[1:]
        assert [bytes.fromhex(line.split(b",")[-1].decode()) for line in lines] == [
            b"%d" % n for n in range(len(lines))
        ]
    assert 0 < log.file.recorded < 20
    log.end()
    assert log.file.recorded == 20
    flying = [line for line in file.read_text().splitlines() if ",flying," in line]
    assert len(flying) == direction.waiting > 0
    assert all(line.split(",")[1:3] == ["", "1"] for line in flying)


def test_keys_change_one_direction_within_bounds() -> None:
    steering = LinkController(TwoWays.both(LinkConditions(latency=0.015, loss=0.99)))
    steering.add("loss", 0.02, WAYS)
    steering.add("latency", -0.01, ["up"])
    steering.add("latency", -0.01, ["up"])
    up, down = (steering.directions[way].conditions for way in WAYS)
    assert (up.latency, up.loss, down.latency, down.loss) == (0, 1, 0.015, 1)
    steering.set([parse_word("gemodel=1%,30%")])
    steering.add("loss", 0.01, ["down"])
    assert steering.directions["down"].conditions.loss == 0.01
    steering.next_preset(-1)
    steering.next_preset(1)
    assert steering.preset == "broadband"
    steering.reset()
    assert steering.preset == ""
    assert {steering.directions[way].conditions.loss for way in WAYS} == {0.99}


def test_wrong_words_change_nothing() -> None:
    steering = LinkController(TwoWays.both(LinkConditions(latency=0.015)))
    for words in ("latency=1 up.packet_size=7", "loss=1 loss=2%", "jitter=1 gemodel=9", "x=1"):
        with pytest.raises(ValueError, match=r"packet_size|twice|gemodel|no 'x'"):
            steering.set_words(words)
        assert steering.ways == TwoWays.both(LinkConditions(latency=0.015))
    with pytest.raises(ValueError, match="at 3 s: loss_correlation"):
        LinkController(
            TwoWays(),
            [(3.0, (("loss_correlation", 0.5),)), (2.0, (parse_word("gemodel=1%,9%"),))],
        )
