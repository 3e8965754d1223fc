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


@pytest.mark.parametrize("strategy", ["source", "quake3"])
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
