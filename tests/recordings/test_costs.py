"""The cost of a stranger's file is proportional to its size, and unread content is counted."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.recordings import few_of
from support.running import epic

from epic_cli import inspect
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.ingest import Decoder


def calls(job: Callable[[], object]) -> int:
    """Count the calls of Python and compiled functions, a measure of work that is the same in each
    run.
    """
    count = 0

    def take(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(take)
    try:
        job()
    finally:
        sys.setprofile(None)
    return count


def wide(count: int) -> str:
    names = [f"p{n}_{axis}" for n in range(count // 2) for axis in "xy"]
    rows = (",".join(["0.1", *("1" for _ in names)]) for _ in range(3))
    return "\n".join(["t," + ",".join(names), *rows, ""])


def seconds(count: int) -> str:
    names = [f"s{n}_{unit}" for n in range(count // 2) for unit in ("sec", "nsec")]
    return "t,x,y," + ",".join(names) + "\n" + "0,1,2," + ",".join("1" for _ in names) + "\n"


def objects(count: int) -> str:
    names = {f"p{n}_{axis}": n for n in range(count // 2) for axis in "xy"}
    return "".join(json.dumps({"t": t, **names}) + "\n" for t in range(3))


def containers(count: int) -> str:
    return json.dumps({"t": 1, **{f"c{n}": [{"x": 1, "y": 2}] for n in range(count)}}) + "\n"


SHAPES: dict[str, Callable[[int], str]] = {
    "wide": wide,
    "seconds": seconds,
    "names in objects": objects,
    "containers": containers,
    "deep arrays": lambda n: '{"t":0,"x":1,"y":2,"a":' + "[" * n + "]" * n + "}",
    "deep objects": lambda n: '{"a":' * n + "1" + "}" * n,
    "deep and open": lambda n: '{"a":[' * n,
    "other names in each": lambda n: "".join(
        json.dumps({"t": t, f"p{t}_x": 1, f"p{t}_y": 2, f"q{t}_x": 1, f"q{t}_y": 2}) + "\n"
        for t in range(n)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_size(shape: str) -> None:
    def read(size: int) -> Callable[[], object]:
        text = SHAPES[shape](size).encode()
        return lambda: inspect(io.BytesIO(text))

    read(30)()  # what is loaded once
    small, large = (calls(read(size)) for size in (30, 120))
    assert large < 6 * small + 5_000


def test_rows_are_looked_at_once_for_all_entities() -> None:
    def inspected(entities: int) -> Callable[[], object]:
        rows = (f"e{n % entities},{n},{n * 7919 % 997},{n * 104729 % 991}\n" for n in range(1024))
        text = "entity,time,x,y\n" + "".join(rows)
        return lambda: inspect(io.BytesIO(text.encode()))

    inspected(2)()  # what is loaded once
    assert calls(inspected(64)) < 12 * calls(inspected(2))


def test_all_entities_of_a_row_are_read() -> None:
    found = inspect(io.BytesIO(objects(4000).encode()))
    assert found.packets == 3 * 2000


@pytest.mark.parametrize("depth", few_of([20_000, 100_000, 8_000], 1))
@pytest.mark.parametrize("shape", ["deep arrays", "deep objects", "deep and open"])
def test_what_is_nested_too_deeply_is_refused(shape: str, depth: int) -> None:
    done = epic("inspect", stdin=SHAPES[shape](depth).encode())
    assert done.returncode == 1
    assert b"nested too deeply" in done.stderr or b"too long" in done.stderr


def test_a_long_text_that_stands_there_once(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = 1000
    for name, text in (("note", 3_000_000), ("name", 3_000_000), ("name", 10)):
        values = arrow.array(["x" * text])
        places = arrow.array([0] * rows, arrow.int32())
        for column in (arrow.DictionaryArray.from_arrays(places, values),):
            table = {"time": [n / 20 for n in range(rows)], "x": [1.0] * rows, "y": [0.0] * rows}
            file = tmp_path / "a.parquet"
            parquet.write_table(arrow.table({**table, name: column}), file, compression="zstd")
            done = epic("inspect", file.name, cwd=tmp_path)
            if name == "name" and text > 10:
                assert b"column 'name' is too large" in done.stderr
            else:
                assert b"1,000 packets" in done.stdout
            assert arrow.default_memory_pool().max_memory() < 1 << 28


def test_many_columns_of_which_three_are_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"time": [0.0, 1], "x": [1.0, 2], "y": [1.0, 2]}
    columns |= {f"c{n}": [1.0, 2] for n in range(5000)}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    said = epic("inspect", "a.parquet", cwd=tmp_path).stdout
    assert b"2 packets" in said
    assert b"5,000 more columns" in said


# ---------------------------------------------------------------------------------- datagrams


def refused_in(decoder: Decoder, data: bytes) -> tuple[int, int, set[Refused]]:
    """Return the packets of a datagram, and the refused ones with the reason."""
    found = list(decoder.read([data]))
    packets = sum(len(one.block) for one in found if one.block is not None)
    refused = sum(one.refused for one in found)
    return packets, refused, {one.reason for one in found if one.refused}


def test_a_datagram_of_objects_with_names_of_their_own() -> None:
    objects_ = [json.dumps({"t": 0.1, "x": 1, "y": 2, f"n{n}": 1}) for n in range(1500)]
    packets, refused, reasons = refused_in(Decoder(), "\n".join(objects_).encode())
    assert packets + refused == 1500
    assert reasons == {Refused.MANY_LAYOUTS}
    assert 1 <= packets < 16


def test_good_datagrams_beside_it_are_read() -> None:
    decoder = Decoder()
    for turn in range(20):
        strange = [json.dumps({"t": 0.1, "x": 1, "y": 2, f"n{turn}_{n}": 1}) for n in range(900)]
        refused_in(decoder, "\n".join(strange).encode())
        good = json.dumps({"t": turn, "x": 1, "y": 2}).encode()
        assert refused_in(decoder, good)[:2] == (1, 0)


def test_what_is_refused_again_and_again_is_counted() -> None:
    bad = b"\n".join([b'{"t":1,"x":1,"y":"a"}'] * 2900)
    good = b'{"t":1,"x":1,"y":2}'
    assert refused_in(Decoder(), bad)[:2] == (0, 2900)
    mixed = b"\n".join([good, bad.splitlines()[0]] * 500)
    assert refused_in(Decoder(), mixed)[:2] == (500, 500)
