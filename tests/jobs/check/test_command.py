"""``epic check``, as it is used: every outcome, what is written, what is refused, its status."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.pages import content, numbers
from support.places import SAMPLES
from support.terminals import Terminal

from epic_cli.jobs.check import writing
from epic_cli.main import main

RECORDING = (SAMPLES / "turn.txt").read_bytes()


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("EPIC_TIMEOUT", "300")  # of programs that a busy machine starts
    monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)
    (tmp_path / "turn.txt").write_bytes(RECORDING)


def case(name: str, more: str = "", strategy: str = "lerp") -> Path:
    """Write a case whose expected rows are the present rows."""
    folder = Path(name)
    assert main(["check", "--new", name, "turn.txt", "-s", strategy]) == 0
    with (folder / "case.toml").open("a") as file:
        file.write(more)
    return folder


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_a_new_case_holds_and_says_how_it_was_made(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["-s", "mirror+send_interval=50ms", "--latency", "80ms", "--tick", "60hz"]
    assert main(["check", "--new", "tests/a", "turn.txt", *words, "-f", "csv", "--strict"]) == 0
    assert Path("tests/a/case.toml").read_text() == (
        'recording = "../../turn.txt"\nstrategy = "mirror+send_interval=50ms"\n'
        'tick = "1/60"\nlatency = "0.08"\nstrict = true\nformat = "csv"\n'
    )
    assert sorted(path.name for path in Path("tests/a").iterdir()) == ["case.toml", "expected.csv"]
    assert main(["check", "-v"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[1:] == ["tests/a: holds", "1 case: 1 holds"]
    assert err == ""


def test_a_new_case_of_a_doubtful_recording_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [f"{k / 20},{k + far},0,0,{far}" for k in range(40) for far in (0, 500)]
    Path("two.csv").write_text("\n".join(["time,x,y,z,far", *rows]))
    assert main(["check", "--new", "tests/b", "two.csv"]) == 0
    assert capfd.readouterr().err.count("E101") == 1
    assert main(["check", "--new", "tests/c", "two.csv", "--read", "entity=far"]) == 0
    assert "E1" not in capfd.readouterr().err


@pytest.mark.parametrize("row_format", ["epic", "tsv", "csv", "jsonl"])
def test_what_differs_is_told_in_every_format(
    row_format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--new", "a", "turn.txt", "-f", row_format]) == 0
    expected = Path(f"a/expected.{row_format}")
    good = expected.read_bytes()
    edit(Path("a/case.toml"), '"epic"', '"lerp"')
    assert main(["check"]) == 5
    out = capfd.readouterr().out
    assert "a: differs" in out
    assert "pattern: " in out
    assert "drawn: a/expected.new; 'epic check --accept a' takes it" in out
    assert expected.read_bytes() == good  # nothing is written over it
    assert Path("a/expected.new").read_bytes() != good
    assert main(["check", "--accept"]) == 0
    assert not Path("a/expected.new").exists()
    assert main(["check"]) == 0


def test_nothing_is_taken_where_ci_is_set(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = case("a") / "expected.tsv"
    rows.write_bytes(b"")
    monkeypatch.setenv("CI", "true")
    assert main(["check", "--accept"]) == 2
    assert "needs a person to decide, and CI is set" in capfd.readouterr().err
    assert rows.read_bytes() == b""
    monkeypatch.setenv("CI", "false")
    assert main(["check", "--accept"]) == 0
    assert rows.read_bytes()


@pytest.mark.parametrize("left", [(), ("packets.txt",), ("packets.txt", "expected.tsv")])
def test_a_case_is_made_where_a_run_was_killed(
    left: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("whole", "a"):
        with Path("turn.txt").open() as packets:
            monkeypatch.setattr("sys.stdin", packets)
            if folder == "a":  # its files, in the order in which they are written
                Path("a").mkdir()
                for name in left:
                    Path("a", name).write_bytes(Path("whole", name).read_bytes())
            assert main(["check", "--new", folder, "-"]) == 0
    assert main(["check", "whole", "a"]) == 0
    files = {path.name: path.read_bytes() for path in Path("whole").iterdir()}
    assert {path.name: path.read_bytes() for path in Path("a").iterdir()} == files


@pytest.mark.parametrize("moment", ["draw", "check_rows"])
def test_a_killed_run_leaves_no_part_of_a_case(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = os.fork()
    if not child:  # as kill -9 ends it, which cleans up nothing
        monkeypatch.setattr(writing, moment, lambda *_: os._exit(9))
        writing.make_case("a", [], {"strategy": "lerp"}, Path("turn.txt").read_bytes())
    os.waitpid(child, 0)
    assert not Path("a").exists()
    assert main(["check", "--new", "a", "turn.txt"]) == 0
    assert [path for path in Path().iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["packets.txt", "expected.tsv"])
def test_a_new_case_writes_nothing_over(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a").mkdir()
    Path("a", name).write_text("mine\n")
    with Path("turn.txt").open() as packets:
        monkeypatch.setattr("sys.stdin", packets)
        assert main(["check", "--new", "a", "-"]) == 2
    assert f"a/{name} is there already" in capfd.readouterr().err
    assert [path.name for path in Path("a").iterdir()] == [name]
    assert Path("a", name).read_text() == "mine\n"


def test_accept_takes_rows_and_no_figures() -> None:
    rows = case("a", '[expect]\nerror = "<0.001"\n') / "expected.tsv"
    good = rows.read_bytes()
    rows.write_bytes(b"")
    assert main(["check", "--accept"]) == 5
    assert rows.read_bytes() == good


def test_reports_for_other_programs(capfd: pytest.CaptureFixture[str]) -> None:
    case("good")
    (case('bad <&"') / "expected.tsv").write_bytes(b"")
    edit(case("ugly") / "case.toml", "turn.txt", "gone")
    capfd.readouterr()
    assert main(["check", "--tap", "-", "--junit", "report.xml"]) == 3
    tap = capfd.readouterr().out.splitlines()
    assert tap[:2] == ["TAP version 13", "1..3"]
    results = [line for line in tap if not line.startswith("#")][2:]
    assert results == ['not ok 1 - bad <&"', "ok 2 - good", "not ok 3 - ugly"]
    root = ElementTree.parse("report.xml").getroot()
    assert root.attrib == {"tests": "3", "failures": "1", "errors": "1"}
    assert [case.attrib["name"] for case in root.iter("testcase")] == ['bad <&"', "good", "ugly"]
    assert "extra row" in (root.findtext(".//failure") or "")


def test_pictures(capfd: pytest.CaptureFixture[str]) -> None:
    rows = case("a") / "expected.tsv"
    words = ["check", "--chart", "x", "--chart", "above", "--html", "page.html"]
    assert main(words) == 0
    assert "no page is written" in capfd.readouterr().err
    edit(Path("a/case.toml"), "lerp", "snapshot")
    edit(Path("a/case.toml"), "strategy", "latency = 0.05\nstrategy")
    rows.write_bytes(b"")
    assert main(["check", "--accept"]) == 0
    text = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join([*text[:-1], text[-1].replace("\t", "\t" + "9" * 400, 1)]))
    assert main(["check", "--html", "page.html"]) == 5
    assert "a: no picture: " in capfd.readouterr().err
    rows.write_text("".join(text))
    edit(Path("a/case.toml"), "snapshot", "dead-reckoning")
    assert main(words) == 5
    out = capfd.readouterr().out
    assert "a expected   b drawn" in out
    assert "from above" in out
    page = content(Path("page.html").read_text())
    # what the terminal says, and nothing of scores
    assert page["verdict"] == ["a: differs"]
    lead = ElementTree.fromstring(page["lead"])
    assert all(f"  {line.text}" in out for line in lead.findall("p"))
    assert not page["columns"]
    rows_told = [
        [cell.text or "" for cell in row] for row in next(lead.iter("table")).iterfind("tbody/tr")
    ]
    assert {row[0] for row in rows_told} >= {"expected", "drawn"}
    # what was expected is the thick line, and what was drawn is as far off as it differs
    (scene,) = page["scenes"]
    (drawn,) = scene["drawn"]
    head, *expected = [line.split("\t") for line in rows.read_text().splitlines()]
    x = numbers(scene["truth"]["x"]) + scene["origin"][0]
    assert x == pytest.approx([float(row[head.index("x")]) for row in expected], abs=1e-5)
    assert max(numbers(drawn["distance"])) >= max(abs(numbers(drawn["x"]))) > 0
    differing = [float(row[1]) for row in rows_told if row[0] == "drawn"]
    assert page["at"] == pytest.approx(min(differing), abs=1e-9)


def test_pictures_of_rotations(capfd: pytest.CaptureFixture[str]) -> None:
    """The expected rows are the truth, except for some rotations."""
    lines = "".join(f"{t / 20},{t / 10},0,0,{t * 6 % 360}\n" for t in range(40))
    Path("turns.csv").write_text(f"time,x,y,z,yaw\n{lines}")
    assert main(["check", "--new", "turns", "turns.csv", "-s", "snapshot"]) == 0
    rows = Path("turns/expected.tsv")
    head, *drawn = [line.split("\t") for line in rows.read_text().splitlines()]
    for row in drawn[20:]:
        row[head.index("qz")] = "-" + row[head.index("qz")]
    for row in drawn[-5:]:
        for name in ("qx", "qy", "qz", "qw"):
            row[head.index(name)] = ""
    rows.write_text("".join("\t".join(row) + "\n" for row in (head, *drawn)))
    capfd.readouterr()
    assert main(["check", "turns", "--chart", "yaw", "--html", "page.html"]) == 5
    out = capfd.readouterr().out
    assert "yaw (degrees, x to y) over time (s)" in out
    assert ". truth   a expected   b drawn" in out
    assert "drawAngle" in Path("page.html").read_text()


def test_a_person_is_asked(tmp_path: Path) -> None:
    rows = [case(name) / "expected.tsv" for name in ("a", "b")]
    for row in rows:
        row.write_bytes(b"")
    command = [sys.executable, "-m", "epic_cli", "check", "--accept"]
    with Terminal(tmp_path, command=command, lines=60, columns=100) as terminal:
        terminal.wait_for(r"a/expected.tsv\? \[y/N\]")
        assert "a: differs" in "\n".join(terminal.shown())
        terminal.send("n\r")
        terminal.wait_for(r"b/expected.tsv\? \[y/N\]")
        terminal.send("y\r")
        assert terminal.status() == 5
    assert [bool(row.read_bytes()) for row in rows] == [False, True]


def test_against_a_program(capfd: pytest.CaptureFixture[str]) -> None:
    main(["check", "--new", "a", "turn.txt", "-s", "lerp", "--latency", "0.1"])
    main(["check", "--new", "b", "turn.txt"])
    with Path("b/case.toml").open("a") as file:
        file.write('strategy = ["epic+calc_ahead=0.3", "snapshot"]\n')
    edit(Path("b/case.toml"), 'strategy = "epic"\n', "")
    # this program takes its settings from the variables that the protocol has
    ours = f"{sys.executable} -m epic_cli replay --format csv"
    capfd.readouterr()
    assert main(["check", "-v", "--against", ours, "--feed", "jsonl"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "a: holds",
        "b epic+calc_ahead=0.3: holds",
        "b snapshot: holds",
        "3 cases: 3 hold",
    ]
    wrong = f"{ours} -s lerp+lerp_time=0.1000001"
    assert main(["check", "a", "--against", wrong]) == 5
    assert main(["check", "a", "--against", wrong, "--atol", "1e-3"]) == 0
    assert main(["check", "a", "--against", wrong, "--rtol", "1e-3"]) == 0
    assert sorted(path.name for path in Path("a").iterdir()) == ["case.toml", "expected.tsv"]
    assert main(["check", "a", "--against", "false"]) == 5
    assert "a: the program failed\n  it ended with status 1" in capfd.readouterr().out


def test_a_strategy_that_fails_is_told_and_the_others_are_checked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = case("a")
    case("b")
    (folder / "mine.py").write_text("1 / 0\n")
    for strategy, status, words in (
        ("./mine.py:Mine", 4, "a: the strategy failed\n"),
        ("./none.py:Mine", 2, "a/case.toml:2:1: "),
    ):
        edit(folder / "case.toml", '"lerp"', f'"{strategy}"')
        assert main(["check", "-v", "--trust"]) == status
        out = capfd.readouterr().out
        assert words in out
        assert "b: holds" in out
        edit(folder / "case.toml", f'"{strategy}"', '"lerp"')
    (folder / "mine.py").write_text(
        "class Mine:\n"
        "    def reset(self):\n        pass\n"
        "    def update(self, packet, now):\n        return True\n"
        "    def read(self, at):\n        return 1 / 0\n"
    )
    edit(folder / "case.toml", '"lerp"', '"./mine.py:Mine"')
    assert main(["check", "-v", "--trust"]) == 4
    out = capfd.readouterr().out
    assert "a: the strategy failed\n" in out
    assert "ZeroDivisionError" in out
    assert "b: holds" in out


def test_equal_failures_are_described_once(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["check", "--builtin", "-s", "lerp", "--against"]
    fails = "sh -c 'exit 3'"
    assert main([*words, fails]) == 5
    out, _ = capfd.readouterr()
    first, reason, *rest, summary = out.splitlines()
    assert "ended with status 3" in reason
    assert " ".join(rest).startswith(f"45 more cases fail as {first.partition(':')[0]} does: ")
    assert summary.startswith("46 cases: 46 ")
    assert main([*words, fails, "--verbose"]) == 5
    out, _ = capfd.readouterr()
    assert out.count("ended with status 3") == 46
