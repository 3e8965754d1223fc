"""Findings: each doubtful recording gives one finding, and correct ones give none."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import islice, pairwise, product
from pathlib import Path
from random import Random

import pytest
from support.places import SAMPLES
from support.running import epic

from epic_cli import Packet, inspect
from epic_cli.engine.contract import Vector
from epic_cli.engine.packets import PacketBlock
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import Statistics, simulate
from epic_cli.recordings.checks import take_new_findings
from epic_cli.recordings.findings import RecordingFinding
from epic_cli.recordings.reading import make_writer
from epic_cli.recordings.watch import RecordingMonitor

Change = Callable[[Packet], Packet]


def sent(path: str, rate: float = 20, speed: float = 5, size: float = 10) -> Iterator[Packet]:
    """Return two minutes of packets on a path, over a good link."""
    movement = PathMovement(PATHS[path](speed, size, 7), "")
    channel = Link(LinkConditions(), seed=7)
    statistics = Statistics()
    return simulate(movement, send_rate=rate, duration=120, channel=channel, statistics=statistics)


def told(packets: Iterator[Packet], most: int = 512) -> list[RecordingFinding]:
    block, watch = PacketBlock(), RecordingMonitor()
    for packet in islice(packets, most):
        block.append(packet)
    watch.observe(block)
    return take_new_findings(watch)


def turned(change: Callable[[float, float, float], Vector]) -> Change:
    """Return packets with changed velocities."""
    return lambda packet: packet._replace(velocity=change(*(packet.velocity or ())))


@pytest.mark.parametrize("path", PATHS)
def test_healthy_recordings_have_no_findings(path: str) -> None:
    for rate, (speed, size) in product(
        (2, 5, 10, 20, 60), ((1, 1), (5, 10), (20, 3), (100, 50), (0.05, 2))
    ):
        assert told(sent(path, rate, speed, size)) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda p: p._replace(time=p.time * 1e3), ("E201", "ms")),
        (lambda p: p._replace(time=p.time * 1e6), ("E201", "us")),
        (lambda p: p._replace(time=round(p.time * 1e3), velocity=None), ("E201", "ms")),
        (lambda p: p._replace(time=p.time + 1.7e9), ("E202", "")),
        (lambda p: p._replace(velocity=(0, 0, 0)), ("E301", "")),
        (turned(lambda x, y, z: (x / 60, y / 60, z / 60)), ("E302", "")),
        (turned(lambda x, y, z: (-x, -y, -z)), ("E304", "")),
        (turned(lambda x, y, z: (x, z, y)), ("E303", "xzy")),
        (turned(lambda x, y, z: (y, z, x)), ("E303", "zxy")),
    ],
)
def test_what_looks_wrong_is_found(change: Change, found: tuple[str, str]) -> None:
    findings = told(change(packet) for packet in sent("circle"))
    assert [(finding.code, finding.facts.get("name", "")) for finding in findings] == [found]


@pytest.mark.parametrize("seed", range(8))
def test_a_teleport_among_packets_in_disorder_is_no_excursion(seed: int) -> None:
    """A packet that arrives late is from where the entity was: it has not gone back there."""
    random = Random(seed)
    rate = random.choice([10, 20, 60])
    packets = [
        Packet((2 * n / rate + 40 * (n // 97 % 2), math.sin(n / rate), 0.0), None, n / rate)
        for n in range(512)
    ]
    packets.sort(key=lambda packet: packet.time + random.uniform(0, 6 / rate))
    codes = [finding.code for finding in told(iter(packets))]
    assert not {"E207", "E208"} & set(codes), codes


@pytest.mark.parametrize("seed", range(20))
def test_an_ease_there_and_back_is_no_excursion(seed: int) -> None:
    """Whoever eases to where somebody clicked, and is called back on the way, was there."""
    random = Random(seed)
    rate, share = random.choice([20, 30, 60]), random.uniform(0.1, 0.3)
    goals = [(random.uniform(-300, 300), random.uniform(-300, 300)) for _ in range(12)]
    turns, goal, (x, y) = {0: goals[0]}, goals[0], goals[0]
    for home, away in pairwise(goals):
        begin = max(turns) + random.randint(10, 60)
        turns |= {begin: away, begin + random.randint(2, 8): home}
        turns[max(turns) + random.randint(10, 60)] = away
    packets = []
    for n in range(max(turns) + 60):
        goal = turns.get(n, goal)
        x, y = x + share * (goal[0] - x), y + share * (goal[1] - y)
        packets.append(Packet((x, y, 0.0), None, n / rate))
    codes = [finding.code for finding in told(iter(packets))]
    assert not {"E207", "E208"} & set(codes), codes


def test_standing_entities_are_right() -> None:
    standing = (Packet((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), n / 20) for n in range(500))
    assert told(standing) == []


@pytest.mark.parametrize(
    ("step", "found"),
    [
        (0.0005, ["E209"]), (0.001, []), (1.0, []), (2.5, []), (8.33, ["E201"]), (16, ["E201"]),
        (5, ["E209"]), (10, ["E209"]), (16666.667, ["E201"]),
    ],
)  # fmt: skip
def test_a_rate_that_no_game_has_is_said(step: float, found: list[str]) -> None:
    """Times in whole seconds, as slow loggers write them, only give a question."""
    packets = (Packet((n * 1.0, 0.0, 0.0), None, n * step) for n in range(12))
    assert [finding.code for finding in told(packets)] == found


MARKS = [-1.0, 9999.0, -9999.0, -999.0, 0.0, 2147483647.0]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("axes", ["x", "yz", "xyz"])
def test_a_value_that_stands_for_none_is_found(mark: float, axes: str) -> None:
    def marked(packet: Packet) -> Packet:
        if int(packet.time * 20) % 13 != 5:
            return packet
        place = dict(zip("xyz", packet.position, strict=True)) | dict.fromkeys(axes, mark)
        return packet._replace(position=(place["x"], place["y"], place["z"]))

    moved = (
        packet._replace(position=(200 + x, 200 + y, 200 + z), velocity=None)
        for packet in sent("circle")
        for x, y, z in [packet.position]
    )
    (finding,) = told(map(marked, moved))
    assert (finding.code, finding.facts["value"]) == ("E207", mark)
    assert finding.facts["axis"] in axes


def test_rounded_positions_are_right() -> None:
    def rounded(packet: Packet) -> Packet:
        x, y, z = packet.position
        return packet._replace(position=(round(x, 1), round(y, 1), round(z, 1)))

    assert told(rounded(packet) for packet in sent("circle", 60)) == []


def text(change: Change) -> bytes:
    writer = make_writer("text")
    return b"".join(writer.format_row(change(packet)) for packet in islice(sent("circle"), 3000))


def test_a_finding_is_said_once() -> None:
    done = epic("--latency", "0", stdin=text(lambda p: p._replace(velocity=(0.0, 0.0, 0.0))))
    assert done.stderr.count(b"\n") == done.stderr.count(b"<stdin>: E301 ") == 1
    assert done.returncode == 0


@pytest.mark.parametrize(
    "sample", ["turn.txt", "jitter.txt", "hop.jsonl", "airliner.csv", "airliner.txt"]
)
def test_samples_have_no_findings(sample: str) -> None:
    assert epic("replay", SAMPLES / sample).stderr == b""


def test_unix_times_of_packet_text_are_found() -> None:
    lines = b"".join(b"%d,0,0 / 10,0,0 / 1700000000.%d\n" % (n, n) for n in range(10, 40))
    done = epic("--latency", "0", stdin=lines)
    assert b" E202 " in done.stderr


def test_a_unit_that_was_given_is_not_doubted() -> None:
    table = b"t,x,y\n" + b"".join(b"%d,%d,0\n" % (n * 100, n) for n in range(30))
    assert b" E201 " in epic("--latency", "0", stdin=table).stderr
    given = epic("--latency", "0", "--read", "unit=s", stdin=table)
    assert b"look" not in given.stderr


@pytest.mark.parametrize(("entities", "each"), [(30_000, 1), (15, 1), (3_000, 20), (20_000, 3)])
def test_an_entity_for_each_packet_is_found_at_the_end_only(
    tmp_path: Path, entities: int, each: int
) -> None:
    lines = ["time,entity,x,y,z,vx,vy,vz"]
    lines += [
        f"{step * 0.05 + index * 1e-6:.6f},n{index},{index},{step * 0.05:.2f},0,0,1,0"
        for step in range(each)
        for index in range(entities)
    ]
    recording = tmp_path / "many.csv"
    recording.write_text("\n".join(lines) + "\n")
    said = epic("replay", recording, "-f", "csv").stderr.decode()
    assert ("E102" in said) == (each == 1)


@pytest.mark.parametrize(
    ("times", "code"),
    [([0, 0.1, 0.05], "E109"), (range(0, 500, 50), "E201"), (range(0, 60, 10), "E209")],
)
def test_what_a_few_packets_show_is_said_by_every_command(times: list[float], code: str) -> None:
    data = "".join(f"{n},{n * n},0 / 1,0,0 / {time}\n" for n, time in enumerate(times)).encode()
    for words in (["convert", "--to", "csv"], ["replay", "--strict"], ["inspect"]):
        done = epic(*words, stdin=data)
        assert code.encode() in done.stderr + done.stdout, words


@pytest.mark.parametrize(
    ("times", "doubtful"),
    [
        ([0, 50, 100, 150], True), ([0, 16, 33], True), ([0, 50.5, 101], False),
        ([0, 1, 2, 3], False), ([0, 60, 120], False), ([0, 300, 600], False), ([0, 50], False),
    ],
)  # fmt: skip
def test_steps_that_are_plainly_milliseconds_need_few_packets(
    times: list[float], doubtful: bool
) -> None:
    data = "time,x,y\n" + "".join(f"{time},{n},0\n" for n, time in enumerate(times))
    assert (b"E201" in epic("inspect", stdin=data.encode()).stdout) == doubtful


@pytest.mark.parametrize("mark", ["-999", "0", "2147483647"])
def test_the_cure_of_a_value_that_stands_for_none_leaves_these_packets_out(mark: str) -> None:
    """The value is given in the file's unit, which the names state to be another one."""
    rows = [
        f"{n / 10},{mark},{mark}" if n % 9 == 4 else f"{n / 10},{90000 + 30 * n},{50000 - 20 * n}"
        for n in range(60)
    ]
    data = "\n".join(["time,x_mm,y_mm", *rows]).encode()
    before = epic("convert", "--to", "csv", stdin=data)
    assert f"try --read missing={mark}\n".encode() in before.stderr
    after = epic("convert", "--to", "csv", "--read", f"missing={mark}", stdin=data)
    assert b"E207" not in after.stderr
    assert after.stdout.count(b"\n") == 1 + 60 - 7


