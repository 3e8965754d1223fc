"""Short logs with a clear meaning: the right packets, without any doubt."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from epic_cli import inspect, read_packets

ROWS = range(20)


def table(header: str, row: str) -> str:
    rows = (row.format(n=n, t=n / 10, s=n // 10, f=n % 10) for n in ROWS)
    return "\n".join([header, *rows])


def lines(**members: Any) -> str:
    """Yield an object a line; each member is a constant, or a function of n in words."""

    def made(value: Any, n: int) -> Any:
        if isinstance(value, dict):
            return {name: made(one, n) for name, one in value.items()}
        if isinstance(value, list):
            return [made(one, n) for one in value]
        return {"n": n, "-n": -n}.get(value, value) if isinstance(value, str) else value

    return "".join(json.dumps({"t": n / 10, **made(members, n)}) + "\n" for n in ROWS)


PAIR = {
    "p1": {"fps": 60, "pos": {"x": "n", "y": 2}},
    "p2": {"fps": 60, "pos": {"x": "-n", "y": 5}},
}
DOTS = [{"p.x": "n", "p.y": 2}, {"p.x": "-n", "p.y": 5}]
TEAMS = [
    {"team": "home", "jersey": 1, "x": "n", "y": 2},
    {"team": "away", "jersey": 1, "x": "-n", "y": 5},
]
BALL, PLAYERS = {"x": "n", "y": 2, "z": 3}, [{"x": "-n", "y": 5, "player_id": 12}]

#: A log, and how many entities it has; the first goes on by 1 in x, another one back.
LOGS = {
    "seconds and nanoseconds": (table("sec,nanosec,x,y", "{s},{f}00000000,{n},2"), 1),
    "parts of seconds without zeros": (table("b.secs,b.msecs,x,y", "{s},{f}00,{n},2"), 1),
    "a date and a time": (table("date,time,x,y", "2024-05-01,23:59:5{s}.{f},{n},2"), 1),
    "minutes and seconds": (table("timecode,x,y", "1:0{s}.{f},{n},2"), 1),
    "UTC behind a blank": (table("created_at,x,y", "2024/05/01 12:00:0{s}.{f} UTC,{n},2"), 1),
    "names that touch their axes": (table("t,alx,aly,bobx,boby", "{t},{n},2,-{n},5"), 2),
    "entities A and B": (table("t,AX,AY,BX,BY", "{t},{n},2,-{n},5"), 2),
    "Metrica": (
        ",,,Home,,Home,\n,,,11,,1,\n"
        + table("Period,Frame,Time [s],Player11,,Player1,", "1,{n},{t},{n},2,-{n},5"),
        2,
    ),
    "a first row without a place": (table("t,place\n-1,", '{t},"({n}, 2, 0)"'), 1),
    "axes that end as pixels do": (lines(data={"PX": "n", "PY": 2}), 1),
    "derivatives": (table("t,x,y,dx_dt,dy/dt", "{t},{n},2,10,0"), 1),
    "braces": (table("Time,origin,ping", "{t},{{{n}.0; 2.0; 0.0}},5"), 1),
    "a comment above": ("# see manual\n" + table("t,location", '{t},"({n}, 2, 0)"'), 1),
    "a pair of objects": (lines(**PAIR), 2),
    "dots in names": (lines(players=DOTS), 2),
    "numbers in two teams": (lines(players=TEAMS), 2),
    "a ball that flies": (lines(ball_data=BALL, player_data=PLAYERS), 2),
}


@pytest.mark.parametrize("name", LOGS)
def test_what_shows_is_read_at_once(name: str) -> None:
    text, entities = LOGS[name]
    packets = list(read_packets(io.BytesIO(text.encode()), refused=str))
    paths: dict[str, list[tuple[float, ...]]] = {}
    for packet in packets:
        paths.setdefault(packet.entity, []).append(
            (packet.time - packets[0].time, *packet.position)
        )
    height = 3 if name == "a ball that flies" else 0
    meant = [[(n / 10, n, 2, height) for n in ROWS], [(n / 10, -n, 5, 0) for n in ROWS]]
    for path, states in zip(paths.values(), meant[:entities], strict=True):
        assert [value for state in path for value in state] == pytest.approx(
            [value for state in states for value in state]
        )
    assert not inspect(io.BytesIO(text.encode())).doubts
