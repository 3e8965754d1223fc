"""Longitude and latitude as meters around the first packet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.conformance import load
from support.running import epic

from epic_cli import Packet, compare, read_packets

KNOWN = load("wgs84_plane")


def packets(text: str, read: str = "") -> list[Packet]:
    return list(read_packets(io.BytesIO(text.encode()), read=read))


@pytest.mark.parametrize("row", KNOWN["values"], ids=lambda row: f"{row[6]:.0f}m")
def test_the_plane_is_that_of_pyproj(row: list[float]) -> None:
    lon0, lat0, lon, lat, x, y, geodesic = row
    text = f"time,lat,lon,alt\n0,{lat0},{lon0},100\n1,{lat},{lon},120\n"
    first, second = packets(text)
    assert first.position == (0, 0, 100)
    assert second.position == pytest.approx((x, y, 120), abs=1e-4)
    # what the help says of lengths: within 20 km they are right to 2 in a million
    length = math.hypot(second.position[0], second.position[1])
    assert length == pytest.approx(geodesic, rel=2e-6 if geodesic < 20e3 else 2e-3, abs=1e-5)


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("time,lat,lon", "time=time,x=lon,y=lat"),
        ("timestamp,Latitude (deg),Longitude (deg),Altitude (m)", "z=Altitude (m)"),
        ("t,gps_lat,gps_lng,gps_alt", "z=gps_alt"),
    ],
)
def test_their_names_are_known_and_said(header: str, columns: str) -> None:
    rows = "".join(f"{n},50.{n},8.{n},{n}\n" if "lt" in header else f"{n},50.{n},8.{n}\n"
                   for n in range(1, 4))  # fmt: skip
    with read_packets(io.BytesIO(f"{header}\n{rows}".encode())) as reader:
        found = list(reader)
        layout = reader.layout
    assert layout is not None
    assert layout.geo
    assert columns in layout.write()
    assert "geo=on" in layout.write()
    assert found[1].position[1] == pytest.approx(11_125, abs=5)


def test_options_of_it() -> None:
    e7 = "time,x,y\n0,85000000,500000000\n1,85000000,500001000\n"
    assert packets(e7, "geo=on,scale=1e-7")[1].position[1] == pytest.approx(11.1, abs=0.1)
    assert packets(e7, "geo=on")[1].position[1] == pytest.approx(11.1, abs=0.1)
    up = packets("time,lat,lon,alt\n0,50,8,7\n1,50,9,8\n", "axes=xzy")
    assert up[1].position[1] == 8
    both = packets("time,x,y,lat,lon\n0,1,2,50,8\n1,2,3,50,9\n")
    assert both[1].position == (2, 3, 0)  # what is in lengths already


def test_what_autopilots_send_is_recognized() -> None:
    """MAVLink's GLOBAL_POSITION_INT: degE7, mm, and cm/s to the north, to the east and down."""
    rows = [f"{88223 + 100 * n},{-353632618 + 100 * n},1491652374,584100,{111 * n},50,-25"
            for n in range(4)]  # fmt: skip
    found = packets("time_boot_ms,lat,lon,alt,vx,vy,vz\n" + "\n".join(rows) + "\n")
    assert found[1].position == pytest.approx((0, 1.11, 584.1), abs=0.01)
    assert found[1].velocity == pytest.approx((0.5, 1.11, 0.25))


@pytest.mark.parametrize(("x", "y"), [("5.1", "5210.02"), ("5210.02", "52.1"), ("5.1", "-90.1")])
@pytest.mark.parametrize("place", [0, 1, 4])
def test_each_row_is_held_to_degrees(x: str, y: str, place: int) -> None:
    rows = [["0", "5.1", "52.1"] for _ in range(5)]
    rows[place][1:] = [x, y]
    rows = [[str(n), *row[1:]] for n, row in enumerate(rows)]
    table = "time,lon,lat\n" + "".join(",".join(row) + "\n" for row in rows)
    objects = "".join(f'{{"time": {t}, "lon": {x}, "lat": {y}}}\n' for t, x, y in rows)
    for text, above in ((table, 2), (objects, 1)):
        done = epic("inspect", stdin=text.encode())
        assert done.returncode == 1
        assert f"<stdin>:{place + above}:".encode() in done.stderr
        assert b"is not in degrees" in done.stderr
        assert b"<stdin>: 4 packets" in done.stdout


