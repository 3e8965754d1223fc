"""Packets of unknown senders are admitted or refused."""

import math
import random
from array import array
from types import SimpleNamespace
from typing import Literal, cast

import pytest

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.live.reports import describe_clock_reset
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.ingest import Decoded, Decoder, Ingest, IngestSpec
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import ReadSpec

STILL = (0.0, 0.0, 0.0)
NEVER = -math.inf


def packet(time: float, entity: str = "", x: float = 0.0) -> Packet:
    return Packet((x, 0.0, 0.0), STILL, time, entity=entity)


def admit(
    gate: Ingest, one: Packet, machine: float, earliest: float = NEVER, sender: int = 0
) -> Packet | Refused:
    """Ingest a packet in a datagram of its own."""
    block = PacketBlock()
    block.append(one)
    before = gate.counts.refused.copy()
    into = admitted(gate, Decoded(0, array("I", [1]), block), [machine], earliest, sender)
    if len(into):
        return into[0]
    (reason,) = gate.counts.refused - before
    return reason


def admitted(
    gate: Ingest, decoded: Decoded, times: list[float], earliest: float = NEVER, sender: int = 0
) -> PacketBlock:
    """Return the packets that are admitted of datagrams with these arrival times."""
    into = PacketBlock(gate.entities)
    gate.admit(decoded, array("d", times), array("i", [sender] * len(times)), earliest, into)
    return into


def test_the_clock_starts_with_the_first_packet_and_no_forgery_moves_it() -> None:
    gate = Ingest(IngestSpec(max_entities=2))
    assert gate.convert_time(100.0) is None
    for time in (math.nan, math.inf, 1e308, -1e308, 1e12):
        assert admit(gate, packet(time), 100.0) in (Refused.NOT_FINITE, Refused.FAR_TIME)
    assert gate.convert_time(100.0) is None
    first = admit(gate, packet(7.0), 100.0)
    assert isinstance(first, Packet)
    assert first.arrival == 7.0
    assert gate.convert_time(101.0) == 8.0
    forged = (math.nan, 1e308, 0.0 - 3600, 8 + 3601.0)
    assert {admit(gate, packet(time), 101.0) for time in forged} == {
        Refused.NOT_FINITE,
        Refused.FAR_TIME,
    }
    assert admit(gate, packet(8.0, x=math.inf), 101.0) is Refused.NOT_FINITE
    second = admit(gate, packet(7.5), 101.25)
    assert isinstance(second, Packet)
    assert (second.time, second.arrival) == (7.5, 8.25)
    assert gate.counts[1:3] == (2, 0)
    admit(gate, packet(7.25), 101.5)
    assert gate.counts[1:3] == (3, 1)


def test_arrivals_do_not_go_back_nor_before_what_is_drawn() -> None:
    gate = Ingest(IngestSpec(max_entities=2))
    times = [(10.0, NEVER), (10.5, NEVER), (10.4, NEVER), (10.6, 0.7)]
    found = [admit(gate, packet(0.0), machine, drawn) for machine, drawn in times]
    assert [packet.arrival for packet in found if isinstance(packet, Packet)] == [0, 0.5, 0.5, 0.7]


def test_each_packet_arrives_with_its_datagram() -> None:
    lines = [b"0,0,0 / 0,0,0 / 1 entity=%c" % name for name in b"abcd"]
    datagrams = [lines[0], b"\n".join(lines[1:3]), lines[3]]
    (decoded,) = Decoder().read(datagrams)
    into = admitted(Ingest(IngestSpec()), decoded, [1.0, 2.0, 4.0])
    assert [into[index].arrival for index in range(4)] == [1, 2, 2, 4]


def test_unix_times_count_from_the_first_unless_an_origin_is_given() -> None:
    unix = 1_700_000_000.25
    origins: list[tuple[float | Literal["first"] | None, float]] = [
        (None, 0.0),
        ("first", 0.0),
        (1.7e9, 0.25),
        (0.0, unix),
    ]
    for origin, expected in origins:
        found = admit(Ingest(IngestSpec(read=ReadSpec(time_origin=origin))), packet(unix), 5.0)
        assert isinstance(found, Packet)
        assert (found.time, found.arrival) == (expected, expected)


