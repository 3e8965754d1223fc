"""The cost of a packet in each format, beside packet text and other libraries.

Run it with ``python tests/benchmarks/bench_formats.py``. All take turns, round by round, and the
best round of each counts (CPU time). orjson and pandas take part where they are installed.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import random
import time
from collections.abc import Callable, Iterable

from epic_cli.recordings.reading import BLOCK_SIZE, make_reader

PACKETS = 100_000
ROUNDS = 5


def recordings() -> dict[str, tuple[str, bytes]]:
    """Return the same movement in all formats, by a description of each format."""
    source = random.Random(1)
    own, text, table, game, objects, nested = [], [], [], [], [], []
    for index in range(PACKETS):
        n = [f"{source.uniform(-500, 500):.3f}" for _ in range(6)]
        t = f"{index * 0.05:.2f}"
        text.append(f"{n[0]},{n[1]},{n[2]} / {n[3]},{n[4]},{n[5]} / {t}\n")
        table.append(",".join([t, *n]) + "\n")
        game.append(f"{1700000000000 + index * 50};tank7;{n[0]};{n[1]};{n[3]};{n[4]}\n")
        names = ("time", "x", "y", "z", "vx", "vy", "vz")
        pairs = zip(names, (t, *n), strict=True)
        objects.append("{" + ", ".join(f'"{name}": {value}' for name, value in pairs) + "}\n")
        nested.append(
            f'{{"t":{t},"id":7,"pos":[{n[0]},{n[1]},{n[2]}],'
            f'"vel":{{"x":{n[3]},"y":{n[4]},"z":{n[5]}}}}}\n'
        )
    own = ["time,x,y,z,vx,vy,vz\n", *table]
    game.insert(0, "timestamp_ms;player;pos_x;pos_y;vel_x;vel_y\n")
    quoted = [own[0], *('"' + row.strip().replace(",", '","') + '"\n' for row in table)]
    kinds: dict[str, tuple[str, Iterable[str]]] = {
        "packet text": ("text", text),
        "CSV": ("csv", own),
        "CSV, every cell quoted": ("csv", quoted),
        "CSV of a game: ms, entity, xy, ;": ("csv", game),
        "JSON lines": ("jsonl", objects),
        "JSON lines, nested": ("jsonl", nested),
    }
    return {name: (kind, "".join(lines).encode()) for name, (kind, lines) in kinds.items()}


def read(kind: str, data: bytes) -> int:
    """Read a recording in blocks, as from a file."""
    reader, count = make_reader(kind), 0
    for begin in range(0, len(data), BLOCK_SIZE):
        count += len(reader.scan(data[begin : begin + BLOCK_SIZE]))
    return count + len(reader.scan(b"", final=True))


def others(data: dict[str, tuple[str, bytes]]) -> dict[str, Callable[[], int]]:
    """Time other libraries on the plain table and the plain objects."""
    table, objects = data["CSV"][1], data["JSON lines"][1]
    rows = table.decode()

    def by_csv() -> int:
        return sum(
            1 for row in csv.reader(io.StringIO(rows)) if row[0] != "time" and [*map(float, row)]
        )

    found: dict[str, Callable[[], int]] = {
        "csv and float()": by_csv,
        "json": lambda: sum(1 for line in objects.splitlines() if json.loads(line)),
    }
    for name, use in (
        ("orjson", lambda orjson: sum(1 for line in objects.splitlines() if orjson.loads(line))),
        ("pandas.read_csv", lambda pandas: len(pandas.read_csv(io.BytesIO(table)))),
        (
            "pandas.read_json",
            lambda pandas: len(pandas.read_json(io.BytesIO(objects), lines=True)),
        ),
    ):
        try:
            module = importlib.import_module(name.partition(".")[0])
        except ImportError:
            continue
        found[name] = lambda use=use, module=module: use(module)  # type: ignore[misc]
    return found


def main() -> None:
    """Print nanoseconds a packet, and the ratio to packet text."""
    data = recordings()
    contestants: dict[str, Callable[[], int]] = {
        name: lambda kind=kind, text=text: read(kind, text)  # type: ignore[misc]
        for name, (kind, text) in data.items()
    }
    contestants.update(others(data))
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(ROUNDS):
        for name, use in contestants.items():
            begin = time.process_time()
            count = use()
            best[name] = min(best[name], time.process_time() - begin)
            assert count == PACKETS, (name, count)
    for name, seconds in best.items():
        times = seconds / best["packet text"]
        print(f"{name:34}{seconds / PACKETS * 1e9:8.0f} ns{times:8.1f} times packet text")


if __name__ == "__main__":
    main()
