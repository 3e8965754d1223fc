"""Logs of networked games with three clocks, as their programs write them, read by the command.

Stamps and arrivals each have a unit and a name of their own, drawn at random among what
engines, servers and loggers do; the times are known. A log is right at once, told (a finding or a
refusal, and then what is proposed is pasted), or wrong without a word.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from epic_cli import Packet, inspect, read_packets
from epic_cli.engine.parameters import SettingError
from epic_cli.recordings.findings import Severity
from epic_cli.recordings.read_spec import ReadSpec

DAY = datetime(2026, 7, 14, 19, 3, 27, 512000, tzinfo=UTC)
UNIX = DAY.timestamp()


class Clock(NamedTuple):
    """A program's way to write a time (s).

    Column names with and without a unit, and the cell's text.
    """

    named: tuple[str, ...]
    plain: tuple[str, ...]
    write: Callable[[float], object]


STAMPS = {
    "s": Clock(
        ("t_s", "time_sec", "sent_s"),
        ("t", "ts", "timestamp", "sent", "server_time"),
        lambda t: round(t, 6),
    ),
    "ms": Clock(
        ("t_ms", "time_boot_ms", "serverTimeMs", "sent_ms"),
        ("t", "ts", "timestamp", "sent"),
        lambda t: round(t * 1e3),
    ),
    "us": Clock(
        ("t_us", "timestamp_us", "time_usec"), ("ts", "timestamp"), lambda t: round(t * 1e6)
    ),
    "ns": Clock(("t_ns", "stamp_ns"), ("ts", "timestamp"), lambda t: round(t * 1e9)),
    "tick": Clock(("tick", "server_tick", "tickNumber"), (), lambda t: round(t * 60)),
    "date": Clock(
        ("timestamp", "sent_at", "datetime"),
        (),
        lambda t: (DAY + timedelta(seconds=t)).isoformat(" "),
    ),
    "unix": Clock(("timestamp", "sent", "time_sec"), ("unix_time",), lambda t: round(UNIX + t, 6)),
    "unix ms": Clock(("timestamp", "epoch_ms", "sent"), (), lambda t: round((UNIX + t) * 1e3)),
}
ARRIVALS = {
    "none": Clock(("",), (), lambda _: None),
    "s": Clock(
        ("recv_s", "arrival_sec"), ("recv", "received", "arrival_time"), lambda t: round(t, 6)
    ),
    "ms": Clock(
        ("recv_ms", "received_ms", "recvTimeMs", "arrival_ms"),
        ("recv", "received", "rx"),
        lambda t: round(t * 1e3, 1),
    ),
    "us": Clock(("recv_us", "rx_time_us"), ("recv", "rx_timestamp"), lambda t: round(t * 1e6)),
    "ns": Clock(("recv_ns",), ("received",), lambda t: round(t * 1e9)),
    "date": Clock(
        ("received_at", "recv_time"), (), lambda t: (DAY + timedelta(seconds=t)).isoformat()
    ),
    "unix": Clock(("received_at", "recv"), (), lambda t: round(UNIX + t, 6)),
    "unix ms": Clock(("recv", "received_at", "recv_ms"), (), lambda t: round((UNIX + t) * 1e3)),
}


class Log(NamedTuple):
    """A log's text and its true content: stamps and arrivals, each counted from its first."""

    text: bytes
    stamps: list[float]
    arrivals: list[float]
    said: str


def make(rng: random.Random) -> Log:
    """Return a log of one or two entities at walking to driving speed, sent at 10 to 60 Hz."""
    sent, came = rng.choice(list(STAMPS)), rng.choice(list(ARRIVALS))
    stamp, arrival = STAMPS[sent], ARRIVALS[came]
    stamp_name = rng.choice(stamp.named + (stamp.plain if rng.random() < 0.5 else ()))
    arrival_name = rng.choice(arrival.named + (arrival.plain if rng.random() < 0.5 else ()))
    step = rng.choice((1, 2, 3, 6)) / 60
    count, speed = rng.randint(20, 80), rng.choice((1.5, 6, 30))
    begin = 0.0 if sent in ("date", "unix", "unix ms") else rng.choice((0.0, 0.0, 12.5, 320.0))
    delay = rng.choice((0.02, 0.045, 0.12))
    other = rng.choice((0.0, 0.0, 512.0)) if came not in ("date", "unix", "unix ms") else 0.0
    times = [begin + n * step for n in range(count)]
    arrivals = [t + other + delay + rng.random() * 0.01 for t in times]
    names = rng.choice((("x", "y"), ("pos_x", "pos_y", "pos_z"), ("x", "y", "z", "hp")))
    rows: list[dict[str, object]] = []
    for n, (t, a) in enumerate(zip(times, arrivals, strict=True)):
        row: dict[str, object] = {stamp_name: stamp.write(t)}
        if came != "none":
            row[arrival_name] = arrival.write(a)
        place = (round(n * step * speed, 3), round(3 + n % 5 * 0.01, 3), 0, 100)
        row |= dict(zip(names, place, strict=False))
        rows.append(row)
    if rng.random() < 0.3:
        rows = [dict(reversed(row.items())) for row in rows]
    text = rng.choice((table, table, lines, document))(rows, rng)
    said = f"{sent}:{stamp_name} {came}:{arrival_name} {1 / step:g} Hz"
    from_first = [at - arrivals[0] for at in arrivals] if came != "none" else []
    return Log(text.encode(), [at - times[0] for at in times], from_first, said)


