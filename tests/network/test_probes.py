"""Tests of the files of irtt, RIPE Atlas and ping, in the forms that they document."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from epic_cli import diagnose
from epic_cli.network.trace import NetworkTrace, read_recorded_network, read_trace
from epic_cli.recordings.tables import TableRefusal


def trip(number: int, lost: object, up: int = 9_000_000, down: int = 8_000_000) -> dict[str, Any]:
    """Return a round trip as documented in irtt-client(1), sent every 50 ms."""
    sent = {"wall": 1508180723502727340 + number * 50_000_000, "monotonic": number * 50_000_000}
    arrived = lost is False
    back = {name: value + up + down for name, value in sent.items()}
    return {
        "seqno": number,
        "lost": lost,
        "timestamps": {
            "client": {"receive": back if arrived else {}, "send": sent},
            "server": {"receive": {}, "send": {}},
        },
        "delay": {"receive": down, "rtt": up + down, "send": up} if arrived else {},
        "ipdv": {},
    }


def irtt(*trips: dict[str, Any]) -> str:
    version = {"irtt": "0.9.1", "protocol": 1, "json_format": 1}
    return json.dumps({"version": version, "stats": {}, "round_trips": trips}, indent=4)


def atlas(probe: int, begin: int, *replies: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a ping result of version 5000, with its keys in the order of downloads."""
    head = {"fw": 5080, "lts": 12, "af": 4, "proto": "ICMP", "result": list(replies)}
    return {**head, "msm_id": 1001, "prb_id": probe, "timestamp": begin, "type": "ping", **more}


RESULTS = [
    atlas(7, 1700000240, {"rtt": 20.0}, {"x": "*"}, {"rtt": 24.0}),
    atlas(7, 1700000000, {"rtt": 22.0}, {"rtt": 22.5, "dup": 1}, {"error": "sendto"}),
]

LINUX = """PING example.net (192.0.2.7) 56(84) bytes of data.
[1521287236.450000] 64 bytes from example.net (192.0.2.7): icmp_seq=1 ttl=50 time=50.0 ms
[1521287238.400000] no answer yet for icmp_seq=2
[1521287238.440000] 64 bytes from example.net (192.0.2.7): icmp_seq=3 ttl=50 time=40.0 ms
[1521287238.441000] 64 bytes from example.net (192.0.2.7): icmp_seq=3 ttl=50 time=41.0 ms (DUP!)
[1521287239.401000] From 192.0.2.1 icmp_seq=4 Destination Host Unreachable
^C
--- example.net ping statistics ---
5 packets transmitted, 2 received, +1 duplicates, +1 errors, 60% packet loss, time 4400ms
rtt min/avg/max/mdev = 40.000/45.000/50.000/5.000 ms
"""

MACOS = """PING 192.0.2.7 (192.0.2.7): 56 data bytes
64 bytes from 192.0.2.7: icmp_seq=0 ttl=54 time=36.180 ms
Request timeout for icmp_seq 1
64 bytes from 192.0.2.7: icmp_seq=2 ttl=54 time=30.000 ms

--- 192.0.2.7 ping statistics ---
3 packets transmitted, 2 packets received, 33.3% packet loss
round-trip min/avg/max/stddev = 30.000/33.090/36.180/3.090 ms
"""

BUSYBOX = "PING 192.0.2.7 (192.0.2.7): 56 data bytes\n" + "".join(
    f"64 bytes from 192.0.2.7: seq={literal} ttl=117 time=14.000 ms\n" for literal in (0, 3)
)

GERMAN = (
    "\r\nPing wird ausgeführt für 192.0.2.7 mit 32 Bytes Daten:\r\n"
    "Antwort von 192.0.2.7: Bytes=32 Zeit=14ms TTL=117\r\n"
    "Zeitüberschreitung der Anforderung.\r\n"
    "Antwort von 192.0.2.7: Bytes=32 Zeit<1ms TTL=117\r\n"
    "\r\nPing-Statistik für 192.0.2.7:\r\n"
    "    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1\r\n"
)


