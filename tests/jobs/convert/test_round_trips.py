"""Round trips: a command's output is read by another as the same packets, or was refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.running import epic
from support.typed_session import TypedSession

from epic_cli import Packet
from epic_cli.recordings import list_packet_formats
from epic_cli.recordings.reading import make_reader, make_writer

NAMES = ["a#b", "#", "a=b", "a,b", '"', "tänk", "entity=a", "\N{PILE OF POO}"]


def entities(recording: bytes) -> set[str]:
    """Return the entities that ``epic replay`` finds in a recording."""
    done = epic("replay", "--format", "jsonl", stdin=recording)
    assert (done.returncode, done.stderr) == (0, b"")
    return {json.loads(line)["entity"] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("packet_format", ["csv", "jsonl"])
def test_a_name_that_packet_text_cannot_hold_fits_elsewhere(packet_format: str) -> None:
    args = ["simulate", "--quiet", "--movement", "duration=1,entity=tank 7"]
    assert entities(epic(*args, "--format", packet_format).stdout) == {"tank 7"}
    refused = epic(*args)
    assert refused.returncode == 2
    assert b"cannot hold the entity's name 'tank 7'" in refused.stderr
    assert b"choose csv or jsonl" in refused.stderr


@pytest.mark.parametrize("packet_format", list_packet_formats())
def test_what_a_session_saves_is_what_it_loaded(tmp_path: Path, packet_format: str) -> None:
    packets = [
        Packet((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), k / 10, k / 10, name, k % 2 == 1, k)
        for k, name in enumerate(NAMES)
    ]
    writer = make_writer(packet_format)
    loaded, saved = tmp_path / "loaded", tmp_path / "saved"
    loaded.write_bytes(writer.header + b"".join(map(writer.format_row, packets)))
    output = TypedSession().type(f":load {loaded}", f":save {saved}")
    assert f"{len(NAMES)} packets taken" in output
    block = make_reader("text").scan(saved.read_bytes(), final=True)
    assert [block[index] for index in range(len(block))] == packets
