"""Random recordings through a reader's fast and slow path, which must give the same result.

    python -m endurance.ways --seconds 600

Tables and JSON lines have a fast way for the usual lines, in the engine, and a slow one that
decides all else. A reader without the fast one must read the same packets, and refuse the same
lines with the same reasons. ``--case N`` shows what one number stands for.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings.reading import make_reader

#: Columns, some with names of other programs; what is not a field is read past.
HEADERS = (
    *("time,x,y,z,vx,vy,vz", "time,x,y,z,vx,vy,vz,arrival,entity,seq,teleport,delta"),
    *("t,x,y", "x,time,note,y,entity", "timestamp_ms,pos_x,pos_y,pos_z,id", "entity,time,x,y,z"),
    "time,x,y,z,arrival",
)

DELIMITERS = (",", ",", ";", "\t", "|", " ")

#: JSON lines by the names that lead to each field.
SHAPES = (
    '{{"time": {time}, "x": {x}, "y": {y}, "z": {z}, "vx": {vx}, "vy": {vy}, "vz": {vz}}}',
    '{{"time": {time}, "x": {x}, "y": {y}, "z": {z}, "entity": {entity}, "seq": {seq},'
    ' "arrival": {arrival}, "teleport": {teleport}, "delta": {delta}}}',
    '{{"t": {time}, "pos": [{x}, {y}, {z}], "vel": [{vx}, {vy}, {vz}], "id": {entity}}}',
    '{{"data": {{"position": {{"x": {x}, "y": {y}, "z": {z}}}, "note": [{note}, {{}}]}},'
    ' "timestamp": {time}}}',
)

ODD = (
    *("", " ", "nan", "inf", "-inf", "1e", "1e5", "1E+5", "-0", "+1", "01", "1.", ".5", "-.5"),
    *("0x1p3", "1_0", "1,5", "true", "True", "FALSE", "null", "1 2", "\t1", "1\t", "\x0b1"),
    *("1\x1f", "1\xa0", "\x85", "\u2028", "\ufeff1", "\ud7ff", "é", "\U0001f600", "\0", "\r"),
    *('"', '""', '"1"', '"1" ', ' "1"', '"a""b"', 'a"b', "1#2", "\\", "\\u0041", '"\\u0031"'),
    *('"\\ud800"', "[1]", "{}", "1e400", "1e-400", "-5e-324", "9007199254740993", "4" * 400),
    *("1700000000123456789", "1700000000.123456789", "2024-05-01T12:34:56.789Z", "24:00:00"),
    *("2024-05-01 12:34:56+02:00", "12:34:56.5", "16777217.0000000001", "16777216.5"),
    *("0.1" + "0" * 300 + "1", "1.7976931348623159e308"),
)

#: Times that a recording begins with, and the step to the next one.
CLOCKS = (
    *(("0", 0.1), ("1700000000000", 50), ("1700000000.25", 0.1), ("2024-05-01T12:34:56.789Z", 0)),
    *(("12:34:56.5", 0), ("60000", 16)),
)


def number(chance: random.Random) -> str:
    """Return a number in one of the notations that programs write."""
    kind = chance.randrange(8)
    if kind == 0:
        return str(chance.randrange(-1000, 1000))
    if kind == 1:
        return repr(struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0])
    if kind == 2:
        return f"{chance.uniform(-1, 1):.{chance.randrange(25)}e}"
    return f"{chance.uniform(-1e3, 1e3):.{chance.randrange(12)}f}"


def values(chance: random.Random, wild: float, clock: tuple[str, float], k: int) -> dict[str, str]:
    """Return the texts of one packet's fields."""
    start, step = clock
    stamp = f"{float(start) + k * step:.3f}".rstrip("0").rstrip(".") if step else start
    found = {name: number(chance) for name in ("x", "y", "z", "vx", "vy", "vz")}
    found |= {"time": stamp, "arrival": stamp, "entity": chance.choice(("a", "b c", "é#1", ""))}
    found |= {"seq": str(k), "teleport": chance.choice("01"), "delta": "0.01", "note": "some text"}
    for name in found:
        if chance.random() < wild:
            found[name] = chance.choice(ODD) if chance.random() < 0.9 else chance.choice(ODD) * 2
    return found


