"""A case can state all options of ``epic replay``, and draws the same bytes."""

import contextlib
import json
import sqlite3
from pathlib import Path

import click
import pytest
from support.game_files import Fighter, needs_slippi, slippi
from support.places import SAMPLES

from epic_cli.engine.strategies import list_remote_names
from epic_cli.jobs.check.case_file import KEYS, read_case
from epic_cli.jobs.check.drawing import draw
from epic_cli.jobs.check.spec import BrokenCase
from epic_cli.jobs.replay.command import replay
from epic_cli.main import main

#: What a case cannot say of the options of ``epic replay``, and why.
EXCUSED = {
    "output": "rows go beside the case",
    "save-profile": "it changes the configuration",
    "all-errors": "a case has no messages on the way",
    "quiet": "a case has no messages on the way",
    "color": "rows in files have none",
    "video": "a case has rows, and no pictures",
}

#: Each option of ``epic replay`` that a case has, with a value that changes the rows: what stands
#: in the case, the words of the command line, and the recording.
SAID = {
    "strategy": ("strategy = 'snapshot'", ["--strategy=snapshot"], "jitter.txt"),
    "tick": ("tick = '60hz'", ["--tick=60hz"], "turn.txt"),
    "clock": ("clock = 'exact'", ["--clock=exact"], "turn.txt"),
    "pacing": ("pacing = 'demo'", ["--pacing=demo"], "jitter.txt"),
    "latency": ("latency = 0.08", ["--latency=80ms"], "turn.txt"),
    "format": ("format = 'jsonl'", ["--format=jsonl"], "turn.txt"),
    "entity": ("entity = 'tank7'", ["--entity=tank7"], "two_tanks.csv"),
    "read": ("read = 'y=x,x=y'", ["--read=y=x,x=y"], "two_tanks.csv"),
    "strict": ("strict = true", ["--strict"], "broken.txt"),
    "file-column": ("file-column = 'origin'", ["--file-column=origin"], "turn.txt"),
}


#: Reads packet text as if it were a log: without its velocities.
PATTERN = r"^(?P<x>[-.\d]+),(?P<y>[-.\d]+),.* / (?P<time>[-.\d]+)"

#: The date of a recording.
DATE = "%d.%Y.%m %H-%M-%S"

#: Each key of ``read`` that changes what is read of a recording.
READ = {
    "text": "broken.txt",
    f'pattern="{PATTERN}"': "turn.txt",
    "unit=ms": "two_tanks.csv",
    "origin=0.5": "two_tanks.csv",
    "axes=xzy": "two_tanks.csv",
    "scale=0.01": "two_tanks.csv",
    f"time_format={DATE}": "clock.csv",
    "geo=on": "two_tanks.csv",
    "partial=on": "changed.jsonl",
    "angles=rad": "turning.csv",
    "euler=unreal": "turning.csv",
    "names=on": "match.slp",
    "encoding=cp437": "old.csv",
    "table=second": "two.sqlite",
}

#: Recordings that are no sample.
MADE = {
    "clock.csv": b"time,x,y\n13.2024.01 00-00-01,0,0\n13.2024.01 00-00-02,1,0\n",
    "changed.jsonl": b"""{"time": 0, "x": 0, "y": 5}
{"time": 0.1, "x": 1}
{"time": 0.2, "x": 2, "y": 6}
""",
    "turning.csv": b"time,x,y,z,yaw,pitch\n0,0,0,0,0,0\n0.1,1,0,0,1,0.5\n0.2,2,0,0,2,1\n",
    "match.slp": slippi(
        [(n, {(0, False): Fighter(n, 0)}) for n in range(-123, -99)], names={0: "Z"}
    ),
    "unix.csv": b"time,x,y,z,vx,vy,vz\n1700000000,0,0,0,1,0,0\n1700000000.1,0.1,0,0,1,0,0\n",
    "spinning.txt": b"1,2,3 / 4,5,6 / 0 arrival=0.1 rotation=0,0,0,1\n",
    "old.csv": "entity,time,x,y\nZ\u00fcg,0,0,0\nZ\u00fcg,0.1,1,0\n".encode("cp437"),
}


def copied(recording: str, folder: Path) -> None:
    """Copy a recording into the folder."""
    if recording == "two.sqlite":
        with contextlib.closing(sqlite3.connect(folder / recording)) as database:
            for place, name in enumerate(("first", "second")):
                database.execute(f"create table {name} (time real, x real, y real)")
                rows = [(0.1 * k, k + place, place) for k in range(4)]
                database.executemany(f"insert into {name} values (?, ?, ?)", rows)
            database.commit()
        return
    made = MADE.get(recording) or (SAMPLES / recording).read_bytes()
    (folder / recording).write_bytes(made)