@pytest.mark.parametrize("name", ["location", "pos", "coords"])
def test_latitude_and_longitude_in_one_cell_are_doubted_and_the_proposal_reads_them(
    name: str, tmp_path: Path
) -> None:
    rows = [f'{n},a,"{59.33258 + n * 1e-5:.5f},{18.0649 + n * 6e-5:.5f}"' for n in range(12)]
    (tmp_path / "walk.csv").write_text("\n".join([f"time,player,{name}", *rows]) + "\n")
    (told,) = [row for row in inspect(tmp_path / "walk.csv").findings if row.code == "E210"]
    again = inspect(tmp_path / "walk.csv", read=told.read)
    assert not again.findings
    # a step of 1e-5 degrees north and 6e-5 east there
    assert again.entities[0].steps / 11 == pytest.approx(3.6, rel=0.1)


def test_a_small_place_is_not_on_a_globe(tmp_path: Path) -> None:
    rows = [f'{n / 10},"{0.5 + n / 100},{0.2 + n / 50}"' for n in range(40)]
    (tmp_path / "walk.csv").write_text("\n".join(["time,pos", *rows]) + "\n")
    assert "E210" not in {row.code for row in inspect(tmp_path / "walk.csv").findings}


def table(names: str, row: Callable[[int], tuple[object, ...]], count: int = 60) -> bytes:
    rows = (",".join(map(str, row(n))) for n in range(count))
    return "\n".join([names, *rows, ""]).encode()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((0, "0.0"), True), ((7, "7.0", 8, "8.0"), True), (("bob", "bob "), True),
        ((0, 1, "2.5"), False), (("1", "01"), False), (("a", "A", "a1"), False),
        (("-1", "1"), False),
    ],
)  # fmt: skip
def test_entities_spelled_twice(names: tuple[object, ...], found: bool) -> None:
    text = table("time,entity,x,y,z", lambda n: (n, names[n % len(names)], n, 0, 0))
    codes = [finding.code for finding in inspect(BytesIO(text)).findings]
    assert ("E111" in codes) == found


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("apart", [False, True])
def test_rows_that_stand_there_again(times: int, apart: bool) -> None:
    rows = [f"{n / 20},{n / 20 + 0.03},{n},0" for n in range(40)]
    repeated = rows * times if apart and times < 2 else [row for row in rows for _ in range(times)]
    text = "\n".join(["time,arrival,x,y", *repeated, ""])
    codes = [finding.code for finding in inspect(BytesIO(text.encode())).findings]
    assert ("E112" in codes) == (times > 1)


