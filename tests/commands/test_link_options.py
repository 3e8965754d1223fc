"""The options of a link, as ``simulate`` and ``play`` take them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from epic_cli.jobs.simulate import command
from epic_cli.main import main
from epic_cli.shell.console import Sink


def ran(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    """What the command writes to stdout and stderr."""
    assert main(list(words)) == status
    return capsys.readouterr()


def sent(capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[float, float]]:
    """The times of sending and arrival of a second's packets at 100 Hz."""
    rate = ("--send-rate", "100", "--duration", "1", "--path", "straight", "-q")
    rows, _ = ran(capsys, "simulate", *rate, *words)
    found = re.findall(r"/ (\S+) arrival=(\S+) seq", rows)
    return [(float(time), float(arrival)) for time, arrival in found]


def test_conditions_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ("--at", "200ms", "loss=1", "--at", "0.5", "loss=0 latency=90ms")
    found = sent(capsys, "--latency", "50ms", *changes)
    assert [round(100 * time) for time, _ in found] == [*range(20), *range(50, 101)]
    assert [round(arrival - time, 6) for time, arrival in found] == [0.05] * 20 + [0.09] * 51


def test_a_queue_that_is_full_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    link = ("--rate", "80kbit", "--packet-size", "125", "--queue", "5packets")
    found = sent(capsys, *link)
    assert max(arrival - time for time, arrival in found) == pytest.approx(0.075, abs=0.0126)
    words = ("--send-rate", "100", "--duration", "1", "--corrupt", "20%", "--seed", "1")
    _, told = ran(capsys, "simulate", *words, *link)
    assert re.match(r"101 sent, \d+ lost \(.*%, .*, \d+ corrupted, \d+ dropped by the full", told)


def test_a_clipped_delay_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", "--jitter", "20ms", "--latency", "10ms", "--duration", "10")
    _, told = ran(capsys, *words)
    at_once = re.search(r"\n(\d+) packets would have arrived before they were sent", told)
    assert at_once
    assert 30 < int(at_once[1]) < 70  # one in four of 201
    assert "before they were sent" not in ran(capsys, *words, "--latency", "20ms")[1]
    assert ran(capsys, *words, "-q")[1] == ""
    _, told = ran(capsys, "play", "--duration", "1", "--jitter", "90ms", "--latency", "10ms")
    assert "packets would have arrived before they were sent" in told


