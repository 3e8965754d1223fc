"""An entity's rows do not depend on which other entities of its file are drawn."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.connections import KINDS, connection
from support.running import epic

from epic_cli import Packet


def text(packets: list[Packet]) -> str:
    """Write packet text."""
    return "".join(
        f"{','.join(map(repr, one.position))} / {','.join(map(repr, one.velocity or ()))} /"
        f" {one.time!r} arrival={one.arrival!r} entity={one.entity}{' teleport=1' * one.teleport}\n"
        for one in packets
    )


def rows(*words: str, folder: Path) -> dict[str, list[dict[str, str]]]:
    done = epic("replay", "-f", "csv", "--tick", "60hz", *words, cwd=folder)
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(done.stdout.decode())):
        found.setdefault(row["entity"], []).append(row)
    return found


@pytest.mark.parametrize("strategy", ["source", "mirror", "quake3", "unity-ngo", "geckos"])
def test_an_entity_is_drawn_alone_as_it_is_with_all(tmp_path: Path, strategy: str) -> None:
    for kind in ("goes silent", "three"):
        packets = connection(kind, jitter=0.03, apart=True, teleports=True)
        (tmp_path / "all.txt").write_text(text(packets))
        grouped = sorted(packets, key=lambda packet: packet.entity)
        (tmp_path / "grouped.txt").write_text(text(grouped))
        together = rows("-s", strategy, "all.txt", folder=tmp_path)
        assert together.keys() == KINDS[kind].keys()
        for entity, expected in together.items():
            for file in ("all.txt", "grouped.txt"):
                alone = rows("-s", strategy, "--entity", entity, file, folder=tmp_path)
                assert alone.keys() == {entity}
                assert alone[entity] == expected[: len(alone[entity])]
                assert len(alone[entity]) > 50
        by_entity = rows("-s", strategy, "grouped.txt", folder=tmp_path)
        for entity, expected in together.items():
            assert by_entity[entity] == expected[: len(by_entity[entity])]


def figures(*words: str, folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the figures of each entity and strategy, as a comparison writes them."""
    names = "source,mirror,quake3,geckos,unity-ngo,lightyear,hermite,ddnet"
    # a warm-up of its own, which otherwise depends on how long the judged entities are there
    how = ("-q", "-f", "csv", "--warm-up", "0.5", "-s", names)
    done = epic("compare", *how, *words, "all.txt", cwd=folder)
    kept = ("error", "lag", "residual", "jumps", "jerk", "held", "extrapolated", "none", "rows")
    return {
        (row.get("entity", ""), row["strategy"]): {name: row[name] for name in kept}
        for row in csv.DictReader(io.StringIO(done.stdout.decode()))
    }


def test_an_entity_is_compared_alone_as_it_is_with_all(tmp_path: Path) -> None:
    packets = connection("goes silent", jitter=0.03, apart=True)
    (tmp_path / "all.txt").write_text(text(packets))
    together = figures("--by", "entity", folder=tmp_path)
    entities = {entity for entity, _ in together}
    assert entities == KINDS["goes silent"].keys()
    for entity in entities:
        alone = figures("--entity", entity, folder=tmp_path)
        assert {name: row for (_, name), row in alone.items()} == {
            name: row for (of, name), row in together.items() if of == entity
        }