def test_across_the_date_line() -> None:
    found = packets("time,lat,lon\n0,0,179.9999\n1,0,-179.9999\n")
    assert found[1].position[0] == pytest.approx(22.26, abs=0.01)


def sentence(body: str) -> str:
    """Return a sentence with its checksum: the exclusive or of all characters."""
    checksum = 0
    for byte in body.encode():
        checksum ^= byte
    return f"${body}*{checksum:02X}\n"


@pytest.mark.parametrize("far", ["00001e300", "0000inf", "0000nan", "99990000", "0000-1e9"])
def test_a_stamp_that_is_no_time_of_day_is_no_position(far: str) -> None:
    rest = "5000.0,N,00800.0,E,1,08,1.0,100.0,M,47.0,M,,"
    lines = [sentence(f"GPGGA,{stamp},{rest}") for stamp in ("000001", far, "000002")]
    assert [packet.time for packet in packets("".join(lines))] == [0, 1]


@pytest.mark.parametrize("encoding", ["UTF-4", "utf-7", "cp932", "rot13"])
def test_an_encoding_that_xml_has_not_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match="GPX"):
        packets(f'<?xml version="1.0" encoding="{encoding}"?>\n<gpx><trk></trk></gpx>')


def test_points_outside_a_track_are_those_of_no_name() -> None:
    point = '<trkpt lat="50" lon="8"><ele>1</ele><time>2024-01-05T12:00:00Z</time></trkpt>'
    (one,) = packets(f"<gpx><trkseg>{point}</trkseg></gpx>")
    assert one.entity == "0"


@pytest.mark.parametrize("name", ["latlng", "lat_lon", "gps"])
def test_a_latitude_and_a_longitude_may_stand_in_one_cell(name: str) -> None:
    rows = "".join(f'{n},"47.5,{8.5 + n / 1000}"\n' for n in range(20))
    east = [packet.position[0] for packet in read_packets(io.BytesIO(f"t,{name}\n{rows}".encode()))]
    assert east[1] == pytest.approx(75.34, abs=0.05)  # m in a thousandth of a degree, at 47.5


# ---------------------------------------------------------------- files beside a recording


def track(seconds: float) -> tuple[float, float]:
    """Return longitude and latitude (degrees) of a drive along a curve of some meters."""
    return 5.2 + 5e-5 * math.sin(seconds), 52.1 + 1e-5 * seconds


def write(name: str, times: Iterable[float], late: float) -> None:
    """Write a drawn or true path ``late`` seconds behind, in the format of the file's suffix."""
    rows = [{"time": time, **dict(zip(("lon", "lat"), track(time - late), strict=True))}
            for time in times]  # fmt: skip
    if name.endswith(".json"):
        text = json.dumps(rows)
    elif name.endswith(".jsonl"):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
    else:
        text = "time,lon,lat\n" + "".join(f"{','.join(map(repr, row.values()))}\n" for row in rows)
    Path(name).write_text(text)


@pytest.mark.parametrize("beside", ["csv", "jsonl", "json"])
@pytest.mark.parametrize("recording", ["csv", "jsonl", "json"])
def test_a_file_beside_a_recording_lies_in_its_plane(
    recording: str, beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plane is the recording's, whichever place the file begins with."""
    monkeypatch.chdir(tmp_path)
    write(f"packets.{recording}", [k / 10 for k in range(150)], 0)
    write(f"truth.{beside}", [3 + k / 50 for k in range(500)], 0)
    write(f"drawn.{beside}", [0.4 + k / 60 for k in range(900)], 0.2)
    found = compare(f"packets.{recording}", "snapshot", truth=f"truth.{beside}", latency=0.0)
    assert found.results[0].value("residual") < 0.02
    done = epic(
        "compare", f"packets.{recording}", "-s", "lerp", "--drawn", f"drawn.{beside}",
        "--latency", "0", "-f", "csv", cwd=tmp_path,
    )  # fmt: skip
    rows = {row["strategy"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}
    drawn = next(row for name, row in rows.items() if name != "lerp")
    assert float(drawn["lag"]) == pytest.approx(0.2, abs=0.02)
    assert float(drawn["residual"]) < 0.02