def table(chance: random.Random, wild: float, clock: tuple[str, float]) -> Iterator[str]:
    delimiter = chance.choice(DELIMITERS)
    header = chance.choice(HEADERS).split(",")
    fields = [{"t": "time", "timestamp_ms": "time", "id": "entity"}.get(n, n) for n in header]
    fields = [name.removeprefix("pos_") for name in fields]
    yield delimiter.join(header)
    for k in range(chance.randrange(1, 12)):
        found = values(chance, wild, clock, k)
        cells = [found[name] for name in fields]
        if chance.random() < 0.1:
            cells = [f'"{cell}"' for cell in cells]
        if delimiter == ";" and chance.random() < 0.3:
            cells = [cell.replace(".", ",") for cell in cells]
        if chance.random() < wild:
            cells.insert(chance.randrange(len(cells)), chance.choice(ODD))
        blanks = " " * chance.choice((0, 0, 0, 1, 2))
        yield f"{delimiter}{blanks}".join(cells)


def objects(chance: random.Random, wild: float, clock: tuple[str, float]) -> Iterator[str]:
    shape = chance.choice(SHAPES)
    for k in range(chance.randrange(1, 12)):
        found = values(chance, wild, clock, k)
        quoted = {"entity", "note"} | {
            n for n in found if chance.random() < 0.05 or ":" in found[n]
        }
        found = {n: f'"{v}"' if n in quoted else v for n, v in found.items()}
        line = shape.format(**found)
        if chance.random() < wild:
            line = line.replace(": ", chance.choice((":", " :\t", ": null, ", ':1,"x":')), 1)
        yield line


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Return the data with some bytes left out, doubled or replaced."""
    text = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(text) + 1)
        kind = chance.randrange(3)
        if kind == 0:
            del text[place : place + chance.choice((1, 2, 9))]
        elif kind == 1:
            begin = chance.randrange(len(text) + 1)
            text[place:place] = text[begin : begin + chance.choice((1, 3, 40))]
        else:
            text[place : place + 1] = chance.choice((*ODD, ",", "\n", "-", "}", "[", ":")).encode()
    return bytes(text)


class Case:
    """A random recording and its format, determined by a case number."""

    def __init__(self, case: int) -> None:
        chance = random.Random(case)
        self.format: str = chance.choice(("csv", "jsonl"))
        wild = chance.choice((0.0, 0.01, 0.03, 0.2))
        make = table if self.format == "csv" else objects
        lines = make(chance, wild, chance.choice(CLOCKS))
        newline = chance.choice(("\n", "\n", "\r\n"))
        self.data = newline.join([*lines, ""]).encode("utf-8", "surrogatepass")
        if chance.random() < 0.4:
            self.data = damaged(chance, self.data)

    def read(self, fast: bool) -> tuple[list[Any], list[Any]]:
        """Return the packets and refusals, in a form that can be compared."""
        reader: Any = make_reader(self.format)
        if not fast:
            reader.settle = without_fast_way(reader)
        block: PacketBlock = reader.scan(self.data, True)
        packets = [repr((packet, packet.sequence, packet.delta)) for packet in _packets(block)]
        return packets, [str(refusal) for refusal in block.refusals]

    def difference(self) -> str:
        """Return the difference between the two paths; empty if there is none."""
        fast, slow = self.read(True), self.read(False)
        for one, other in zip(fast, slow, strict=True):
            if one != other:
                return f"fast: {one}\nslow: {other}"
        return ""


def _packets(block: PacketBlock) -> Iterator[Packet]:
    return map(block.__getitem__, range(len(block)))


class _Slow:
    """A scanner that treats every line as unusual."""

    def __init__(self, records: Any) -> None:
        self._records = records

    def take_lines(
        self, block: PacketBlock, begin: int, line: int, longest: int
    ) -> tuple[int, int]:
        """Take no line at once."""
        del block, longest
        return begin, line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


def without_fast_way(reader: Any) -> Any:
    """Return a replacement of the reader's own ``settle`` without its fast path."""
    settle = reader.settle

    def slow(layout: Any) -> None:
        reader.records = _Slow(reader.records)
        settle(layout)

    return slow


def main() -> int:
    """Compare until the time is over; return status 1 if something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="compare this one alone, and print it")
    options = parser.parse_args()
    if options.case is not None:
        case = Case(options.case)
        print(case.data, case.difference() or "no difference", sep="\n")
        return 0
    begin, size, found, number = time.monotonic(), 0, 0, options.first
    while time.monotonic() - begin < options.seconds:
        case = Case(number)
        size += len(case.data)
        if difference := case.difference():
            found += 1
            print(f"case {number}: {case.format}\n{case.data!r}\n{difference}", flush=True)
        number += 1
    print(f"{size:,} bytes in {number - options.first:,} cases: {found} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
