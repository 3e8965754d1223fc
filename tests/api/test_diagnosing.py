"""``diagnose`` from Python: its arguments and its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.recordings import few_of

from epic_cli import Packet, RecordingWarning, diagnose, explain, link_of, read_packets, replay
from epic_cli.main import main

SAMPLE = Path(__file__).parents[2] / "sample_inputs" / "jitter.txt"


def test_it_finds_what_the_command_finds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "-s", "gambetta", "--format", "jsonl", str(SAMPLE)]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = diagnose(SAMPLE, "gambetta")
    assert [finding.cause for finding in found.findings] == ["delay-buffer", "loss"]
    for one, line in zip(found.findings, told, strict=True):
        assert dict(one.values) == line["values"]
        assert explain(one) == (line["title"], line["what"], line["effect"], line["cure"])
    assert diagnose(read_packets(SAMPLE), ["gambetta"]) == found


def test_what_makes_the_recording_doubtful_is_in_it() -> None:
    packets = [Packet((k, 0, 0), (1, 0, 0), float(20 * k)) for k in range(40)]
    with pytest.warns(RecordingWarning, match="E302|E201"):
        found = diagnose(packets)
    assert found.doubts
    assert {finding.code for finding in found.in_recording} >= set(found.doubts)
    assert diagnose(SAMPLE).in_recording == ()


def test_a_span_is_all_that_is_looked_at() -> None:
    (found,) = diagnose(SAMPLE, span=(0.0, 4.9)).findings
    assert found.worst == 1.55
    assert diagnose(SAMPLE, span=(2.0, 4.9)).findings == ()


@pytest.mark.parametrize("given", few_of(["rows", "samples", "packets", "table"], 2))
def test_what_was_drawn_is_recognised(given: str, tmp_path: Path) -> None:
    samples = list(replay(SAMPLE, "lerp", tick="1/60"))
    drawn: Any = samples
    if given == "packets":
        drawn = [Packet(sample.position, None, sample.time) for sample in samples]
    elif given == "rows":
        drawn = tmp_path / "rows.txt"
        form = "pos: {0},{1},{2}  vel: 0.0,0.0,0.0  time: {3}"
        drawn.write_text(
            "\n".join(form.format(*sample.position, sample.time) for sample in samples) + "\n"
        )
    elif given == "table":
        drawn = tmp_path / "rows.csv"
        lines = (
            f"{sample.time + 5},{sample.position[0]},{sample.position[1]},0" for sample in samples
        )
        drawn.write_text("\n".join(["time,x,y,z", *lines]) + "\n")
    offset: dict[str, Any] = {"drawn_offset": -5.0} if given == "table" else {}
    found = diagnose(SAMPLE, drawn=drawn, **offset).drawn
    assert found is not None
    # a composition draws what lerp draws, and says how; the engine stands beside it
    assert "lerp" in {found.best.candidate.name, *(spec.name for spec in found.same_as)}
    assert found.found
    assert found.best.shift == pytest.approx(0.0, abs=0.01)
    assert not found.smoothed
    assert diagnose(SAMPLE).drawn is None


def test_drawings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ValueError, match="it has 1 usable frame"):
        diagnose(SAMPLE, drawn=[Packet((0.0, 0.0, 0.0), None, 1.0)])


def test_the_link_makes_what_was_recorded() -> None:
    found = link_of(SAMPLE)
    assert found.rate == 20
    assert found.conditions.loss == 0.05
    assert found.lost == 5
    assert link_of(read_packets(SAMPLE)) == found
    with pytest.raises(ValueError, match="there are no arrival times"):
        link_of([Packet((float(t), 0.0, 0.0), None, t / 20) for t in range(40)])


def test_what_cannot_be_looked_at_is_refused() -> None:
    few = [Packet((0.0, 0.0, 0.0), None, t / 20) for t in range(19)]
    with pytest.raises(ValueError, match=r"there are 19 packets of one entity$"):
        diagnose(few)
    with pytest.raises(ValueError, match=r"20 packets: there are no packets$"):
        diagnose([])
    with pytest.raises(ValueError, match=r"38 packets of 2 entities$"):
        diagnose([*few, *(packet._replace(entity="b") for packet in few)])
    with pytest.raises(ValueError, match="190 packets of one entity, with too few different times"):
        diagnose(few * 10)
    with pytest.raises(ValueError, match="did you mean 'source'"):
        diagnose(SAMPLE, "sorce")
    with pytest.raises(TypeError):
        diagnose(None)  # type: ignore[arg-type]
