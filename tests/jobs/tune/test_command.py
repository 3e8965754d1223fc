"""``epic tune`` as it is used: words, formats, journals, statuses, bad input."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from support.full_disks import files_of
from support.places import SAMPLES

import epic_cli
from epic_cli.main import main
from epic_cli.network.link import Link, LinkConditions
from epic_cli.network.movement import PathMovement
from epic_cli.network.paths import PATHS
from epic_cli.network.simulation import simulate
from epic_cli.shell.progress import Progress

JITTER = str(SAMPLES / "jitter.txt")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    link = LinkConditions(latency=0.08, jitter=0.03, loss=0.02)
    movement = PathMovement(PATHS["strafe"](5.0, 5.0, 1))
    path = tmp_path_factory.mktemp("tune") / "strafe.txt"
    with path.open("w") as file:
        for packet in simulate(movement, send_rate=20, duration=16.0, channel=Link(link, seed=1)):
            (x, y, z), (u, v, w) = packet.position, packet.velocity or (0.0, 0.0, 0.0)
            file.write(f"{x},{y},{z} / {u},{v},{w} / {packet.time} arrival={packet.arrival}\n")
    return str(path)


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    found = main(["tune", *words])
    out, err = capsys.readouterr()
    assert found == status, err
    return out, err


def records(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    out, _ = told(capsys, "--format", "jsonl", *words)
    return [json.loads(line) for line in out.splitlines()]


def test_without_a_strategy_the_delays_are_told_alone(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = told(capsys, JITTER)
    assert "114 ms" in out.splitlines()[0]
    for buffer in ("snapshot", "mirror", "geckos", "unity-ngo", "source", "quake3", "hermite"):
        assert f"\n{buffer} " in out
    found = records(capsys, JITTER)
    assert {record["kind"] for record in found} == {"delay", "buffer"}
    cures = [
        finding
        for finding in found
        if finding["kind"] == "buffer" and finding["strategy"] == "snapshot"
    ]
    assert all(set(cure["settings"]) == {"interpolation_time"} for cure in cures)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_the_decision_comes_first_and_every_form_of_it_works(
    columns: str,
    recording: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out, _ = told(capsys, "-s", "hermite", "--trials", "60", recording)
    assert "Set playout_delay=" in " ".join(out.split())
    forms = ("replay, compare ", "config.toml ", "Python ")
    lines = {
        form.strip(): line.removeprefix(form).strip()
        for line in out.splitlines()
        for form in forms
        if line.startswith(form)
    }
    words = lines["replay, compare"].split()
    assert main(["replay", *words, recording]) == 0
    assert main(["compare", *words, "--format", "jsonl", recording]) == 0
    capsys.readouterr()
    assert f"-s {tomllib.loads(lines['config.toml'])['strategy']}" == " ".join(words)
    made = eval(lines["Python"], {"strategy": epic_cli.strategy})
    assert "playout_delay" in repr(made)


def test_json_lines_have_all_of_it_and_the_progress_goes_on(
    recording: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(Progress, "__call__", lambda _, *each: told.append(each))
    found = records(capsys, "-s", "hermite,lerp", "--trials", "40", recording)
    done = [share for share, whole in told if whole == 1000]  # of the search: others are of reading
    assert done == sorted(done)
    assert len({*done}) > 20
    assert done[0] < 100 < 500 < done[-1]
    kinds = [record["kind"] for record in found]
    assert kinds.count("tuning") == 2
    assert {"delay", "buffer", "setting", "front"} <= set(kinds)
    for record in found:
        if record["kind"] == "tuning":
            assert record["gain"] == pytest.approx(record["tuned"] - record["default"])
            assert record["own_tuned"] >= record["own_default"]
            assert set(record["settings"]) <= {s.name for s in declared(record["strategy"])}


def declared(name: str) -> tuple[epic_cli.Setting, ...]:
    (found,) = (strategy for strategy in epic_cli.strategies() if strategy.name == name)
    return found.settings


def test_it_is_tuned_for_what_is_asked(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    by = {
        figure: next(
            record
            for record in records(
                capsys, "-s", "lerp", "--for", figure, "--validate", "none", recording
            )
            if record["kind"] == "tuning"
        )
        for figure in ("score", "lag", "jerk")
    }
    assert abs(by["lag"]["lag"]) <= abs(by["score"]["lag"])
    assert by["jerk"]["jerk"] <= by["score"]["jerk"]
    assert by["score"]["score"] >= max(record["score"] for record in by.values())


def test_a_full_disk_is_named_and_what_was_tried_is_kept(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "tries"
    words = ["-s", "epic", "--trials", "40", "--format", "jsonl", "--journal", str(journal)]
    command = [sys.executable, "-m", "epic_cli", "tune", *words, recording]
    with files_of(9_000):
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 3
    assert f"epic: cannot write to {journal}: File too large\n" in done.stderr
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) > 2
    assert lines[-1].endswith(b"}\n")
    told(capsys, *words, recording)
    assert journal.read_bytes().splitlines(keepends=True)[: len(lines)] == lines


def test_of_several_the_figure_that_was_tuned_for_decides_and_its_settings_are_told(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("-s", "lerp,hermite", "--trials", "12", recording)
    out, _ = told(capsys, "--for", "lag", *words)
    assert "Tuned for lag, hermite is best with playout_delay=" in " ".join(out.split())
    assert "By the score: " in out
    (replay,) = re.findall(r"^replay, compare +-s ([\w-]+)", out, re.MULTILINE)
    assert replay == "hermite"
    out, _ = told(capsys, *words)
    sentences, _, _ = out.partition("strategy  rank")
    assert "playout_delay=" in sentences


def test_the_page_has_the_decision_the_settings_and_what_is_drawn_before_and_after(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    out, _ = told(capsys, "-s", "lerp,hermite", "--trials", "20", "--html", str(path), recording)
    text = path.read_text()
    found = json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])
    assert found["title"] == f"Tuned settings: {recording}"
    assert " ".join(found["verdict"][0].split()) in " ".join(out.split())
    drawn = {trace["label"] for trace in found["scenes"][0]["drawn"]}
    assert {"lerp", "hermite"} < drawn
    tuning = ET.fromstring(found["lead"])
    heads = [table.findtext("thead/tr/th") for table in tuning.iter("table")]
    assert {"strategy", "on", "setting", "lag ms"} <= set(heads)
    assert re.search(r"<dt>replay, compare</dt><dd><code>-s \w+\+", found["lead"])
    # for a telephone, a tablet and a screen: words are as large, and the front fills the width
    pictures = [image.get("srcset") or image.attrib["src"] for image in tuning.iter()
                if image.tag in ("img", "source")]  # fmt: skip
    for source, pixels in zip(pictures, (400, 800, 1400), strict=True):
        picture = ET.fromstring(base64.b64decode(source.partition(",")[2]))
        assert picture.get("width") == str(pixels)
        places = [float(one.get("cx", 0)) for one in picture.iter() if one.tag.endswith("circle")]
        assert max(places) - min(places) > 0.5 * pixels
        words = [one for one in picture.iter() if one.tag.endswith("text")]
        ends = [float(one.get("x", 0)) + 6 * len(one.text or "") for one in words
                if one.get("text-anchor") is None]  # fmt: skip
        assert max(ends) < pixels + 6
    _, err = told(capsys, "-s", "lerp", "--html", "-", recording, status=2)
    assert "needs a file" in err


def test_the_picture_has_every_point_with_its_settings(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "front.svg"
    told(capsys, "-s", "lerp,hermite", "--trials", "12", "--svg", str(path), recording)
    tree = ET.parse(path)
    lowest = max(float(each.get("y", 0)) for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    assert 0 < float(tree.getroot().get("height", 0)) - lowest < 50
    titles = [element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert any("playout_delay=" in title and "roughness" in title for title in titles)
    first = path.read_bytes()
    told(capsys, "-s", "lerp,hermite", "--trials", "12", "--svg", str(path), recording)
    assert path.read_bytes() == first


def test_however_short_the_time_is_there_is_an_answer(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = records(capsys, "-s", "kalman,lerp,dis", "--time", "10ms", recording)
    assert [record["trials"] >= 1 for record in found if record["kind"] == "tuning"] == [True] * 3


def test_who_needs_arrivals_is_left_out_where_there_are_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    turn = str(SAMPLES / "turn.txt")
    out, _ = told(capsys, "-s", "mirror,lerp", "--trials", "8", turn)
    assert "Left out, since there are no arrival times: mirror." in out
    told(capsys, "-s", "source+latency=0", "--trials", "8", "--format", "csv", turn)
    told(capsys, "-s", "source", "--latency", "50ms", "--trials", "8", "--format", "csv", turn)


def test_from_python(recording: str) -> None:
    found = epic_cli.tune(recording, ["lerp"], figure="error", trials=20)
    (one,) = found.tunings
    assert isinstance(one, epic_cli.Tuning)
    assert isinstance(found, epic_cli.Tunings)
    assert set(one.settings) <= {"lerp_time"}
    assert one.evaluation is one.evaluated_on
    assert found.delays is not None
    with pytest.raises(ValueError, match="no metric 'speed' to tune for"):
        epic_cli.tune(recording, "lerp", figure="speed")
    with pytest.raises(ValueError, match="lerp has no setting to tune"):
        epic_cli.tune(recording, "lerp+lerp_time=0.2")


def test_the_delay_needed_of_a_network_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.csv"
    # every tenth is 30 ms late, none lost: 50 ms for those in time, 80 ms for all
    rows = (f"{n / 20},{n / 20 + (0.07 if n % 10 == 3 else 0.04)},0" for n in range(400))
    path.write_text("\n".join(["send_time,recv_time,lost", *rows, ""]))
    assert main(["tune", "-f", "json", str(path)]) == 0
    shown = capsys.readouterr()
    assert "read as a network trace, without positions" in shown.err
    assert "0.08" in shown.out
    assert main(["tune", str(path)]) == 0
    assert "A delay of 80 ms is enough for 95 % of the packets" in capsys.readouterr().out
    # movement cannot be tuned on it
    assert main(["tune", "-s", "lerp", str(path)]) != 0