def test_what_the_network_brings_twice_is_none() -> None:
    rows = [f"{n / 20},{n / 20 + late},{n},0" for n in range(40) for late in (0.03, 0.05)]
    text = "\n".join(["time,arrival,x,y", *rows, ""])
    assert "E112" not in [each.code for each in inspect(BytesIO(text.encode())).findings]


@pytest.mark.parametrize("factor", [1, 1e3, 1e6, 1e9])
def test_arrivals_last_as_long_as_stamps(factor: float) -> None:
    text = table("t,recv,x,y", lambda n: (n / 20, (n / 20 + 0.03) * factor, n, 0))
    found = [each for each in inspect(BytesIO(text)).findings if each.code == "E211"]
    units = {1: [], 1e3: ["ms"], 1e6: ["us"], 1e9: ["ns"]}[factor]
    assert [each.read for each in found] == [f"arrival_unit={unit}" for unit in units]


@pytest.mark.parametrize("jitter", [0.0, 0.2])
def test_a_date_of_sending_beside_one_of_receiving_is_told(jitter: float) -> None:
    random, begin = Random(4), datetime(2026, 5, 1, 12, tzinfo=UTC)
    rows = []
    for n in range(60):
        sent = begin + timedelta(seconds=n)
        got = sent + timedelta(seconds=0.1 + random.uniform(0, jitter))
        rows.append(
            f'{{"receivedAt": "{got.isoformat()}", "data": {{"at": "{sent.isoformat()}",'
            f' "born": "1999-01-{n % 28 + 1:02}T00:00:00Z", "x": {n}, "y": 0}}}}\n'
        )
    found = inspect(BytesIO("".join(rows).encode())).findings
    said = [(each.code, each.read) for each in found if each.code in ("E212", "E215")]
    assert said == [("E212", "time=data.at,arrival=receivedAt,unit=iso")] * (jitter > 0)


