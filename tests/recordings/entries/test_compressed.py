"""Compressed recordings, and text in other encodings, give the original packets."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.captures import ethernet, ipv4, pcap, udp
from support.running import epic, started

from epic_cli import Packet, compare, read_packets
from epic_cli.recordings import Unreadable
from epic_cli.recordings.reading import make_writer, read

zstandard = pytest.importorskip("zstandard")

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
PACKETS = [
    Packet((n / 7, -2.0, 3.0), (10 / 7, 0.0, 0.0), n / 10, n / 10 + 0.1, "a") for n in range(900)
]


def written(kind: str) -> bytes:
    writer = make_writer(kind)
    return writer.header + b"".join(map(writer.format_row, PACKETS)) + writer.end()


def add_packets(data: bytes, found: list[Packet], step: int = 1 << 16) -> None:
    """Add the packets of bytes that are read in pieces of ``step`` bytes."""
    stream = io.BytesIO(data)
    for block in read(lambda: stream.read(step)):
        found += [block[n] for n in range(len(block))]


def packets_of(data: bytes, step: int = 1 << 16) -> list[Packet]:
    """Return all packets."""
    found: list[Packet] = []
    add_packets(data, found, step)
    return found


@pytest.mark.parametrize("kind", ["text", "csv", "jsonl"])
@pytest.mark.parametrize("name", COMPRESS)
@pytest.mark.parametrize("step", [1, 9, 1 << 16])
def test_what_is_inside_is_read(name: str, kind: str, step: int) -> None:
    assert packets_of(COMPRESS[name](written(kind)), step) == PACKETS


@pytest.mark.parametrize("name", COMPRESS)
def test_pieces_that_were_appended_are_one(name: str) -> None:
    data, pack = written("csv"), COMPRESS[name]
    assert packets_of(pack(data[:999]) + pack(data[999:])) == PACKETS


@pytest.mark.parametrize("name", COMPRESS)
def test_compressed_twice(name: str) -> None:
    assert packets_of(COMPRESS[name](gzip.compress(written("text")))) == PACKETS


@given(name=st.sampled_from(sorted(COMPRESS)), share=st.floats(0.05, 0.98))
@settings(max_examples=40)
def test_what_is_cut_off_says_so_after_what_there_is(name: str, share: float) -> None:
    data = COMPRESS[name](written("text"))
    found: list[Packet] = []
    with pytest.raises(Unreadable, match="end too early"):
        add_packets(data[: max(int(share * len(data)), 11)], found)
    # the last line may be cut as well
    assert found[:-1] == PACKETS[: max(len(found) - 1, 0)]


@pytest.mark.parametrize("name", COMPRESS)
def test_damaged_data_are_refused(name: str) -> None:
    data = bytearray(COMPRESS[name](written("csv")))
    for at in range(len(data) // 3, len(data) // 3 + 40):
        data[at] ^= 0x5A
    with pytest.raises(Unreadable, match=r"damaged|too early"):
        packets_of(bytes(data))


def test_a_folder_has_compressed_recordings(tmp_path: Path) -> None:
    (tmp_path / "one.csv.gz").write_bytes(gzip.compress(written("csv")))
    found = compare(tmp_path, ["epic", "mirror"])
    assert [result.label for result in found.results] == ["epic", "mirror"]


def test_a_stream_is_read_as_it_comes() -> None:
    pack = zstandard.ZstdCompressor().compressobj()
    process = started("replay", "--pacing", "demo", "-")
    assert process.stdin is not None
    assert process.stdout is not None
    text = written("text")
    process.stdin.write(pack.compress(text) + pack.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    process.stdin.flush()
    assert os.read(process.stdout.fileno(), 4) == b"pos:"  # while the stream is open
    process.stdin.write(pack.flush())
    process.communicate()
    assert process.returncode == 0


def test_a_compressed_capture_is_converted(tmp_path: Path) -> None:
    lines = [f"{n},0,0 / 1,0,0 / {n / 10}".encode() for n in range(40)]
    frames = [(n / 10 + 0.05, ethernet(ipv4(udp(line)))) for n, line in enumerate(lines)]
    plain, packed = tmp_path / "a.pcap", tmp_path / "a.pcap.packed"
    plain.write_bytes(pcap(frames))
    packed.write_bytes(gzip.compress(pcap(frames)))
    expected = epic("convert", str(plain), "--port", "7777", "--to", "csv")
    done = epic("convert", str(packed), "--port", "7777", "--to", "csv")
    assert (done.returncode, done.stdout) == (0, expected.stdout)
    assert done.stdout.count(b"\n") == 41
    piped = epic("convert", "-", "--port", "7777", "--to", "csv", stdin=packed.read_bytes())
    assert piped.stdout == expected.stdout
    assert b"--port" in epic("replay", str(packed)).stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("step", [1, 5, 1 << 16])
def test_a_mark_says_the_encoding(encoding: str, step: int) -> None:
    rows = "".join(f"{n / 10},{n},1,Jürgen\n" for n in range(50))
    found = packets_of(f"time,x,y,player\n{rows}".encode(encoding), step)
    assert [(packet.time, packet.entity) for packet in found] == [
        (n / 10, "Jürgen") for n in range(50)
    ]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "shift_jis"])
def test_an_encoding_is_given(encoding: str, tmp_path: Path) -> None:
    name = "明" if encoding == "shift_jis" else "Jürgen"
    path = tmp_path / "a.csv"
    rows = "".join(f"{n / 10},{n},1,{name}\n" for n in range(5))
    path.write_bytes(f"time,x,y,player\n{rows}".encode(encoding))
    done = epic("convert", "--to", "csv", "--read", f"encoding={encoding}", str(path))
    assert done.returncode == 0
    assert done.stdout.decode().count(name) == 5
    assert f"encoding={encoding}".encode() in done.stderr  # what is pasted, or saved, has it
    with read_packets(path, read=f"encoding={encoding}") as packets:
        assert [packet.entity for packet in packets] == [name] * 5
        assert packets.layout is not None
        assert packets.layout.encoding == encoding


def test_a_line_in_another_encoding_is_refused_with_the_option() -> None:
    done = epic("replay", stdin="time,x,y,player\n0,1,2,Jürgen\n".encode("cp1252"))
    assert done.returncode == 1
    assert b"--read encoding=cp1252" in done.stderr


def test_a_wrong_encoding_is_an_error() -> None:
    done = epic("replay", "--read", "encoding=utf-8", stdin="time,x\n0,ü\n".encode("cp1252"))
    assert done.returncode == 2
    assert b"not utf-8" in done.stderr
    for wrong in ("bla", "hex"):
        done = epic("replay", "--read", f"encoding={wrong}", stdin=b"")
        assert done.returncode == 2
        assert b"cp1252" in done.stderr