@pytest.mark.parametrize("changed", [(), ("--latency", "7ms")])
def test_a_preset_gives_way_to_other_options(
    changed: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = sent(capsys, "--preset", "web-cable", *changed)
    waits = {round(1e6 * (arrival - time)) for time, arrival in found}
    assert waits == {(7000 if changed else 14000) + 160}  # 800 bit at 5 Mbit/s


def test_a_preset_beats_the_configuration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPIC_LATENCY", "70ms")
    assert sent(capsys, "--preset", "web-cable")[0] == (0, 0.01416)
    assert sent(capsys)[0] == (0, 0.07)
    monkeypatch.setenv("EPIC_PRESET", "web-cable")
    assert sent(capsys)[0] == (0, 0.07016)


def test_changes_of_the_configuration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPIC_AT", "0.2 loss=1;0.5 loss=0")
    assert len(sent(capsys)) == 71
    monkeypatch.delenv("EPIC_AT")
    assert len(sent(capsys)) == 101


def test_list_presets(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("simulate", "play"):
        table, told = ran(capsys, name, "--list-presets")
        assert re.search(r"^lte +100 \+- 20 ms +4% .* Unity Multiplayer Tools 2$", table, re.M)
        assert told == ""


def test_a_recorded_network_and_words_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "network.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,50,80\n0.1,40,85\n")
    recorded = sent(capsys, "--trace", str(trace))
    both = sent(capsys, "--trace", str(trace), "--latency", "20ms", "--at", "0.5", "loss=1")
    expected = sorted((time, round(arrival + 0.02, 6)) for time, arrival in recorded if time < 0.5)
    assert sorted(both) == expected


def figures(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """The figures of player A."""
    match = ("play", "--duration", "8", "--show", "summary", "--player", "A", "-f", "csv", "-q")
    rows, _ = ran(capsys, *match, *words)
    return {line.split(",")[1]: line.split(",")[2] for line in rows.splitlines()[1:]}


def test_play_over_a_link_that_is_not_the_same_both_ways(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = figures(capsys, "--up", "latency=200ms", "--down", "latency=10ms", "--up", "loss=0.5")
    assert float(found["rtt of the link"]) == pytest.approx(0.21, abs=0.001)
    assert 0.4 < float(found["packets up lost"]) < 0.6
    assert float(found["packets down lost"]) == 0
    found = figures(capsys, "--preset", "web-2g", "--latency", "10ms")
    assert float(found["rtt of the link"]) > 0.02 + 800 / 35000 + 800 / 32000 - 0.001
    trace = tmp_path / "network.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,40,90\n")
    found = figures(capsys, "--trace", str(trace), "--up", "latency=100ms")
    assert float(found["rtt of the link"]) == pytest.approx(0.23, abs=0.001)


def test_play_over_a_link_of_which_one_direction_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--at", "2s", "up.loss=0.5 down.preset=web-edge", "--at", "3s", "up.loss=1")
    found = figures(capsys, *words, "--duration", "4")  # those since the last change
    assert float(found["packets up lost"]) == 1
    assert float(found["packets down lost"]) == 0
    _, told = ran(capsys, "play", "--at", "2s", "up.los=1", status=2)
    assert "did you mean 'loss'" in " ".join(told.split())


def test_play_with_conditions_over_time_is_recorded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What was recorded plays as it did, with the preset, the directions and the changes."""
    script = tmp_path / "match.script"
    link = ("--preset", "web-3g", "--up", "jitter=5ms", "--down", "rate=200kbit")
    words = ("play", "-q", "-f", "csv", "--duration", "4", *link, "--at", "2s", "latency=20ms")
    rows, _ = ran(capsys, *words, "--record", str(script))
    lines = script.read_text().splitlines()
    assert "set up.rate=768000.0" in lines
    assert "set up.jitter=0.005" in lines
    assert "set down.rate=200000.0" in lines
    assert "2.0 set latency=0.02" in lines
    again, _ = ran(capsys, "play", "-q", "-f", "csv", "--script", str(script))
    assert again == rows


def test_a_preset_of_one_direction(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = tmp_path / "match.script"
    words = ("--up", "preset=web-3g", "--up", "loss=1%", "--duration", "0.1", "-q")
    ran(capsys, "play", *words, "--record", str(script))
    lines = [line for line in script.read_text().splitlines() if line.startswith("set up.")]
    assert lines == [
        "set up.latency=0.15", "set up.loss=0.01", "set up.rate=768000.0", "set up.queue=1.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--up", "latncy=3"], "a link has no parameter 'latncy'; did you mean 'latency'?"),
        (["--down", "loss"], "loss has no value: write loss=..."),
        (["--up", "loss=1", "--up", "gemodel=1%"], "loss is set twice: keep one of them"),
        (["--queue", "50ms"], "--queue needs --rate"),
        (["--up", "loss_correlation=9%", "--at", "1s", "gemodel=1%"], "at 1 s: loss_correlation"),
    ],
)
def test_bad_words_of_play(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = ran(capsys, "play", "--duration", "1", *words, status=2)
    assert message in " ".join(told.split())


def test_progress_is_shown_but_not_among_rows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown: list[tuple[int, int]] = []

    class Shown:
        def __init__(self, what: str) -> None:
            assert what == "simulating"

        def __enter__(self) -> Shown:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __call__(self, *state: Any) -> None:
            shown.append(state)

    monkeypatch.setattr(command, "Progress", Shown)
    ran(capsys, "simulate", "--duration", "60", "-o", str(tmp_path / "packets.txt"))
    assert [total for _, total in shown] == [60_000] * 5
    assert [done for done, _ in shown] == [12_750, 25_550, 38_350, 51_150, 60_000]
    shown.clear()
    monkeypatch.setattr(Sink, "isatty", lambda _: True)
    ran(capsys, "simulate", "--duration", "60")
    assert shown == []