@pytest.mark.parametrize("rate", [1, 20, 21, 60])
def test_a_count_that_is_taken_for_seconds_is_told_with_its_rate(rate: int) -> None:
    text = table("t,recv,x,y", lambda n: (7 + n, n / rate + 0.03, n, 0))
    found = [each.read for each in inspect(BytesIO(text)).findings if each.code == "E201"]
    assert found == ([f"unit=ticks@{rate}"] if rate in (20, 60) else [])


@pytest.mark.parametrize(
    ("jitter", "step", "found"), [(0.04, 3, True), (0.002, 3, False), (0.04, 0, False)]
)
def test_times_that_a_logger_wrote_are_not_the_senders(
    jitter: float, step: int, found: bool
) -> None:
    random = Random(4)

    def write(n: int) -> tuple[object, ...]:
        at = n / 20 + jitter * random.random()
        return f"2026-03-01T14:{int(at) // 60:02d}:{at % 60:09.6f}Z", n * step, n, 0

    findings = inspect(BytesIO(table("timestamp,tick,x,y", write, 200))).findings
    reads = [finding.read for finding in findings if finding.code == "E212"]
    assert reads == ["time=tick,arrival=timestamp,unit=ticks@60,arrival_unit=iso"] * found


@pytest.mark.parametrize("unit", ["s", "ms", "us", "100ns"])
@pytest.mark.parametrize("known", ["sent", "came"])
@pytest.mark.parametrize("apart", [0.0, 86400.0])
def test_a_second_clock_is_the_arrival_or_the_stamp(unit: str, known: str, apart: float) -> None:
    """The steadier clock is the sender's, whichever of the two was taken for the time."""
    random, factor = Random(5), {"s": 1, "ms": 1e3, "us": 1e6, "100ns": 1e7}[unit]

    def write(n: int) -> tuple[object, ...]:
        sent, came = n / 20, n / 20 + 0.05 + 0.03 * random.random() + apart
        clocks = {"sent": (sent, came * factor), "came": (came, sent * factor)}[known]
        return *clocks, n, 0, 9.81

    findings = inspect(BytesIO(table("time,reloj,x,y,g", write, 200))).findings
    found = {finding.code: finding.read for finding in findings}
    own = "" if unit == "s" else f",arrival_unit={unit}"
    other = "unit=s" if unit == "s" else f"unit={unit},arrival_unit=s"
    reads = {"sent": ("E215", f"arrival=reloj{own}"), "came": ("E212", "time=reloj,arrival=time")}
    code, read = reads[known]
    assert found[code] == (read if known == "sent" else f"{read},{other}")