@pytest.mark.parametrize("stamp", [-1.7e9, 0.0, 8.9e8, 9e8, 5e9, 5.1e9])
def test_only_stamps_of_the_years_1998_to_2128_are_unix_times(stamp: float) -> None:
    found = admit(Ingest(IngestSpec()), packet(stamp), 5.0)
    assert isinstance(found, Packet)
    assert found.time == (0 if 9e8 <= stamp <= 5e9 else stamp)


def test_names_are_bounded() -> None:
    gate = Ingest(IngestSpec(max_entities=2))
    long = "d" * 64  # as long as a hash in hexadecimal digits
    names = ["a", "\x1b[2J", "b" * 65, " c", long, *(f"e{n}" for n in range(10000)), "a", long]
    block = PacketBlock()
    for name in names:
        block.append(packet(0.0, name))
    into = admitted(gate, Decoded(0, array("I", [1]), block), [1.0])
    assert [into[index].entity for index in range(len(into))] == ["a", long, "a", long]
    assert gate.counts.refused == {Refused.BAD_NAME: 3, Refused.TOO_MANY_ENTITIES: 10000}
    assert len(gate.entities) == 2
    other = Ingest(IngestSpec(entity="x", single_entity=True))
    block = PacketBlock()
    block.append(packet(0.0, "y"))
    assert not len(admitted(other, Decoded(0, array("I", [1]), block), [1.0]))
    assert not other.counts.refused
    single = Ingest(IngestSpec(single_entity=True))
    assert isinstance(admit(single, packet(0.0, "y"), 1.0), Packet)
    assert admit(single, packet(0.0, "z"), 1.0) is Refused.SECOND_ENTITY


@pytest.mark.parametrize("seed", range(8))
def test_times_that_start_over_go_on(seed: int) -> None:
    """Milliseconds in 16 bits: of two senders, with silences and late packets."""
    chance = random.Random(seed)
    records = SimpleNamespace(time_span=65.536)
    gate = Ingest(IngestSpec(records=cast(RecordLayout, records)))
    sent: list[tuple[float, int, float]] = []
    begin = chance.uniform(0, 65)
    for sender in (0, 1):
        now = 0.0
        for _ in range(400):
            now += chance.choice((0.05, 0.05, 0.05, 0.3, 20.0, 90.0))
            sent.append((now + 0.1 + chance.random() * 0.15, sender, begin + sender + now))
    sent.sort()
    shifts: dict[int, set[int]] = {0: set(), 1: set()}
    for arrival, sender, true in sent:
        stamp = int(true * 1000)
        found = admit(gate, packet(stamp % 65536 / 1000), 50 + arrival, sender=sender)
        assert isinstance(found, Packet)
        shifts[sender].add(round(found.time * 1000) - stamp)
    assert [len(shift) for shift in shifts.values()] == [1, 1]  # each goes on from its first packet
    assert gate.counts.clock_resets == 0


@pytest.mark.parametrize("back", [5.0, 15.0, 500.0])
def test_a_game_that_starts_again_has_no_delay(back: float) -> None:
    gate = Ingest(IngestSpec())
    for index in range(400):
        now = 600 + index / 20
        admit(gate, packet(now - back * (index >= 200)), now)
    counts = gate.counts
    assert (counts.packets, counts.clock_resets) == (400, 1)
    assert counts.delays.delay(1) - counts.delays.delay(0) < 0.001


def test_a_link_that_stands_still_has_a_delay() -> None:
    gate = Ingest(IngestSpec())
    for index in range(400):
        now = 600 + index / 20
        admit(gate, packet(now), max(now, 612.5) if now >= 610 else now)
    counts = gate.counts
    assert (counts.packets, counts.clock_resets) == (400, 0)
    assert counts.delays.delay(1) - counts.delays.delay(0) == pytest.approx(2.5, abs=0.06)


def times_of(
    gate: Ingest, machine: float, times: list[float], sender: int = 0
) -> list[float | Refused]:
    """Return the accepted times, or the refusals, of packets that come every tenth of a second."""
    found: list[float | Refused] = []
    for index, time in enumerate(times):
        one = admit(gate, packet(time), machine + index / 10, sender=sender)
        found.append(one if isinstance(one, Refused) else round(one.time, 9))
    return found


