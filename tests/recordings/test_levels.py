"""JSON with nested entries: any number of levels, and clear messages where there are none."""

import io
import json
from itertools import product

import pytest
from support.recordings import few_rows
from support.running import epic

from epic_cli import Packet, inspect, read_packets
from epic_cli.engine.parameters import SettingError
from epic_cli.recordings.read_spec import ReadSpec


def laps(count: int, states: int, *, step: int = 30) -> str:
    """Return a document with a list of laps, each with states that begin at 0."""
    found = [
        {"lap": lap + 1, "lap_data": [{"t": n * step, "pos": [n, lap, 3]} for n in range(states)]}
        for lap in range(count)
    ]
    return json.dumps({"car": "rss", "laps": found})


def read(text: str, given: str = "") -> list[Packet]:
    return list(read_packets(io.BytesIO(text.encode()), read=ReadSpec.parse(given)))


@few_rows(2)
@pytest.mark.parametrize(
    ("count", "states", "lined"), [(2, 2, False), (3, 40, True), (2, 2, True), (3, 40, False)]
)
def test_times_that_begin_anew_are_found(count: int, states: int, lined: bool) -> None:
    text = laps(count, states)
    text = "".join(f"{json.dumps(lap)}\n" for lap in json.loads(text)["laps"]) if lined else text
    found = inspect(io.BytesIO(text.encode()))
    anew = [finding for finding in found.findings if finding.code == "E103"]
    assert len(anew) == 1
    again = read(text, anew[0].read)
    assert {(p.entity, p.position[1]) for p in again} == {
        (str(lap + 1), float(lap)) for lap in range(count)
    }


def test_times_that_go_on_are_not() -> None:
    chunks = [
        {"n": k, "data": [{"t": k * 5 + n, "x": n, "y": k} for n in range(5)]} for k in range(9)
    ]
    text = "".join(f"{json.dumps(chunk)}\n" for chunk in chunks)
    assert "E103" not in [finding.code for finding in inspect(io.BytesIO(text.encode())).findings]


def test_a_late_packet_hides_no_second_run() -> None:
    for times in ([0, 1, 2, 3, 0, 2.8], [0, 1, 2, 3, 2.5, 0, 2.8]):
        text = "time,x,y,z\n" + "".join(f"{time},{time},0,0\n" for time in times)
        codes = [finding.code for finding in inspect(io.BytesIO(text.encode())).findings]
        assert "E103" in codes, times


LEVELS = "time=laps.*.lap_data.*.t,x=laps.*.lap_data.*.pos.0,y=laps.*.lap_data.*.pos.1,unit=ms"


def test_a_star_for_each_level() -> None:
    found = read(laps(3, 4), LEVELS)
    want = [(str(lap), n * 0.03, float(n), float(lap)) for lap in range(3) for n in range(4)]
    assert [(p.entity, p.time, *p.position[:2]) for p in found] == want
    named = read(laps(3, 4), f"{LEVELS},entity=laps.*.lap")
    assert {packet.entity for packet in named} == {"1", "2", "3"}


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("listed", [False, True])
def test_levels_as_deep_as_they_are(depth: int, listed: bool) -> None:
    def level(deep: int, names: tuple[int, ...]) -> object:
        if deep == depth:
            return {"x": sum(10**at * n for at, n in enumerate(names)), "y": 1}
        below = [level(deep + 1, (*names, n)) for n in range(2)]
        return {"of": below if listed else {f"n{n}": one for n, one in enumerate(below)}}

    text = "".join(json.dumps({"t": t, **level(0, ())}) + "\n" for t in range(3))  # type: ignore[dict-item]
    stars = ".".join(["of.*"] * depth)
    found = read(text, f"time=t,x={stars}.x,y={stars}.y")
    assert len(found) == 3 * 2**depth
    assert {(p.entity, p.position[0]) for p in found} == {
        (
            "/".join(str(n) if listed else f"n{n}" for n in names),
            float(sum(10**at * n for at, n in enumerate(names))),
        )
        for names in product(range(2), repeat=depth)
    }


@pytest.mark.parametrize(
    "given",
    [
        "time=a.*.t,x=a.*.x,y=a.*.y",
        "time=a.*.b.*.t,x=a.*.b.*.x,y=a.*.b.*.y",
        "time=laps.*.b.*.t,x=laps.*.b.*.x,y=laps.*.b.*.y",
        "time=laps.*.lap_data.*.t,x=laps.*.lap_data.*.q,y=laps.*.lap_data.*.pos.1",
        "time=laps.*.lap.*.t,x=laps.*.lap.*.q,y=laps.*.lap.*.q.1",
        "time=t,x=*.*.*.*.*.x,y=*.*.*.*.*.y",
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_what_is_not_there_is_said(given: str, indent: int | None) -> None:
    text = json.dumps(json.loads(laps(2, 2)), indent=indent)
    done = epic("inspect", "--read", given, stdin=text.encode())
    assert done.returncode == 1
    assert b"there is no column" in done.stderr or b"no column is clearly" in done.stderr


@pytest.mark.parametrize(
    "text", ['[{"p": {}, "t": 1}]', '{"a": {}}', '[{"p": []}, {"p": {}}]', "[{}]", '[[{"t": {}}]]']
)
def test_objects_without_any_entry_are_refused(text: str) -> None:
    for padded in (text, text + "\n" * 70_000):
        done = epic("inspect", stdin=padded.encode())
        assert done.returncode == 1
        assert done.stderr.startswith(b"<stdin>:1:")


def test_stars_that_do_not_belong_together() -> None:
    for y in ("a.*.c.*.y", "c.*.y", "c.*.b.*.d.*.y"):
        with pytest.raises(SettingError, match="stand for different things"):
            ReadSpec.parse(f"time=t,x=a.*.b.*.x,y={y}")
    done = epic("inspect", "--read", "time=t,x=*_*_x,y=*_*_y", stdin=b"t,a_b_x,a_b_y\n0,1,2\n")
    assert b"more than one *" in done.stderr