def table(rows: list[dict[str, object]], rng: random.Random) -> str:
    mark = rng.choice((",", ",", ";", "\t"))
    cells: list[list[object]] = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(mark.join(map(str, row)) for row in cells) + "\n"


def lines(rows: list[dict[str, object]], rng: random.Random) -> str:
    around = rng.random() < 0.3
    return "".join(json.dumps({"msg": "recv", **row} if around else row) + "\n" for row in rows)


def document(rows: list[dict[str, object]], rng: random.Random) -> str:
    whole = rng.choice((rows, {"map": "dust", "frames": rows}))
    return json.dumps(whole, indent=rng.choice((None, 1)))


def is_right(log: Log, packets: Sequence[Packet]) -> bool:
    if len(packets) != len(log.stamps):
        return False
    stamps = [p.time - packets[0].time for p in packets]
    came = [p.arrival for p in packets]
    right = all(abs(a - b) < 2e-3 for a, b in zip(stamps, log.stamps, strict=True))
    if not log.arrivals:
        return right
    if any(at is None for at in came):
        return False
    from_first = [at - came[0] for at in came if at is not None and came[0] is not None]
    return right and all(abs(a - b) < 2e-3 for a, b in zip(from_first, log.arrivals, strict=True))


def proposals(said: str) -> list[str]:
    """Return the readings that a refusal proposes; if only the user knows a rate, the right one."""
    found = (one.strip("'\"") for one in re.findall(r"read=('[^']+'|\"[^\"]+\")", said))
    return [one.replace("@HZ", "@60") for one in found if "NAME" not in one]


def judge(log: Log) -> tuple[str, str]:
    """Return how the log was read, with the reason.

    ``right``; ``told``: once what is said is pasted; ``refused`` and ``doubted``: nothing helps;
    ``wrong``: without a word.
    """
    given = ""
    for turn in range(4):
        try:
            found = inspect(io.BytesIO(log.text), read=ReadSpec.parse(given))
            packets = list(read_packets(io.BytesIO(log.text), read=ReadSpec.parse(given)))
        except SettingError as error:
            return "wrong", f"proposal {given!r}: {error}"
        except ValueError as error:  # refused
            ways = proposals(str(error))
            if not ways or ways[0] == given:
                return "refused", str(error)[:200]
            given = ways[0]
            continue
        if is_right(log, packets):
            return ("told" if turn else "right"), given
        grave = [one for one in found.findings if one.severity is not Severity.NOTE]
        cures = [one.read for one in grave if one.read]
        if not grave:
            return "wrong", found.layout.write() if found.layout else ""
        if not cures or cures[0] == given:
            return "doubted", f"{[one.code for one in grave]} {given}"
        given = cures[0]
    return "doubted", given


def main() -> int:
    """Run the cases; return status 1 if one was misread without a warning."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--case", type=int)
    given = options.parse_args()
    warnings.simplefilter("ignore")  # of findings, which are asked for
    counts: Counter[str] = Counter()
    for case in range(given.cases) if given.case is None else [given.case]:
        log = make(random.Random(f"{given.seed} {case}"))
        verdict, why = judge(log)
        counts[verdict] += 1
        if verdict not in ("right", "told") or given.case is not None:
            print(f"--seed {given.seed} --case {case}: {verdict}: {log.said}: {why}")
            if given.case is not None:
                print(log.text.decode()[:600])
    print(dict(counts))
    return bool(counts["wrong"])


if __name__ == "__main__":
    sys.exit(main())
