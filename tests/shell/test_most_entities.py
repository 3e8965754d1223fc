"""Recordings of too many entities: those with most packets are evaluated, and a note says so."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from support.running import epic

from epic_cli import Packet, inspect
from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.inspect.report import report
from epic_cli.jobs.inspect.run import Inspection
from epic_cli.recordings import Unreadable
from epic_cli.recordings.opening import load
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.shell.messages import Reporter


def recorded(path: Path, entities: int, seed: int) -> dict[str, list[float]]:
    """Return a recording whose entities have 1 to 60 packets, in any order, and its stamps."""
    draw = random.Random(seed)
    lengths = [draw.randint(1, 60) for _ in range(entities)]
    names = [f"p{n}" for n, length in enumerate(lengths) for _ in range(length)]
    draw.shuffle(names)
    stamps: dict[str, list[float]] = {}
    lines = []
    for number, name in enumerate(names):
        time = number / 1000
        stamps.setdefault(name, []).append(time)
        lines.append(f"{number},1,0 / 1,0,0 / {time} entity={name}\n")
    path.write_text("".join(lines))
    return stamps


def packets(block: PacketBlock) -> list[Packet]:
    """Return the packets of a block."""
    return [block[at] for at in range(len(block))]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("entities", "most"), [(40, 1), (40, 39), (40, 40), (40, 41), (900, 70)])
def test_those_with_most_packets(tmp_path: Path, entities: int, most: int, seed: int) -> None:
    path = tmp_path / "many.txt"
    stamps = recorded(path, entities, seed)
    said: list[str] = []
    found = load(str(path), ReadSpec(), Reporter("many", write=said.append), most=most)
    # the sort is stable: of equals the first to appear
    wanted = sorted(stamps, key=lambda name: -len(stamps[name]))[:most]
    assert {name: [packet.time for packet in packets(found[name])] for name in found} == {
        name: stamps[name] for name in wanted
    }
    assert all(
        {packet.entity for packet in packets(block)} == {name} for name, block in found.items()
    )
    sentence = f"the {most:,} with most packets of {entities:,} entities"
    assert any(sentence in word for word in said) == (most < entities)
    all_of_them = load(str(path), ReadSpec(max_entities=entities), Reporter("many"), most=most)
    assert set(all_of_them) == set(stamps)


@pytest.mark.parametrize("command", ["compare -s lerp", "tune -s lerp --trials 2", "diagnose"])
def test_a_report_says_who_is_not_in_it_and_how_all_are(tmp_path: Path, command: str) -> None:
    path = tmp_path / "many.csv"
    rows = (f"{n / 10},e{e},{n * e},0,0,{10 * e},0,0\n" for n in range(40) for e in range(5))
    path.write_text("time,entity,x,y,z,vx,vy,vz\n" + "".join(rows))
    words = [*command.split(), str(path)]
    done = epic(*words, "--read", "max_entities=2")
    said = "the 2 with most packets of 5 entities are judged; --read max_entities=5."
    assert said in " ".join(done.stdout.decode().split())
    assert b"entities are judged" not in epic(*words, "--read", "max_entities=5").stdout


def test_one_of_them_can_be_any(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    stamps = recorded(path, 300, 4)
    least = min(stamps, key=lambda name: len(stamps[name]))
    found = load(str(path), ReadSpec(), Reporter("many"), entity=least, most=5)
    assert Counter(packet.entity for packet in packets(found[least])) == {least: len(stamps[least])}
    with pytest.raises(Unreadable, match="there are: p0, p1, p10, p100 and 296 others"):
        load(str(path), ReadSpec(), Reporter("many"), entity="none", most=5)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_inspection_tells_of_those_with_most_packets(seed: int) -> None:
    chance = random.Random(seed)
    packets = [chance.choice((1, 2, 2, 3, 4)) for _ in range(1500)]
    order = [entity for entity, count in enumerate(packets) for _ in range(count)]
    chance.shuffle(order)
    found = inspect(
        Packet((entity, at, 0), None, at / 10, entity=f"e{entity}")
        for at, entity in enumerate(order)
    )
    appeared = {f"e{entity}": packets[entity] for entity in order}
    most = sorted(appeared, key=lambda one: -appeared[one])[:1000]  # of equals the first
    assert [row.entity for row in found.entities] == [name for name in appeared if name in {*most}]
    assert [entity.packets for entity in found.entities] == [
        appeared[entity.entity] for entity in found.entities
    ]
    assert found.all_entities == 1500
    assert len(found.paths) == 1000
    assert "the 1,000 with most packets of 1,500 entities" in report_text(found)


def test_a_marked_teleport_is_no_speed() -> None:
    times = [0.05 * n for n in range(40)]
    marked = [Packet((2 * t + 500 * (t >= 1), 0, 0), None, t, teleport=t == 1) for t in times]
    assert 1 in times
    found = inspect(marked)
    assert found.speeds is not None
    assert found.speeds.high == pytest.approx(2)
    found = inspect(packet._replace(teleport=False) for packet in marked)
    assert found.speeds is not None
    assert found.speeds.high > 1000


def report_text(found: Inspection) -> str:
    return str(report(found).parts)
