"""``diagnose`` from Python: what it takes and gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from epic_cli import Packet, diagnose, explain, read_packets
from epic_cli.app import main

SAMPLE = Path(__file__).parents[2] / "sample_inputs" / "jitter.txt"


def test_it_finds_what_the_command_finds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "-s", "gambetta", "--format", "jsonl", str(SAMPLE)]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = diagnose(SAMPLE, "gambetta")
    assert [one.cause for one in found.findings] == ["delay-buffer", "loss"]
    for one, line in zip(found.findings, told, strict=True):
        assert dict(one.values) == line["values"]
        assert explain(one) == (line["title"], line["what"], line["effect"], line["cure"])
    assert diagnose(read_packets(SAMPLE), ["gambetta"]) == found


def test_a_span_is_all_that_is_looked_at() -> None:
    (found,) = diagnose(SAMPLE, span=(0.0, 4.9)).findings
    assert found.worst == 1.55
    assert diagnose(SAMPLE, span=(2.0, 4.9)).findings == ()


def test_what_cannot_be_looked_at_is_refused() -> None:
    few = [Packet((0.0, 0.0, 0.0), None, t / 20) for t in range(19)]
    with pytest.raises(ValueError, match=r"there are 19 packets of one entity$"):
        diagnose(few)
    with pytest.raises(ValueError, match=r"20 packets: there are no packets$"):
        diagnose([])
    with pytest.raises(ValueError, match=r"38 packets of 2 entities$"):
        diagnose([*few, *(one._replace(entity="b") for one in few)])
    with pytest.raises(ValueError, match="190 packets of one entity, with too few different times"):
        diagnose(few * 10)
    with pytest.raises(ValueError, match="did you mean 'source'"):
        diagnose(SAMPLE, "sorce")
    with pytest.raises(TypeError):
        diagnose(None)  # type: ignore[arg-type]
