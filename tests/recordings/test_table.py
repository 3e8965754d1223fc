"""The table of formats: its entries, and a new format, which is one file."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from epic_cli import Packet
from epic_cli.recordings import (
    DEFAULT,
    entries,
    list_formats,
    list_input_formats,
    list_packet_formats,
    list_suffixes,
    list_written_formats,
)
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import make_writer, read

#: A format of a day: packet text, each line backwards, under a line of its own; and compressed.
TOY = '''
"""Toys."""
import zlib
from epic_cli.recordings import Fit, Format
from epic_cli.recordings.entries.text import make_text_writer
from epic_cli.engine.text import TextScanner


class Turned(Format):
    name = "turned"
    suffixes = (".nrut",)
    magic = (b"TURNED",)
    unpacked = "text"

    def unpack(self, source, layout):
        text = b""
        while more := source.read_more():
            text += more
        _, *lines = text.splitlines()
        parts = iter([b"".join(line[::-1] + b"\\n" for line in lines)])
        return lambda: next(parts, b"")

    def make_writer(self, requested, extras):
        lines = make_text_writer()
        class Writer:
            header = b"TURNED\\n"
            def format_row(self, packet):
                return lines.format_row(packet)[-2::-1] + b"\\n"
            def end(self):
                return b""
        return Writer()


class Deflated(Format):
    name = "deflated"
    magic = (b"\\x78\\x9c",)
    unpacked = "auto"

    def unpack(self, source, layout):
        inside = zlib.decompressobj()
        return lambda: inside.decompress(source.read_more())


FORMATS = (Turned(), Deflated())
'''
PACKETS = [Packet((float(n), 2.0, 3.0), (4.0, 5.0, 6.0), n / 10) for n in range(50)]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Yield the table of formats with the toy format's file in its folder."""
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(entries, "__path__", [*entries.__path__, str(tmp_path)])
    list_formats.cache_clear()
    yield
    list_formats.cache_clear()
    sys.modules.pop(f"{entries.__name__}.toy", None)
    importlib.invalidate_caches()


def packets_of(path: Path, how: str = "") -> list[Packet]:
    with path.open("rb") as stream:
        return [block[n] for block in read(stream, ReadSpec.parse(how)) for n in range(len(block))]


def test_what_each_format_is_for() -> None:
    assert next(iter(list_formats())) == DEFAULT == "text"
    assert set(list_input_formats()) == {
        "auto", "text", "csv", "json", "jsonl", "parquet", "rocketleague", "sentences", "slippi",
        "sqlite", "xlsx",
    }  # fmt: skip
    assert set(list_written_formats()) == {"text", "csv", "tsv", "jsonl", "parquet"}
    assert set(list_packet_formats()) == {"text", "csv", "jsonl"}
    assert list_suffixes()[".ndjson"] == "jsonl"
    assert all(re.fullmatch("[a-z0-9]+", name) for name in list_formats())


@pytest.mark.usefixtures("toy")
def test_a_new_format_is_a_file(tmp_path: Path) -> None:
    assert "turned" in list_input_formats()
    assert "turned" in list_written_formats()
    assert list_suffixes()[".nrut"] == "turned"
    writer = make_writer("turned")
    data = writer.header + b"".join(map(writer.format_row, PACKETS)) + writer.end()
    path = tmp_path / "a"
    path.write_bytes(data)
    assert packets_of(path) == packets_of(path, "turned") == PACKETS


@pytest.mark.usefixtures("toy")
def test_what_is_inside_another_format_is_detected_anew(tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "a"
    for kind in ("csv", "turned"):
        writer = make_writer(kind)
        path.write_bytes(zlib.compress(writer.header + b"".join(map(writer.format_row, PACKETS))))
        assert packets_of(path) == PACKETS
