"""``--drawn`` of ``epic diagnose`` and ``epic compare``: a game's drawing from files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.recordings import few_of

from epic_cli.jobs.diagnose import run as diagnosing
from epic_cli.main import main

Epic = Callable[..., str]


@pytest.fixture
def epic(capsys: pytest.CaptureFixture[str]) -> Epic:
    def run(*words: object, status: int = 0) -> str:
        capsys.readouterr()
        assert main([str(word) for word in words]) == status
        printed = capsys.readouterr()
        return printed.err + printed.out if status else printed.out

    return run


@pytest.fixture
def packets(epic: Epic, tmp_path: Path) -> Path:
    path = tmp_path / "packets.txt"
    link = ("--latency", "80ms", "--jitter", "20ms", "--loss", "1%")
    epic("simulate", "--movement", "strafe,duration=6", *link, "--seed", 3, "-q", "-o", path)
    return path


def drawn(epic: Epic, packets: Path, form: str, *words: str) -> Path:
    path = packets.with_name(f"drawn.{form}")
    path.write_text(epic("replay", "--tick", "1/60", "-f", form, *words, packets))
    return path


@pytest.mark.parametrize("form", few_of(["epic", "csv", "jsonl", "tsv"], 2))
def test_rows_of_replay_are_recognized(form: str, epic: Epic, packets: Path) -> None:
    """The composition comes first, then the engine's strategy that draws the same."""
    words = ("diagnose", packets, "--drawn", drawn(epic, packets, form, "-s", "gambetta"))
    composition = "buffer+stamps=arrival+delay=1i+beyond=freeze"
    if form == "epic":
        text = " ".join(epic(*words).split())
        assert f"-s {composition} (exact) The same here: -s gambetta." in text
        return
    (*_, told) = map(json.loads, epic(*words, "--format", "jsonl").splitlines())
    assert told["drawn"]["command"] == f"-s {composition}"
    assert (told["drawn"]["exact"], told["drawn"]["same_as"]) == (True, ["gambetta"])
    assert (told["drawn"]["shift"], told["drawn"]["low_pass"]) == (0.0, 0.0)


def test_frames_have_the_columns_of_the_recording_without_arrivals(
    epic: Epic, packets: Path
) -> None:
    """All in milliseconds of Unix time, at 0 at the same moment."""
    frames = drawn(epic, packets, "csv", "-s", "lerp").read_text().splitlines()[1:]
    states = epic("convert", "--to", "csv", packets).splitlines()
    names = states[0].split(",")

    def unix(path: Path, header: str, *rows: list[str]) -> Path:
        path.write_text("\n".join([header, *map(",".join, rows)]) + "\n")
        return path

    def at(seconds: str) -> str:
        return f"{1.7e12 + 1000 * float(seconds):.3f}"

    given = [dict(zip(names, line.split(","), strict=True)) for line in states[1:]]
    rows = [
        [
            at(given_value["time"]),
            given_value["x"],
            given_value["y"],
            given_value["z"],
            at(given_value["arrival"]),
        ]
        for given_value in given
    ]
    recording = unix(packets.with_name("u.csv"), "ts,px,py,pz,rx", *rows)
    shown = [[at(part[0]), *part[1:4]] for part in (line.split(",") for line in frames)]
    path = unix(packets.with_name("f.csv"), "ts,px,py,pz", *shown)
    columns = ("--read", "time=ts,x=px,y=py,z=pz,arrival=rx", recording)
    (*_, told) = epic("diagnose", *columns, "--drawn", path, "--format", "jsonl").splitlines()
    assert json.loads(told)["drawn"]["same_as"] == ["lerp"]
    for option in ("--drawn", "--truth"):
        assert "lerp," in epic("compare", *columns, "-s", "lerp", option, path, "-f", "csv")


def test_times_of_a_browser_are_those_of_the_arrivals(epic: Epic, packets: Path) -> None:
    """Arrivals and frames by Date.now(), stamps by the server's own clock."""
    frames, states, shown = packets.with_name("f.csv"), packets.with_name("s.csv"), []
    table = epic("replay", "--tick", "1/60", "-f", "csv", "-s", "gambetta", packets)
    for line in table.splitlines()[1:]:
        time, x, y, *_ = line.split(",")
        if x:
            shown.append(f"{1.7e12 + 1000 * float(time):.3f},{x},{y}")
    frames.write_text("\n".join(["time,x,y", *shown]))
    sent = [json.loads(line) for line in epic("convert", packets, "--to", "jsonl").splitlines()]
    lines = [
        f"{1e3 * one['time']:.0f},{one['x']},{one['y']},{1.7e12 + 1e3 * one['arrival']:.3f}"
        for one in sent
    ]
    states.write_text("\n".join(["ts,x,y,recv", *lines]))
    words = ("--read", "unit=ms", states, "--drawn", frames, "-f", "jsonl")
    told = json.loads(epic("diagnose", *words).splitlines()[-1])
    assert (told["drawn"]["stamps"], told["drawn"]["residual_of_step"] < 0.01) == ("arrival", True)
    assert "arrival-stamps" in [one["cause"] for one in told["drawn"]["causes"]]


