"""``epic diagnose`` as it is used: words, formats, statuses, bad input."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.faulty_traffic import faulty

from epic_cli.ui.main import main


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = faulty("head of line", "circle", 5)
    path = tmp_path_factory.mktemp("diagnose") / "tcp.txt"
    with path.open("w") as file:
        for t, x, y, z, vx, vy, vz, arrival, seq, _ in rows.T[np.argsort(rows[7], kind="stable")]:
            state = f"{x:.6f},{y:.6f},{z:.6f} / {vx:.6f},{vy:.6f},{vz:.6f} / {t:.6f}"
            file.write(f"{state} arrival={arrival:.6f} seq={seq:.0f}\n")
    return path


def test_a_finding_has_its_cause_evidence_effect_and_cure(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(recording)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{recording}: 1 finding (")
    assert "1. packets wait for a lost one\n" in text
    for part in ("effect", "cure", "when", "evidence", "--span", "needs"):
        assert part in text


def test_nothing_wrong_is_said_as_plainly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "good.txt"
    lines = (
        f"{np.sin(n / 20):.6f},0,0 / {np.cos(n / 20):.6f},0,0 / {n / 20:.2f}"
        f" arrival={n / 20 + 0.05:.3f} seq={n}\n"
        for n in range(200)
    )
    path.write_text("".join(lines))
    assert main(["diagnose", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "nothing wrong found (200 packets in 9.95 s)" in said


def test_json_lines_have_every_finding_with_its_values(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "--format", "jsonl", str(recording)]) == 0
    (finding,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert finding["cause"] == "head-of-line"
    assert finding["statistic"] >= finding["threshold"]
    assert 0 < finding["share"] <= 1
    assert finding["first"] <= finding["worst"]
    assert "{" not in finding["what"] + finding["effect"] + finding["cure"]


def test_markdown_is_a_section_for_each_recording(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "--format", "markdown", str(recording), str(recording)]) == 0
    text = capsys.readouterr().out
    assert text.count("\n## ") + text.startswith("## ") == 2
    assert text.count("### packets wait for a lost one") == 2


@pytest.mark.parametrize(
    ("causes", "status"), [(["head-of-line"], 5), (["any"], 5), (["bursts"], 0), ([], 0)]
)
def test_fail_if_makes_a_cause_a_status(
    recording: Path, causes: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [word for cause in causes for word in ("--fail-if", cause)]
    assert main(["diagnose", *options, str(recording)]) == status
    assert ("epic: found head-of-line" in capsys.readouterr().err) == (status == 5)


def test_the_span_is_what_is_looked_at(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--format", "jsonl", str(recording)]) == 0
    first = json.loads(capsys.readouterr().out)["first"]
    assert main(["diagnose", "--span", f":{first - 0.2}", str(recording)]) in (0, 2)
    assert "packets wait" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-if", "burst"], "no cause 'burst'; did you mean 'bursts'?"),
        (["--entity", "tank"], "there is no entity 'tank'; there are: no named ones"),
        (["--span", "3"], "is not a span"),
    ],
)
def test_what_is_wrong_with_the_options_is_said(
    recording: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *words, str(recording)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_too_few_packets_are_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.txt"
    path.write_text("0,0,0 / 1,0,0 / 0\n")
    assert main(["diagnose", str(path)]) == 2
    assert "not enough to say" in capsys.readouterr().err


def test_a_strategy_whose_buffer_runs_empty_is_told_with_the_setting(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-s", "snapshot+interpolation_time=0.02", "--fail-if", "delay-buffer"]
    assert main(["diagnose", *options, "--format", "jsonl", str(recording)]) == 5
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (finding,) = (one for one in told if one["cause"] == "delay-buffer")
    assert finding["values"]["strategy"].startswith("snapshot+")
    assert f"interpolation_time to {finding['values']['value']:g}" in finding["cure"]


def test_settings_without_a_strategy_are_refused(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "--set", "source.cl_interp=0.1", str(recording)]) == 2
    assert "--set changes a strategy of -s" in capsys.readouterr().err


def test_the_network_goes_to_a_trace_and_to_words_that_simulate_takes(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What both make has as many packets, and is delayed alike."""
    trace = tmp_path / "bad minute.csv"
    assert main(["diagnose", "--link-out", str(trace), str(recording)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{recording}: 1 finding (")
    lines = printed.err.splitlines()
    sent = len(recording.read_text().splitlines())
    assert lines[0] == f"{trace}: {sent:,} packets sent in 40 s, 0 of them lost"
    middles: list[float] = []
    for line in lines[1:3]:
        program, *words = shlex.split(line.partition(": ")[2])
        assert program == "epic"
        path = tmp_path / f"{len(middles)}.csv"
        assert main([*words, "--seed", "4", "--format", "csv", "-q", "-o", str(path)]) == 0
        rows = np.genfromtxt(path, delimiter=",", names=True)
        assert len(rows) == pytest.approx(sent, abs=2)
        middles.append(float(np.median(rows["arrival"] - rows["time"])))
    assert middles[0] == pytest.approx(middles[1], abs=0.005)


def test_a_network_is_refused_where_there_is_none(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare, out = tmp_path / "bare.txt", str(tmp_path / "link.csv")
    bare.write_text("".join(f"{n},0,0 / 1,0,0 / {n / 20}\n" for n in range(50)))
    for words, told in (
        ([str(bare), "--link-out", out], "shows no network: there are no arrival times"),
        ([str(recording), str(bare), "--link-out", out], "one recording"),
        ([str(recording), "--link-out", "-"], "needs a file"),
    ):
        assert main(["diagnose", *words]) == 2
        printed = capsys.readouterr()
        assert told in printed.err
        assert printed.out == ""
    assert not (tmp_path / "link.csv").exists()
