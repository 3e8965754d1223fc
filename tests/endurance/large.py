"""Inputs of 64 kB to 1 MB, damaged in many places, through the whole readers.

    python -m endurance.large csv --seconds 1200 --bytes 1000000000
    python -m endurance.large --seconds 600

``readers`` finds the ways through a reader with inputs of some kilobytes; these are long enough for
blocks, batches, pages and tables that grow. What the packed formats have inside is damaged before
it is packed, half of the time, so that it is reached. A case is its number: ``--first N`` shows one
again. A reader may refuse anything with a reason that has words; it must not raise anything else,
take ten seconds of processor time, or grow beyond 3 GB.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import mmap
import os
import random
import resource
import sqlite3
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support import captures
from support.typed_session import TypedSession

from endurance import readers
from endurance.readers import (
    PATTERN,
    READERS,
    Found,
    damaged,
    decoded,
    file,
    scratch,
    seeds,
    variant,
    whole,
)
from endurance.watched import run_cases
from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.reading import is_possibly_grouped
from epic_cli.session import journal as session_journals
from epic_cli.work.journal import ResultJournal

LIMIT, MEMORY = 10.0, 3 << 30

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATED = "http://schemas.openxmlformats.org/package/2006/relationships"

Members = dict[str, bytes]


# ------------------------------------------------------------------------------------- readers

#: The fields of the log in sentences.
SENTENCES = r"^\[(?P<time>[\d:.]+)\] .*pos=\((?P<x>[-\d.]+), (?P<y>[-\d.]+), (?P<z>[-\d.]+)\)"


def grouped(data: bytes) -> Found:
    """Read a table whose entities may follow one another."""
    path = scratch().with_name("grouped.csv")
    path.write_bytes(data)
    is_possibly_grouped(str(path), "tank1")
    return file("auto")(data)


def from_file(data: bytes) -> Found:
    """Read from a descriptor."""
    path = scratch().with_name("database")
    path.write_bytes(data)
    with path.open("rb") as stream:
        return whole(stream.fileno())


def session(data: bytes) -> Found:
    """Resume a session."""
    path = scratch().with_name("session.epic")
    path.write_bytes(data)
    typed = TypedSession()
    typed.run_quietly(session_journals.read(path), path.name)
    return Found(len(typed.lines))


def framed(data: bytes) -> Found:
    """Read datagrams of any kind, each preceded by its length."""
    pieces, at = [], 0
    while at + 2 <= len(data):
        (size,) = struct.unpack_from("<H", data, at)
        pieces.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return decoded(Decoder(), pieces)


# --------------------------------------------------------------------------------------- inputs


def numbers(chance: random.Random, count: int, latest: float = 2e9) -> Iterator[tuple[float, ...]]:
    """Yield states of a path that begins before ``latest``: time, position, velocity."""
    x, y, z = (chance.uniform(-100, 100) for _ in range(3))
    now = min(chance.choice((0.0, 0.1, 1700000000.0)), latest)
    for _ in range(count):
        now += chance.choice((0.05, 0.1, 0.0, 1 / 30))
        vx, vy, vz = (chance.uniform(-9, 9) for _ in range(3))
        x, y, z = x + vx / 10, y + vy / 10, z + vz / 10
        yield round(now, 4), *(round(value, 3) for value in (x, y, z, vx, vy, vz))


def text(chance: random.Random, count: int, latest: float = 2e9) -> bytes:
    """Write packet text."""
    keys = chance.choice(("", " entity=tank{}", " arrival={} seq=1", " yaw=0.1 teleport=0"))
    return "".join(
        f"{x},{y},{z} / {vx},{vy},{vz} / {t}{keys.format(int(t * 10) % 7)}\n"
        for t, x, y, z, vx, vy, vz in numbers(chance, count, latest)
    ).encode()


def rows(chance: random.Random, count: int) -> bytes:
    """Write a table, with one of several separators, headers and ways to write a time."""
    separator = chance.choice((",", ";", "\t", "|"))
    header = chance.choice(
        ("time,x,y,z,vx,vy,vz,entity", "t,pos_x,pos_y,pos_z,vel_x,vel_y,vel_z,id",
         "timestamp,position.x,position.y,position.z,a,b,c,player", "time_ms,x,y,z,vx,vy,vz,name")
    )  # fmt: skip
    quoted = chance.choice(('"tank{}"', "tank{}"))
    out = [header.replace(",", separator)]
    out += [
        separator.join((*map(repr, one), quoted.format(k % 5)))
        for k, one in enumerate(numbers(chance, count))
    ]
    return chance.choice(("\n", "\r\n")).join(out).encode() + b"\n"


def by_entity(chance: random.Random, count: int) -> bytes:
    """Return a table with its entities one after the other."""
    out = ["time,x,y,z,vx,vy,vz,entity"]
    for tank in range(5):
        out += [
            ",".join((*map(repr, row), f"tank{tank}")) for row in numbers(chance, count // 5 + 1)
        ]
    return "\n".join(out).encode() + b"\n"


def objects(chance: random.Random, count: int) -> Iterator[dict[str, Any]]:
    """Yield packets as JSON has them."""
    nested = chance.random() < 0.5
    for k, (t, x, y, z, vx, vy, vz) in enumerate(numbers(chance, count)):
        if nested:
            where: dict[str, Any] = {"pos": [x, y, z], "vel": {"x": vx, "y": vy, "z": vz}}
        else:
            where = {"x": x, "y": y, "z": z, "vx": vx, "vy": vy, "vz": vz}
        yield {"time": t, "entity": f"é{k % 5}", **where}


def json_lines(chance: random.Random, count: int) -> bytes:
    """Make one object a line."""
    return "".join(json.dumps(record) + "\n" for record in objects(chance, count)).encode()


def frames(chance: random.Random, count: int) -> bytes:
    """Return a document: a list, frames with players, or columns."""
    kind, found = chance.randrange(3), list(objects(chance, count))
    if kind == 0:
        return json.dumps({"meta": {"v": 1}, "data": found}).encode()
    if kind == 1:
        made = [{"t": row.pop("time"), "players": {"a": row, "b": row}} for row in found]
        return json.dumps({"frames": made}).encode()
    names = ("time", "x", "y", "z")
    columns = zip(*(number[:4] for number in numbers(chance, count)), strict=True)
    return json.dumps({n: list(c) for n, c in zip(names, columns, strict=True)}).encode()


def lines(chance: random.Random, count: int) -> bytes:
    """Return a log that the pattern reads."""
    return "".join(
        f"{t} tank{k % 5} ({x}, {y})\n" for k, (t, x, y, *_) in enumerate(numbers(chance, count))
    ).encode()


def log(chance: random.Random, count: int) -> bytes:
    """Return a log of a game in sentences."""
    return "".join(
        f"[{k // 36000:02}:{k // 600 % 60:02}:{k / 10 % 60:06.3f}] [Net] recv pos=({x}, {y}, {z})"
        f" rot=(0.000, {vx}, 0.000) seq={k}\n"
        for k, (_, x, y, z, vx, *_) in enumerate(numbers(chance, count))
    ).encode()


def gpx(chance: random.Random, count: int) -> bytes:
    """Return a track."""
    made = "".join(
        f'<trkpt lat="{50 + x / 1e4}" lon="{8 + y / 1e4}"><ele>{z}</ele>'
        f"<time>2024-05-01T{k // 3600 % 24:02}:{k // 60 % 60:02}:{k % 60:02}Z</time></trkpt>\n"
        for k, (_, x, y, z, *_) in enumerate(numbers(chance, count))
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><gpx xmlns="http://www.topografix.com/GPX/1/1">'
        f"<trk><name>a</name><trkseg>{made}</trkseg></trk></gpx>"
    ).encode()


def nmea(chance: random.Random, count: int) -> bytes:
    """Write NMEA sentences of a GPS receiver."""

    def checked(words: str) -> str:
        total = functools.reduce(lambda one, other: one ^ other, words.encode())
        return f"${words}*{total:02X}\r\n"

    made = ""
    for k, (_, x, y, *_) in enumerate(numbers(chance, count)):
        clock = f"{k // 3600 % 24:02}{k // 60 % 60:02}{k % 60:02}.00"
        lat, lon = f"50{abs(x) % 60:07.4f},N", f"008{abs(y) % 60:08.5f},E"
        made += checked(f"GPGGA,{clock},{lat},{lon},1,08,1.0,100.0,M,47.0,M,,")
        made += checked(f"GPRMC,{clock},A,{lat},{lon},36.0,018.0,050124,,")
    return made.encode()


def xlsx(chance: random.Random, count: int) -> Members:
    """Return the members of a workbook with one sheet or two."""
    relation = f'<Relationship Id="r{{}}" Type="{_OFFICE}/{{}}" Target="{{}}"/>'
    names = chance.choice((("S",), ("S", "T")))

    def relations(*some: str) -> bytes:
        return f'<Relationships xmlns="{_RELATED}">{"".join(some)}</Relationships>'.encode()

    header = "".join(f'<c t="inlineStr"><is><t>{item}</t></is></c>' for item in ("time", *"xyz"))
    body = "".join(
        f'<row r="{k}">{"".join(f"<c><v>{value!r}</v></c>" for value in one[:4])}</row>'
        for k, one in enumerate(numbers(chance, count), 2)
    )  # fmt: skip
    sheets = "".join(
        f'<sheet name="{one}" sheetId="{k}" r:id="r{k}"/>' for k, one in enumerate(names, 1)
    )
    made = {
        "_rels/.rels": relations(relation.format(1, "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}'
        "</sheets></workbook>".encode(),
        "xl/_rels/workbook.xml.rels": relations(
            *(relation.format(k, "worksheet", f"s{k}.xml") for k in range(1, len(names) + 1))
        ),
    }
    for k in range(1, len(names) + 1):
        first = f'<row r="1">{header}</row>' if k == 1 else ""
        made[f"xl/s{k}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{first}{body if k == 1 else ""}</sheetData>'
            "</worksheet>"
        ).encode()
    return made


def ods(chance: random.Random, count: int) -> Members:
    """Return the members of a workbook of OpenDocument."""
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )

    def cell(value: object) -> str:
        kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        times = chance.choice(("",) * 30 + (' table:number-columns-repeated="2"',))
        shown = f"<text:p>{value}</text:p></table:table-cell>"
        return f'<table:table-cell{times} office:value-type="{kind}">{shown}'

    body = "".join(
        f"<table:table-row>{''.join(map(cell, cells))}</table:table-row>"
        for cells in [("time", *"xyz"), *(number[:4] for number in numbers(chance, count))]
    )
    content = (
        f'<?xml version="1.0"?><office:document-content{spaces} office:version="1.3"><office:body>'
        f'<office:spreadsheet><table:table table:name="A">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    return {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": content.encode(),
        "META-INF/manifest.xml": b"<manifest/>",
    }


def zipped(members: Members, chance: random.Random) -> bytes:
    """Return a ZIP archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", chance.choice((0, 0, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def parquet(chance: random.Random, count: int) -> bytes:
    """Return a Parquet file whose columns are written in one of several ways."""
    import pyarrow
    from pyarrow import parquet as library

    columns = list(zip(*numbers(chance, count), strict=True))
    made: dict[str, Any] = dict(zip(("time", "x", "y", "z"), columns, strict=False))
    if chance.random() < 0.5:
        made["vel"] = [list(row) for row in zip(*columns[4:], strict=True)]
    if chance.random() < 0.5:
        made["entity"] = [f"tank{k % 5}" for k in range(count)]
    if chance.random() < 0.3:
        made["more"] = [{"a": k, "b": "x"} for k in range(count)]
    file = io.BytesIO()
    library.write_table(
        pyarrow.table(made), file, compression=chance.choice(("none", "snappy", "zstd")),
        row_group_size=chance.choice((500, 100_000)), use_dictionary=chance.random() < 0.5,
    )  # fmt: skip
    return file.getvalue()