@pytest.mark.parametrize("column", ["copy", "count", "age", "noise", "rounded"])
def test_what_is_no_second_clock_is_none(column: str) -> None:
    random = Random(6)

    def write(n: int) -> tuple[object, ...]:
        sent = n / 20
        values = {
            "copy": sent * 1000 + 7, "count": n, "age": 100 - sent, "noise": random.random(),
            "rounded": round(sent, 4),
        }  # fmt: skip
        return sent, values[column], n, 0

    findings = inspect(BytesIO(table(f"time,{column},x,y", write, 200))).findings
    assert not {"E212", "E215"} & {finding.code for finding in findings}


def test_doubt_is_said_first_where_the_answer_is(tmp_path: Path) -> None:
    file = tmp_path / "ms.csv"
    file.write_bytes(table("ts,recv,x,y", lambda n: (n * 50, n * 50 + 33, n, 0), 100))
    said = epic("diagnose", str(file)).stdout.decode()
    assert "nothing wrong" not in said
    assert said.index("E201") < said.index("messages a second")
    assert (
        '"in_doubt"' in epic("diagnose", "-f", "jsonl", str(file)).stdout.decode().splitlines()[0]
    )


@pytest.mark.parametrize(
    ("ticks", "read"),
    [
        (range(30), True),
        ([number // 2 for number in range(60)], True),  # of several entities
        ([*range(20), *range(21, 40)], False),  # packets, or ticks of which nothing was sent
        (range(0, 90, 3), False),
        ([7] * 30, False),
    ],
)
def test_consecutive_ticks_are_sequence_numbers(ticks: Sequence[int], read: bool) -> None:
    rows = [f"{tick},{at * 0.05:.2f},{at},0" for at, tick in enumerate(ticks)]
    table = "\n".join(["tick,t,x,y", *rows, ""]).encode()
    assert (b"seq=tick" in epic("inspect", stdin=table).stdout) is read
    lines = [
        f'{{"tick": {tick}, "t": {at * 0.05:.2f}, "x": {at}, "y": 0}}'
        for at, tick in enumerate(ticks)
    ]
    assert (b"seq=tick" in epic("inspect", stdin="\n".join(lines).encode()).stdout) is read


def test_a_few_events_among_the_states_are_told_apart_by_their_column() -> None:
    rows = ["time,x,y,z,what"]
    for number in range(60):
        time = number / 20
        rows.append(f"{time},{5 * time:.3f},{time * time:.3f},0,move")
        if number in (10, 25, 40):
            rows.append(f"{time},{90 - number},-40,0,shot")
    (found,) = inspect(BytesIO("\n".join(rows).encode())).findings
    assert (found.code, found.read, found.lines) == ("E101", "entity=what", (12, 13))
    seen = "3 packets have the time of the packet before, at another place"
    assert found.facts == {"seen": seen, "column": "what tells them apart"}


@pytest.mark.parametrize(("time", "codes"), [(0.0, []), (-1.0, ["E105"])])
def test_entities_may_begin_at_one_time(time: float, codes: list[str]) -> None:
    packets = [
        Packet((1.0, 2.0, 0.0), None, at, entity=name) for at, name in ((0, "a"), (time, "b"))
    ]
    assert [finding.code for finding in told(iter(packets))] == codes


def test_the_first_packet_without_numbers_is_named() -> None:
    packets = [
        Packet((x, 0.0, 0.0), None, k / 10) for k, x in enumerate((0, math.inf, math.nan, 1))
    ]
    assert [(one.code, one.lines) for one in told(iter(packets))] == [("E206", (2,))]
