"""``epic diagnose`` as it is used: words, formats, statuses, bad input."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.faulty_traffic import faulty

from epic_cli.main import main


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = faulty("head of line", "circle", 5)
    path = tmp_path_factory.mktemp("diagnose") / "tcp.txt"
    with path.open("w") as file:
        for t, x, y, z, vx, vy, vz, arrival, seq, _ in rows.T[np.argsort(rows[7], kind="stable")]:
            state = f"{x:.6f},{y:.6f},{z:.6f} / {vx:.6f},{vy:.6f},{vz:.6f} / {t:.6f}"
            file.write(f"{state} arrival={arrival:.6f} seq={seq:.0f}\n")
    return path


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


@pytest.mark.parametrize(
    ("causes", "status"), [(["head-of-line"], 5), (["any"], 5), (["bursts"], 0), ([], 0)]
)
def test_fail_if_makes_a_cause_a_status(
    recording: Path, causes: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [word for cause in causes for word in ("--fail-if", cause)]
    assert main(["diagnose", *options, str(recording)]) == status
    assert ("epic: found head-of-line" in capsys.readouterr().err) == (status == 5)


def test_a_strategy_whose_buffer_runs_empty_is_told_with_the_setting(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-s", "snapshot+interpolation_time=0.02", "--fail-if", "delay-buffer"]
    assert main(["diagnose", *options, "--format", "jsonl", str(recording)]) == 5
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (finding,) = (item for item in told if item["cause"] == "delay-buffer")
    assert finding["values"]["strategy"].startswith("snapshot+")
    assert finding["values"]["instead"].startswith("snapshot+interpolation_time=")
    assert f"Use {finding['values']['instead']}: " in finding["cure"]


def test_the_network_goes_to_a_trace_and_to_words_that_simulate_takes(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Trace and words give equally many packets, with similar delays."""
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


def network(
    path: Path, seed: int, fault: str = "", header: str = "send_time,recv_time,lost"
) -> str:
    """Return packets at 50 Hz over 40 ms, gamma jitter of 4 ms, 1 % single losses.

    With one fault.
    """
    random = np.random.default_rng(seed)
    count = 2000
    sent = np.arange(count) * 0.02
    delay = 0.04 + random.gamma(2.0, 0.002, count)
    lost = random.random(count) < 0.01
    if fault == "route-change":
        delay[900:] += 0.08
    if fault == "loss":
        for begin in random.choice(np.arange(50, count - 50, 20), 25, replace=False):
            lost[begin : begin + 6] = True
    if fault == "queue":
        delay[800:1000] += np.minimum(np.arange(200), np.arange(200)[::-1]) * 0.005
    rows = []
    for n in range(count):
        values = {
            "seq": str(n),
            "send_time": f"{sent[n]:.6f}",
            "recv_time": "" if lost[n] else f"{sent[n] + delay[n]:.6f}",
            "rtt_ms": "" if lost[n] else f"{2000 * delay[n]:.3f}",
            "lost": f"{lost[n]:d}",
        }
        if not lost[n] or "lost" in header:
            rows.append(",".join(values[name] for name in header.split(",")))
    path.write_text("\n".join([header, *rows, ""]))
    return str(path)


def causes(file: str, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """Return the findings and their consequences."""
    assert main(["diagnose", "-q", *options, "--format", "jsonl", file]) == 0
    found = list(map(json.loads, capsys.readouterr().out.splitlines()))
    return [item["cause"] for item in found]


@pytest.mark.parametrize("header", ["send_time,recv_time,lost", "send_time,rtt_ms,lost",
                                    "seq,send_time,recv_time"])  # fmt: skip
@pytest.mark.parametrize("fault", ["", "route-change", "loss", "queue"])
@pytest.mark.parametrize("seed", [1])
def test_a_network_alone_is_diagnosed(
    header: str, fault: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = network(tmp_path / "trace.csv", seed, fault, header)
    assert causes(file, capsys) == ([fault] if fault else [])


def test_a_flow_and_a_direction_of_a_network_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.csv"
    random = np.random.default_rng(5)
    rows = [
        f"{flow},{n / 20:.3f},{30 + 2 * random.random():.4f},{60 + 3 * random.random():.4f}"
        for n in range(400)
        for flow in ("a", "b")
    ]
    path.write_text("\n".join(["flow,send_time,owd_down_ms,owd_up_ms", *rows, ""]))
    assert main(["diagnose", str(path)]) == 2
    assert "choose one: a, b" in capsys.readouterr().err
    assert main(["diagnose", "--entity", "a", str(path)]) == 0
    assert "median delay 31" in capsys.readouterr().out
    assert main(["diagnose", "--entity", "b", "--read", "arrival=owd_up_ms", str(path)]) == 0
    assert "median delay 61." in capsys.readouterr().out


def test_a_network_alone_has_nothing_drawn_and_its_bad_lines_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = network(tmp_path / "trace.csv", 6)
    drawn = tmp_path / "frames.csv"
    drawn.write_text("time,x,y,z\n" + "".join(f"{n / 60},0,0,0\n" for n in range(600)))
    assert main(["diagnose", "--drawn", str(drawn), file]) == 2
    assert "has no positions to compare with" in capsys.readouterr().err
    bad = tmp_path / "bad.csv"
    bad.write_text("send_time,recv_time\n0,0.1\n0.1,fast\n")
    assert main(["diagnose", str(bad)]) != 0
    assert f"{bad}:3:5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (0.08, "median delay 81 ms; a"),
        (0.55, "median delay 551 ms unless the clocks differ; a"),
        (-3.0, "clocks that differ; a"),
    ],
)
def test_a_long_delay_may_be_two_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: float, words: str
) -> None:
    rows = [f"{n / 20:.3f},{n / 20 + way + 0.001 * (n % 3):.4f},{n},0" for n in range(400)]
    (tmp_path / "net.csv").write_text("\n".join(["time,arrival,x,y", *rows, ""]))
    assert main(["diagnose", str(tmp_path / "net.csv")]) == 0
    assert words in " ".join(capsys.readouterr().out.split())
