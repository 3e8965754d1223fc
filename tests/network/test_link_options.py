"""Tests of ``--link`` and the options that override it, in ``simulate`` and ``play``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from epic_cli.main import main
from epic_cli.network.link_spec import LINK_KEYS


def ran(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    """Return what the command writes to stdout and stderr."""
    assert main(list(words)) == status
    return capsys.readouterr()


def sent(capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[float, float]]:
    """Return the sending and arrival times of a second's packets at 100 Hz."""
    how = ("--movement", "straight,duration=1", "--send", "100hz", "-q")
    rows, _ = ran(capsys, "simulate", *how, *words)
    found = re.findall(r"/ (\S+) arrival=(\S+) seq", rows)
    return [(float(time), float(arrival)) for time, arrival in found]


def test_conditions_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    changes = 'at="200ms loss=1",at="0.5 loss=0 latency=90ms"'
    found = sent(capsys, "--latency", "50ms", "--link", changes)
    assert [round(100 * time) for time, _ in found] == [*range(20), *range(50, 101)]
    assert [round(arrival - time, 6) for time, arrival in found] == [0.05] * 20 + [0.09] * 51


@pytest.mark.parametrize(
    "words", [("simulate",), ("send", "x.csv", "127.0.0.1:9")], ids=lambda w: w[0]
)
def test_a_link_of_one_direction_takes_no_other(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = ran(capsys, *words, "--link", "up.loss=3%", status=2)
    assert "up.loss: this link has one direction, write loss=..." in said
    assert '"up." or "down."' not in ran(capsys, words[0], "--help-all")[0]


def test_a_queue_that_is_full_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    link = "rate=80kbit,packet_size=125,queue=5packets"
    found = sent(capsys, "--link", link)
    assert max(arrival - time for time, arrival in found) == pytest.approx(0.075, abs=0.0126)
    words = ("--send", "100hz", "--movement", "circle,duration=1", "--seed", "1")
    _, told = ran(capsys, "simulate", *words, "--link", f"{link},corrupt=20%")
    assert re.match(r"101 sent, \d+ lost \(.*%, .*, \d+ corrupted, \d+ dropped by the full", told)


def test_a_clipped_delay_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", "--jitter", "20ms", "--latency", "10ms")
    _, told = ran(capsys, *words)
    at_once = re.search(r"\n(\d+) packets would", told)
    assert at_once
    assert 30 < int(at_once[1]) < 70  # one in four of 201
    assert "before they were" not in ran(capsys, *words, "--latency", "20ms")[1]
    assert ran(capsys, *words, "-q")[1] == ""
    _, told = ran(capsys, "play", "--duration", "1", "--jitter", "90ms", "--latency", "10ms")
    assert "before they were" in told


def test_options_override_the_link_and_the_link_the_configuration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = ("--link", "web-cable")  # 800 bit at 5 Mbit/s take 0.16 ms
    assert sent(capsys, *link)[0] == (0, 0.01416)
    assert sent(capsys, *link, "--latency", "7ms")[0] == (0, 0.00716)
    monkeypatch.setenv("EPIC_LATENCY", "70ms")
    assert sent(capsys, *link)[0] == (0, 0.01416)
    assert sent(capsys)[0] == (0, 0.07)
    monkeypatch.setenv("EPIC_LINK", 'web-cable,at="0.2 loss=1",at="0.5 loss=0"')
    found = sent(capsys)
    assert (len(found), found[0]) == (71, (0, 0.07016))


def test_the_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("simulate", "play"):
        table, told = ran(capsys, name, "--link", "list")
        assert re.search(r"^lte +100 \+- 20 ms +4% .* Unity Multiplayer Tools 2$", table, re.M)
        assert told == ""


def test_a_recorded_network_and_words_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "network.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,50,80\n0.1,40,85\n")
    recorded = sent(capsys, "--link", f"trace={trace}")
    both = sent(capsys, "--link", f'trace={trace},at="0.5 loss=1"', "--latency", "20ms")
    expected = sorted((time, round(arrival + 0.02, 6)) for time, arrival in recorded if time < 0.5)
    assert sorted(both) == expected


def figures(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """Return the measured values of player A."""
    match = ("play", "--duration", "8", "--show", "summary", "--player", "A", "-f", "csv", "-q")
    rows, _ = ran(capsys, *match, *words)
    return {line.split(",")[1]: line.split(",")[2] for line in rows.splitlines()[1:]}


def test_play_over_a_link_that_is_not_the_same_both_ways(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = figures(capsys, "--link", "up.latency=200ms,down.latency=10ms,up.loss=0.5")
    assert float(found["rtt of the link"]) == pytest.approx(0.21, abs=0.001)
    assert 0.4 < float(found["packets up lost"]) < 0.6
    assert float(found["packets down lost"]) == 0
    found = figures(capsys, "--link", "web-2g", "--latency", "10ms")
    assert float(found["rtt of the link"]) > 0.02 + 800 / 35000 + 800 / 32000 - 0.001
    trace = tmp_path / "network.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,40,90\n")
    found = figures(capsys, "--link", f"trace={trace},up.latency=100ms")
    assert float(found["rtt of the link"]) == pytest.approx(0.23, abs=0.001)
    later = 'at="2s up.loss=0.5 down.preset=web-edge",at="3s up.loss=1"'
    found = figures(capsys, "--link", later, "--duration", "4")  # of the whole match
    assert float(found["packets up lost"]) == pytest.approx((0.5 + 1) / 4, abs=0.05)
    assert float(found["packets down lost"]) == 0


def test_play_with_conditions_over_time_is_recorded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The recorded match plays again with its preset, directions and changes."""
    script = tmp_path / "match.script"
    link = 'web-3g,up.jitter=5ms,down.rate=200kbit,at="2s latency=20ms"'
    words = ("play", "-q", "-f", "csv", "--duration", "4", "--link", link)
    rows, _ = ran(capsys, *words, "--record", str(script))
    lines = script.read_text().splitlines()
    assert {"set rate=200000.0", "set up.rate=768000.0", "set up.jitter=0.005"} < {*lines}
    assert "2.0 set latency=0.02" in lines
    again, _ = ran(capsys, "play", "-q", "-f", "csv", str(script))
    assert again == rows


def test_the_keys_of_a_link_are_those_that_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    missing = {"simulate": set(), "play": {"trace_direction"}}
    missing["proxy"] = {"trace_direction", "packet_size"}
    for name, left_out in missing.items():
        said = re.sub(r"\s+", " ", ran(capsys, name, "--help-all")[0])
        said = said.partition(" --link LINK ")[2].partition(" Keys: ")[2]
        keys = said.partition(".")[0].split(", ")
        assert {key.name for key in LINK_KEYS} - {*keys} == left_out, name