def test_a_case_can_say_every_option_or_is_excused() -> None:
    said = [[flag[2:] for flag in param.opts if flag.startswith("--")] for param in replay.params]
    flags = {first for first, *_ in filter(None, said)}
    assert set(KEYS) == flags - set(EXCUSED)
    assert set(EXCUSED) <= flags
    assert set(SAID) == set(KEYS)
    assert [param.name for param in replay.params if isinstance(param, click.Argument)] == ["files"]


def replayed(folder: Path, *words: str | Path) -> tuple[int, bytes]:
    """Return the exit status and the rows of ``epic replay`` in a folder."""
    output = folder / "replayed"
    output.unlink(missing_ok=True)
    with contextlib.chdir(folder):
        status = main(["replay", "--quiet", "--output=replayed", *map(str, words)])
    return status, output.read_bytes() if output.exists() else b""


@pytest.mark.parametrize(
    "option",
    [*SAID, *(pytest.param(name, marks=needs_slippi if "names" in name else ()) for name in READ)],
)
def test_the_rows_are_those_of_replay(option: str, tmp_path: Path) -> None:
    if option in SAID:
        said, words, recording = SAID[option]
    else:
        said, words = f"read = {json.dumps(option)}", [f"--read={option}"]
        recording = READ[option]
    path = tmp_path / "case.toml"
    given = "" if option == "format" else "format = 'csv'\n"
    path.write_text(f"recording = '{recording}'\n{given}{said}\n")
    copied(recording, tmp_path)
    shape = [] if option == "format" else ["--format=csv"]
    status, rows = replayed(tmp_path, *words, *shape, recording)
    if option == "strict":
        assert status == 1
        with pytest.raises(BrokenCase, match=r"broken\.txt:1:1"):
            draw(read_case(str(path)).drawing)
        return
    drawn = draw(read_case(str(path)).drawing)
    assert drawn.rows == rows
    assert bool(drawn.refused) == (status == 1)
    path.write_text(f"recording = '{recording}'\n{given}")
    if option != "text":  # which can be told from the recording
        without = b""  # where it cannot be read
        with contextlib.suppress(BrokenCase):
            without = draw(read_case(str(path)).drawing).rows
        assert without != rows


def test_several_recordings_and_several_strategies(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(f"recording = ['{SAMPLES}/turn.txt', '{SAMPLES}/jitter.txt']\n")
    _, rows = replayed(tmp_path, "-ftsv", SAMPLES / "turn.txt", SAMPLES / "jitter.txt")
    assert draw(read_case(str(path)).drawing).rows == rows
    path.write_text(
        f"recording = '{SAMPLES}/turn.txt'\nstrategy = ['lerp', 'epic+calc_ahead=0.1']\n"
        "latency = 0.1\n"
    )
    parts = []
    for words in ("-slerp", "-sepic+calc_ahead=0.1"):
        _, rows = replayed(tmp_path, "-ftsv", "--latency=0.1", words, SAMPLES / "turn.txt")
        parts.append(rows.decode().splitlines())
    expected = [f"{parts[0][0]}\tstrategy"]
    expected += [f"{row}\tlerp" for row in parts[0][1:]]
    expected += [f"{row}\tepic+calc_ahead=0.1" for row in parts[1][1:]]
    assert draw(read_case(str(path)).drawing).rows.decode().splitlines() == expected
    path.write_text(f"recording = '{SAMPLES}/turn.txt'\nstrategy = 'all'\n")
    drawing = read_case(str(path)).drawing
    assert [row.label for row in drawing.candidates] == sorted(list_remote_names())


def test_a_strategy_of_a_file_is_seen_from_the_case(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "half_way.py").write_bytes((SAMPLES / "half_way.py").read_bytes())
    path = tmp_path / "mine" / "case.toml"
    path.write_text(
        f"recording = '{SAMPLES}/turn.txt'\nstrategy = './half_way.py:HalfWay+gain=0.2'\n"
    )
    case = read_case(str(path), trust=True)
    assert case.drawing.candidates[0].label == "./half_way.py:HalfWay+gain=0.2"
    (tmp_path / "half_way.py").write_bytes((SAMPLES / "half_way.py").read_bytes())
    _, rows = replayed(tmp_path, "-s./half_way.py:HalfWay+gain=0.2", "-ftsv", SAMPLES / "turn.txt")
    assert draw(case.drawing).rows == rows