def sqlite(chance: random.Random, count: int) -> bytes:
    """Return a database with a table, an index and a view."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE packets (time REAL, x REAL, y REAL, z REAL, entity TEXT)")
    base.executemany(
        "INSERT INTO packets VALUES (?, ?, ?, ?, ?)",
        ((*one[:4], f"tank{k % 5}") for k, one in enumerate(numbers(chance, count))),
    )
    base.execute("CREATE INDEX places ON packets (time)")
    base.execute("CREATE VIEW last AS SELECT entity FROM packets")
    base.commit()
    return base.serialize()


def captured(chance: random.Random, count: int) -> bytes:
    """Return a capture in either format."""
    one, frame, now = chance.randrange(4), [], 0.0
    for t, *rest in numbers(chance, count):
        x, y, z, vx, vy, vz = rest
        words = f"{x},{y},{z} / {vx},{vy},{vz} / {t}".encode()
        segment = captures.udp(words)
        packet = captures.ipv6(segment) if chance.random() < 0.2 else captures.ipv4(segment)
        now += 0.05
        frame.append((now, captures.ethernet(packet)))
    order = chance.choice("<>")
    return captures.pcapng(frame, order=order) if one else captures.pcap(frame, order=order)


def sent(chance: random.Random, count: int) -> bytes:
    """Write datagrams: text, JSON, tables and msgpack."""
    import msgpack  # type: ignore[import-untyped, unused-ignore]

    made = []
    for record in objects(chance, count):
        kind = chance.randrange(4)
        if kind == 0:
            made.append(b"1.0,2.0,3.0 / 1,2,3 / %a" % record["time"])
        elif kind == 1:
            made.append(json.dumps(record).encode())
        elif kind == 2:
            made.append(b"time,x,y\n%a,2,3" % record["time"])
        else:
            made.append(msgpack.packb(record))
    return b"".join(struct.pack("<H", len(chunk)) + chunk for chunk in made)


def records(chance: random.Random, count: int) -> bytes:
    """Return binary records below their layout."""
    layout, form = chance.choice(
        (("time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16", "<d6fH"),
         ("big time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16", ">d6fH"),
         ("{time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16}[2]", "<d6fH"),
         ("{time:f64 x:f32 y:f32 z:f32 vx:f32 vy:f32 vz:f32 id:u16}", "<d6fH"))
    )  # fmt: skip
    made = b"".join(struct.pack(form, *one, k % 5) for k, one in enumerate(numbers(chance, count)))
    return layout.encode() + b"\n" + made


def known_answers(_: random.Random, count: int) -> bytes:
    """Return a journal of results."""
    path = scratch().with_name("whole")
    path.unlink(missing_ok=True)
    with ResultJournal(str(path), "compare") as one:
        for number in range(min(count, 5000)):
            one.add(f"{number:064x}", {"n": number})
    return path.read_bytes()


def resumed(chance: random.Random, count: int) -> bytes:
    """Return a journal of a session."""
    commands = (b":strategy lerp+lerp_time=1\n", b":reset\n", b":strategy lerp\n", b":tick 1\n")
    out = text(chance, count, 0.1).splitlines(True)
    for _ in range(5):
        out.insert(chance.randrange(len(out)), chance.choice(commands))
    return b"".join(out)


def trace(chance: random.Random, count: int) -> bytes:
    """Return a measured link."""
    if chance.random() < 0.5:
        made = (f"a,{k / 10},{chance.choice((30, 30.5, ''))},40" for k in range(count))
        return "\n".join(("flow,send_time,owd_down_ms,owd_up_ms", *made)).encode()
    made = (f"{k / 10},{chance.choice((f'{k / 10 + 0.05:.3f}', ''))}" for k in range(count))
    return "\n".join(("send_time,recv_time", *made)).encode()


def script(chance: random.Random, count: int) -> bytes:
    """Return inputs of two players."""
    words = ("up", "left", "stop", "right", "right up shoot aim=1,0.5", "throw aim=B")
    made = (f"{k / 10} {chance.choice('AB')} {chance.choice(words)}" for k in range(count))
    return "\n".join(("# inputs", "set latency=80ms", *made)).encode() + b"\n"


def case_file(chance: random.Random, count: int) -> bytes:
    """Return a case with many recordings, or with many settings."""
    names = ", ".join(f'"{k}.csv"' for k in range(count))
    settings = ", ".join(f'"epic+calc_ahead=0.{k:06}"' for k in range(count))
    return chance.choice(
        (f'recording = [{names}]\nstrategy = "epic"\nlatency = 0.1\nexpected = "a.jsonl"\n',
         f'recording = "a.csv"\nstrategy = [{settings}]\n[tolerance]\nx = 1e-6\n')
    ).encode()  # fmt: skip


Make = Callable[[random.Random, int], "bytes | Members"]

#: A reader, what makes its inputs, and about how many bytes of these a packet is.
KINDS: dict[str, tuple[Callable[[bytes], Found], Make, int]] = {
    "text": (file("text"), text, 60),
    "csv": (file("csv"), rows, 60),
    "table": (file("auto"), rows, 60),
    "grouped": (grouped, by_entity, 60),
    "jsonl": (file("jsonl"), json_lines, 120),
    "frames": (file("auto"), frames, 120),
    "pattern": (file("auto", PATTERN), lines, 40),
    "sentences": (file("auto", SENTENCES), log, 90),
    "proposed": (file("auto"), log, 90),
    "gpx": (file("gpx"), gpx, 110),
    "nmea": (file("nmea"), nmea, 160),
    "xlsx": (file("auto"), xlsx, 110),
    "ods": (file("auto"), ods, 400),
    "parquet": (file("auto"), parquet, 30),
    "sqlite": (file("auto"), sqlite, 70),
    "database": (from_file, sqlite, 70),
    "capture": (readers.capture, captured, 110),
    "datagrams": (framed, sent, 80),
    "binary": (readers.binary, records, 34),
    "truth": (READERS["truth"], rows, 60),
    "trace": (READERS["trace"], trace, 10),
    "script": (READERS["script"], script, 12),
    "case": (readers.case, case_file, 12),
    "answers": (readers.answers, known_answers, 130),
    "session": (session, resumed, 60),
}  # fmt: skip

#: Inputs that are varied, and their sizes.
_BASES, _SIZES = 8, (64_000, 150_000, 400_000, 1_000_000)

_SLOW = {"session": 64_000, "case": 400_000}

#: Read to the first fault, which should not be in the first lines.
_WHOLE = {"truth", "trace", "script", "case", "frames", "gpx"}


@functools.cache
def bases(name: str) -> list[bytes | Members]:
    """Return the undamaged inputs."""
    chance = random.Random(f"{name} bases")
    _, make, each = KINDS[name]
    longest = _SLOW.get(name, _SIZES[-1])
    return [make(chance, min(chance.choice(_SIZES), longest) // each) for _ in range(_BASES)]


def made(name: str, number: int) -> bytes:
    """Return the input of a case."""
    chance = random.Random(f"{name} {number}")
    some = bases(name)
    base = chance.choice(some)
    if isinstance(base, dict):
        members = [chunk for chunk in some if isinstance(chunk, dict)]
        if chance.random() < 0.2:
            return damaged(chance, zipped(base, chance), [zipped(members[0], chance)])
        inner = chance.choice(list(base))
        others = [data for member in members for data in member.values()]
        return zipped({**base, inner: damaged(chance, base[inner], others)}, chance)
    if chance.random() < 0.02 and seeds(name):
        return variant(chance, seeds(name))
    most = 2 if name in _WHOLE else 200
    return damaged(chance, base, [chunk for chunk in some if isinstance(chunk, bytes)], most)


class Totals:
    """Totals of cases, shared with the process that runs them."""

    NAMES = ("bytes", "cases", "with packets", "packets", "refused", "slowest, us", "peak, KiB")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * len(self.NAMES))

    @property
    def values(self) -> list[int]:
        """Return the totals in the order of their names."""
        return list(struct.unpack(f"{len(self.NAMES)}q", self._memory[:]))

    def add(self, size: int, found: Found, seconds: float) -> None:
        """Add one case."""
        now = self.values
        for at, more in enumerate((size, 1, found.taken > 0, found.taken, found.refused)):
            now[at] += more
        now[5] = max(now[5], round(seconds * 1e6))
        now[6] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._memory[:] = struct.pack(f"{len(self.NAMES)}q", *now)

    def __str__(self) -> str:
        return ", ".join(f"{n}: {v:,}" for n, v in zip(self.NAMES, self.values, strict=True))


def attack(name: str, seconds: float, size: int, first: int = 0, most: int = 10**9) -> list[str]:
    """Run cases until the time is over; return the failures."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    read, totals, begin = KINDS[name][0], Totals(), time.monotonic()
    bases(name)

    def run(number: int) -> None:
        if totals.values[0] > size or time.monotonic() - begin > seconds:
            os._exit(0)
        data = made(name, number)
        start = time.process_time()
        found = read(data)
        totals.add(len(data), found, time.process_time() - start)

    found = [f"{name}: {ended}" for ended in run_cases(range(first, first + most), run, LIMIT)]
    print(f"{name}: {totals}; {time.monotonic() - begin:.0f} s; found {len(found)}", flush=True)
    return found


def main() -> int:
    """Attack one reader, or all; return status 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader", nargs="*", choices=[[], *KINDS])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--cases", type=int, default=10**9)
    options = parser.parse_args()
    found = []
    for name in options.reader or KINDS:
        found += attack(name, options.seconds, options.bytes, options.first, options.cases)
        for ended in found:
            print(ended, flush=True)
    return bool(found)


if __name__ == "__main__":
    Path(scratch())
    sys.exit(main())
