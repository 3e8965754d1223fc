"""What every strategy draws on every sample recording: one table per recording.

A new strategy joins by being declared. After a change that is meant, ``pytest tests/golden
--update-goldens`` writes the tables again; read them with ``git diff``.
"""

from pathlib import Path

import pytest
from support.places import GOLDEN, SAMPLES

from epic_cli import strategies
from epic_cli.app import main

#: Each sample and how it is replayed: with arrival times, so that every strategy has what it needs.
RECORDINGS = {
    "turn.txt": ["--latency", "0.08"],
    "jitter.txt": [],
    "hop.jsonl": ["--latency", "0.08"],
    "two_tanks.csv": [],
    "airliner.txt": ["--latency", "0.15", "--tick", "1"],
}

#: Settings that make another strategy of one; drawn on jitter.txt beside the defaults.
VARIANTS = (
    "alpha-beta rule=least-squares",
    "dead-reckoning correction=second-order",
    "dead-reckoning correction=spline acceleration=estimated",
    "extrapolator velocity=estimated",
    "kalman measures=position",
    "projective begin=last-frame",
    "snapshot clock=pll server_step=0.05",
    "spline interpolation_type=velocity-blending",
    "unreal network_smoothing_mode=linear",
)


@pytest.mark.parametrize("recording", RECORDINGS)
def test_every_strategy_draws_what_it_drew(
    recording: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    candidates = sorted(one.name for one in strategies())
    if recording == "jitter.txt":
        candidates += VARIANTS
    table = GOLDEN / "strategies" / f"{Path(recording).stem}.tsv"
    found = [(name, rows(name, recording, tmp_path / "rows.tsv")) for name in candidates]
    header = found[0][1][0]
    lines = [f"strategy\t{header}"]
    lines += [f"{name}\t{row}" for name, (_, *drawn) in found for row in drawn]
    if request.config.getoption("--update-goldens"):
        table.write_text("\n".join(lines) + "\n")
    expected = table.read_text().splitlines()
    for name in candidates:
        assert of(name, lines) == of(name, expected), f"{name} on {recording}"
    assert lines == expected


def rows(candidate: str, recording: str, output: Path) -> list[str]:
    """What ``epic replay`` writes, header first."""
    name, *settings = candidate.split()
    given = [word for setting in settings for word in ("--set", setting)]
    args = ["--strategy", name, *given, *RECORDINGS[recording], "--format", "tsv"]
    assert main(["replay", *args, "--output", str(output), str(SAMPLES / recording)]) == 0
    return output.read_text().splitlines()


def of(candidate: str, lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(f"{candidate}\t")]


def test_every_sample_has_its_table() -> None:
    samples = {path.name for path in SAMPLES.iterdir() if path.suffix in (".txt", ".csv", ".jsonl")}
    assert samples - set(RECORDINGS) == {"airliner.csv", "broken.txt"}