def tenths(begin: float, count: int) -> list[float]:
    return [begin + index / 10 for index in range(count)]


def test_a_game_that_is_started_again_goes_on_at_the_receivers_clock() -> None:
    gate = Ingest(IngestSpec())
    assert times_of(gate, 50, tenths(600, 10)) == pytest.approx(tenths(600, 10))
    # it begins at 0 again, 3 s later: late ones until it is sure
    again = times_of(gate, 54, tenths(0, 10))
    assert again == pytest.approx([*tenths(0, 5), *tenths(604.5, 5)])
    assert gate.counts.clock_resets == 1
    assert gate.counts.clock_step == pytest.approx(604.0)
    # its last packets that were held up on their way are late ones, and no reason to turn back
    assert times_of(gate, 55, [0.2, 1.1, 1.2]) == pytest.approx([604.2, 605.1, 605.2])
    # it stands still for 7 s
    assert times_of(gate, 62.3, tenths(1.3, 10))[-1] == pytest.approx(613.2)
    # its clock jumps ahead
    ahead = times_of(gate, 63.3, tenths(9000, 10))
    assert ahead[:5] == [Refused.FAR_TIME] * 5
    assert ahead[5:] == pytest.approx(tenths(613.8, 5))
    assert gate.counts.clock_resets == 3
    # more than an hour back, and by a program that is another sender
    assert times_of(gate, 64.3, tenths(0, 10), sender=1)[5:] == pytest.approx(tenths(614.8, 5))


def test_delays_however_long_are_not_another_clock() -> None:
    for times in (
        [*tenths(600, 5), 0.0, *tenths(600.6, 5), 590.0, 9000.0, *tenths(601.3, 5)],  # forged ones
        [600 + index / 10 - max(0, index - 5) ** 2 / 50 for index in range(60)],  # a queue fills
        [*tenths(600, 5), *tenths(590, 5), *tenths(601, 5)],  # not for half a second
        [*tenths(600, 5), *[560.5 + 3 * (index % 2) for index in range(30)]],  # no clock at all
        [*tenths(600, 5), *[9000.0] * 30],  # one that stands still
    ):
        gate = Ingest(IngestSpec())
        times_of(gate, 50, times)
        assert gate.counts.clock_resets == 0


def drift(rate: float, seconds: int, jitter: float) -> float | None:
    """Return the drift that is found in a clock that is this much too slow, with random delays."""
    gate = Ingest(IngestSpec())
    state = 12345
    for index in range(seconds * 10):
        now = index / 10
        state = state * 1103515245 % 2**31
        late = jitter * (state / 2**31) ** 2
        admit(gate, packet(now * (1 - rate)), 50 + now + late)
    return gate.counts.drifts[0]


def test_the_drift_of_a_senders_clock_is_told_by_the_shortest_delays() -> None:
    for rate in (500e-6, -500e-6):
        found = drift(rate, 120, 0.05)
        assert found is not None
        assert abs(found - rate) < 50e-6
    assert drift(0, 120, 0.05) == 0
    assert drift(500e-6, 5, 0.05) is None
    assert abs((drift(2e-4, 700, 0.05) or 0) - 2e-4) < 1e-5


def test_a_clock_that_begins_to_drift_has_the_drift_of_most_of_the_time() -> None:
    gate = Ingest(IngestSpec())
    for index in range(1024):  # exact sums: what lies on a line is a line
        now = index / 8
        admit(gate, packet(now - max(now - 32, 0) / 2048), 50 + now)
    assert gate.counts.drifts[0] == pytest.approx(1 / 2048, rel=1e-3)


@pytest.mark.parametrize("late", [0.02, 0.3])
def test_a_first_packet_that_was_late_is_reported(late: float) -> None:
    gate = Ingest(IngestSpec())
    admit(gate, packet(0.0), 100 + late)
    for number in range(10, 40):
        admit(gate, packet(number / 20), 100 + number / 20)
    assert ("the first packet" in describe_clock_reset(gate.counts)) == (late > 0.1)
