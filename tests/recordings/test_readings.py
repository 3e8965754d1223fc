"""Every reading proposed for ambiguous names has been tried."""

from __future__ import annotations

import io
import random
import re
import shlex

import pytest
from support.running import epic

from epic_cli.engine.refusals import Refusal
from epic_cli.recordings.reading import read


def table(names: str, rows: int = 20, unit: float = 0.05) -> bytes:
    """Return groups of columns that move apart from each other."""
    columns = names.split(",")
    lines = [names]
    for row in range(rows):
        cells = [f"{row * unit:g}", *(f"{at * 10 + row / at:.3f}" for at in range(1, len(columns)))]
        lines.append(",".join(cells))
    return "\n".join(lines).encode() + b"\n"


def shown(data: bytes) -> list[str]:
    done = epic("replay", stdin=data)
    assert done.returncode == 1
    assert done.stdout == b""
    lines = done.stderr.decode().splitlines()
    first = next(at for at, line in enumerate(lines) if "expected" in line)
    several = [line for line in lines[first + 1 :] if "(first" in line]
    return several or [lines[first].partition("expected ")[2]]


@pytest.mark.parametrize(
    ("names", "several"),
    [
        ("time,localX,localY,worldX,worldY", 2),
        ("time,x,y,pos_x,pos_y", 2),
        ("time,server.x,server.y,server.z,client.x,client.y,client.z", 2),
        ("time,carX,carY,ballX,ballY,cameraX,cameraY", 3),
        ("tick,server_x,server_y,client_x,client_y", 2),
        ("t,ts,localX,localY,worldX,worldY", 4),
    ],
)
def test_each_reading_can_be_pasted_and_gives_the_packet_that_is_shown(
    names: str, several: int
) -> None:
    data = table(names)
    readings = shown(data)
    assert len(readings) == several
    firsts = set()
    for reading in readings:
        options, _, first = reading.replace("@HZ", "@60").partition("  (first ")
        done = epic("convert", "--to", "csv", *shlex.split(options), stdin=data)
        assert done.returncode == 0, done.stderr
        row = done.stdout.decode().splitlines()[1].split(",")
        assert first.startswith(", ".join(f"{float(cell):g}" for cell in row[2:5]))
        firsts.add(options)
    assert len(firsts) == several


@pytest.mark.parametrize(
    ("names", "place"),
    [
        ("time,carX,carY,cameraX,cameraY", "carX"),
        ("time,cameraX,cameraY,carX,carY", "carX"),
        ("time,cam_x,cam_y,aim_x,aim_y,hero_x,hero_y", "hero_x"),
        ("time,pos.x,pos.y,aim.x,aim.y", "pos.x"),
        ("time,target.x,target.y,self.x,self.y", "self.x"),
        ("time,lookAtX,lookAtY,mouseX,mouseY,bikeX,bikeY", "bikeX"),
        ("time,size_x,size_y,x,y", "x"),
        ("time,player_id,ballX,ballY,playerX,playerY", "playerX"),
        ("time,viewX,viewY", "viewX"),
    ],
)
def test_a_camera_or_a_target_is_never_preferred(names: str, place: str) -> None:
    done = epic("convert", "--to", "csv", stdin=table(names))
    at = names.split(",").index(place)
    assert done.stdout.decode().splitlines()[1].split(",")[2:4] == [f"{at}0", f"{at + 1}0"]


def test_the_cure_of_what_would_be_in_doubt_is_part_of_a_proposal() -> None:
    """Ticks of Godot's clock are milliseconds, which only their values show."""
    lines = (f"{ms} Car ({ms / 100}, 1.5, {ms / 50})" for ms in range(1500, 3000, 17))
    (only,) = shown("\n".join(lines).encode() + b"\n")
    assert only.endswith(",unit=ms'")


def test_python_gets_an_argument() -> None:
    from epic_cli import read_packets
    from epic_cli.api.reading import RefusedLine

    with pytest.raises(RefusedLine, match=re.escape("read='x=localX,y=localY'")):
        list(read_packets(io.BytesIO(table("time,localX,localY,worldX,worldY"))))


def test_also_where_a_stream_comes_in_pieces() -> None:
    data = table("time,localX,localY,worldX,worldY")
    pieces = iter([data[:9], data[9:50], data[50:], b""])
    (refusal,) = [refusal for block in read(lambda: next(pieces)) for refusal in block.refusals]
    assert len(refusal.readings) == 2
    assert all(reading.first for reading in refusal.readings)


def refusals(data: bytes) -> list[Refusal]:
    return [refusal for block in read(io.BytesIO(data).read) for refusal in block.refusals]


@pytest.mark.parametrize("rate", [10, 12.5, 20, 30, 60, 64, 128, 240])
@pytest.mark.parametrize("others", [[], ["name,hp"]])
def test_arrival_times_tell_the_rate_of_ticks(rate: float, others: list[str]) -> None:
    """Propose the rate in spite of jitter, losses and any first tick."""
    dice = random.Random(rate)
    first = dice.choice((0, 7000, 123456))
    sent = [number for number in range(1200) if dice.random() > 0.1]
    rows = sorted((number / rate + 0.04 + dice.expovariate(80), number) for number in sent)
    cells = ",p1,100" if others else ""
    lines = [f"{first + number},{at:.4f},{number},0,0{cells}" for at, number in rows]
    text = "\n".join([",".join(["tick", "recv_s", "x", "y", "z", *others]), *lines])
    (refusal,) = refusals(text.encode())
    assert [dict(reading.entries)["unit"] for reading in refusal.readings] == [f"ticks@{rate:g}"]


@pytest.mark.parametrize("rate", [17.3, 51.8, 0.2])
def test_an_unusual_rate_of_ticks_is_not_proposed(rate: float) -> None:
    lines = [f"{number},{number / rate:.4f},{number},0,0" for number in range(300)]
    (refusal,) = refusals("\n".join(["tick,recv_s,x,y,z", *lines]).encode())
    assert [dict(reading.entries)["unit"] for reading in refusal.readings] == ["ticks@HZ"]