def test_a_second_smoothing_is_a_finding(epic: Epic, packets: Path) -> None:
    """A player who lerps by 0.15 in each frame: -1/60 s / ln 0.85 = 103 ms."""
    lines = drawn(epic, packets, "csv", "-s", "snapshot").read_text().splitlines()[1:]
    shown, smoothed = None, ["time,x,y,z"]
    for time, *state in (line.split(",") for line in lines):
        position = [float(name) for name in state[:3]]
        before = shown or position
        shown = [a + (b - a) * 0.15 for a, b in zip(before, position, strict=True)]
        smoothed.append(",".join(map(str, (time, *shown))))
    path = packets.with_name("frames.csv")
    path.write_text("\n".join(smoothed) + "\n")
    words = ("diagnose", packets, "--drawn", path)
    finding, _ = map(json.loads, epic(*words, "--format", "jsonl").splitlines())
    assert finding["cause"] == "second-smoothing"
    assert finding["values"]["strategy"] == "buffer+delay=0.2"
    assert finding["values"]["constant"] == pytest.approx(0.1026, rel=0.1)
    assert finding["values"]["alpha"] == pytest.approx(0.15, rel=0.1)
    text = " ".join(epic(*words, "--fail-if", "second-smoothing", status=5).split())
    assert "it is smoothed twice" in text
    assert "behind a low-pass of 103 ms" in text
    assert "found second-smoothing" in text


def test_what_was_drawn_is_compared_like_a_strategy(
    epic: Epic, packets: Path, tmp_path: Path
) -> None:
    path = drawn(epic, packets, "csv", "-s", "lerp")
    words = ("compare", packets, "-s", "lerp,snapshot", "--drawn", path)
    rows, late = (
        {row["strategy"]: row for row in map(json.loads, epic(*asked, "-f", "jsonl").splitlines())}
        for asked in (words, (*words[:-1], f"{path},offset=0.01"))
    )
    assert set(rows) == {"lerp", "snapshot", "drawn"}
    for name in ("error", "lag", "score"):
        assert rows["drawn"][name] == pytest.approx(rows["lerp"][name], rel=0.01)
        low, high = (rows["drawn"][f"{name}_{end}"] for end in ("low", "high"))
        assert low is not None or high is not None  # one end is open where nothing was lost
        assert low is None or low <= rows["drawn"][name]
        assert high is None or rows["drawn"][name] <= high
    assert late["drawn"]["lag"] - rows["drawn"]["lag"] == pytest.approx(0.01, rel=0.1)
    assert "What the game drew: score " in epic(*words)
    page = tmp_path / "page.html"
    assert "\ndrawn," in epic(*words, "-f", "csv", "--html", page, "--show", "drawn")
    assert '"label":"drawn"' in page.read_text()
    assert "score(drawn)" in epic(*words, "--fail-if", "score(drawn)<100", status=5)


def test_entities_that_were_not_drawn_are_left_out(epic: Epic, tmp_path: Path) -> None:
    recording, path = tmp_path / "two.csv", tmp_path / "one.csv"
    rows = [f"{e},{n / 20},{n / 10},0,0,{n / 20 + 0.05}" for n in range(100) for e in "ab"]
    recording.write_text("\n".join(["entity,time,x,y,z,arrival", *rows]) + "\n")
    frames = [f"a,{n / 60},{n / 30},0,0" for n in range(30, 280)]
    path.write_text("\n".join(["entity,time,x,y,z", *frames]) + "\n")
    said = epic("compare", recording, "-s", "lerp", "--drawn", path, "--by", "entity", "-f", "csv")
    assert "a,drawn" in said or "drawn,a" in said
    assert ",b," not in said


def test_what_cannot_be_used_is_refused_in_a_sentence(epic: Epic, packets: Path) -> None:
    good = drawn(epic, packets, "csv", "-s", "lerp")
    header, *rows = good.read_text().splitlines()

    def bad(name: str, *lines: str) -> Path:
        path = packets.with_name(f"{name}.csv")
        path.write_text("\n".join(lines) + "\n")
        return path

    one = bad("one", header, rows[50])
    back = bad("back", header, *rows[100:200], *rows[:100])
    late = bad("late", "time,x,y,z", *(f"{n / 60 + 900},{n},0,0" for n in range(100)))
    still = bad("still", "time,x,y,z", *(f"{n / 60},1,1,0" for n in range(100)))
    for command in ("diagnose", "compare"):
        for words, told in (
            ((packets, "--drawn", one), "it has 1 usable frame of an entity"),
            ((packets, "--drawn", back), "are not in the order of time"),
            ((packets, good, "--drawn", good), "--drawn belongs to one recording"),
            (("--drawn", "-"), "cannot both come from standard input"),
        ):
            said = epic(command, *words, status=2)
            assert told in said
            assert "Traceback" not in said
    assert "the frames are from" in epic("diagnose", packets, "--drawn", late, status=2)
    assert "nothing moves" in epic("diagnose", packets, "--drawn", still, status=2)
    simulated = ("compare", "--movement", "circle", "--seeds", "2", "--drawn", good)
    assert "not to simulated networks" in epic(*simulated, status=2)


def test_the_page_of_a_comparison_says_what_is_wrong_with_each_recording(
    epic: Epic, packets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = Mock(wraps=diagnosing.run)
    monkeypatch.setattr(diagnosing, "run", looked)
    lines = packets.read_text().splitlines(keepends=True)
    holes, page = tmp_path / "holes.txt", tmp_path / "page.html"
    holes.write_text("".join(line for n, line in enumerate(lines) if n % 20 > 3))
    words = ("compare", packets, holes, "-s", "lerp", "-f", "csv", "--html", page)

    def sections() -> list[str]:
        data = json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])
        return list(data["diagnoses"])

    epic(*words)
    good, bad = sections()
    assert looked.call_count == 2  # each recording once
    for _ in range(2):  # the second time, the journal knows what is wrong with the second
        page.unlink()
        epic(*words, "--journal", tmp_path / "j")
        assert sections() == [good, bad]
    assert str(packets) in good
    assert "<li>" not in good
    assert str(holes) in bad
    assert re.findall("<strong>(.*?)</strong>", bad) == ["packets are lost"]
    assert re.findall(r"(\w+) at [\d.]+ s", bad.partition("when: ")[2]) == ["first", "worst"]
    assert "<a " not in bad  # which is not drawn