def trace(text: str | bytes, **options: Any) -> NetworkTrace:
    return read_trace(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def near(found: NetworkTrace, times: list[float], delays: list[float | None]) -> None:
    assert found.times == pytest.approx(times, abs=1e-6)
    known = [delay for delay in delays if delay is not None]
    assert [delay for delay in found.delays if delay is not None] == pytest.approx(known, abs=1e-6)
    assert [delay is None for delay in found.delays] == [delay is None for delay in delays]


def test_irtt_has_delays_of_both_ways() -> None:
    text = irtt(trip(0, False), trip(1, "true_up"), trip(2, "true_down"), trip(3, "true"))
    near(trace(text), [0, 0.1, 0.15], [0.008, None, None])
    near(trace(text, direction="up"), [0, 0.05, 0.15], [0.009, None, None])
    near(trace(gzip.compress(text.encode())), [0, 0.1, 0.15], [0.008, None, None])


def test_probes_of_atlas_are_flows() -> None:
    text = json.dumps([*RESULTS, atlas(8, 1700000100, {"rtt": 2.0})])
    with pytest.raises(ValueError, match="1001/7, 1001/8"):
        trace(text)
    near(trace(text, flow="1001/8"), [0], [0.001])


def test_ping_with_times() -> None:
    near(trace(LINUX), [0, 1, 2, 2, 2], [0.025, None, 0.020, None, None])


@pytest.mark.parametrize(
    ("text", "delays"),
    [
        (MACOS, [0.01809, None, 0.015]),
        (BUSYBOX, [0.007, None, None, 0.007]),
        (GERMAN, [0.007, None, 0.00025]),
    ],
)
def test_ping_without_times_sends_once_a_second(text: str, delays: list[float | None]) -> None:
    near(trace(text), list(range(len(delays))), delays)
    near(trace(text.encode("utf-16")), list(range(len(delays))), delays)


WHOLE = {
    "irtt": irtt(*(trip(index, False) for index in range(4))),
    "atlas": json.dumps(RESULTS),
    "lines": "\n".join(map(json.dumps, RESULTS)),
    "linux": LINUX,
    "german": GERMAN,
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_cut_off_is_refused_or_ends_at_a_whole_line(name: str) -> None:
    text = WHOLE[name]
    whole = {delay for delay in trace(text).delays if delay}
    refused, ends = 0, range(len(text) // 2, len(text) - 1, 3)
    for end in ends:
        try:
            found = trace(text[:end])
        except TableRefusal:
            refused += 1
        else:
            assert name not in ("irtt", "atlas")
            assert {delay for delay in found.delays if delay} <= whole
    assert refused > 0.2 * len(ends)


def test_compressed_text_that_is_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        trace(gzip.compress(LINUX.encode())[:-20])


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([atlas(7, 1, {"rtt": "soon"})]),
        json.dumps([atlas(7, 1, {"rtt": 2}, type="traceroute")]),
        json.dumps([{"prb_id": 7, "msm_id": 2, "timestamp": 3}]),
        json.dumps([atlas(7, 1, {"rtt": -2})]),
        json.dumps([atlas(7, 1, {"rtt": 1e300})]),
        irtt({"seqno": 1}),
        irtt(),
        "[" * 9000 + '{"prb_id": 1',
        '[{"prb_id": ' + "9" * 6000,
    ],
)
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|delay|no packet"):
        trace(text)


@pytest.mark.parametrize(
    "text",
    [
        "0,0,0 / 1,0,0 / 0 arrival=0.1 seq=1\n",
        '{"time": 1, "x": 2, "y": 3}\n',
        "time,x,y\n0,1,2\n",
        "",
    ],
)
def test_recordings_of_movement_are_none(text: str) -> None:
    assert read_recorded_network(io.BytesIO(text.encode())) is None


def test_a_network_is_diagnosed_from_python(tmp_path: Path) -> None:
    path = tmp_path / "trips.json"
    trips = [trip(index, "true_down" if 30 <= index < 40 else False) for index in range(200)]
    path.write_text(irtt(*trips))
    found = diagnose(path)
    assert [finding.cause for finding in found.findings] == ["loss"]
    assert ("positions",) in [lacks for _, lacks in found.unable]
