"""Rows to a slow or closed reader: the writer goes on."""

import io
import os
from pathlib import Path

import pytest
from support.datagrams import wait_until

from epic_cli.live.command_line import DroppingWriter
from epic_cli.recordings.files import CannotAccess
from epic_cli.shell.console import Sink

ROW = b"%099d\n"


def test_rows_that_nobody_reads_are_left_out_whole_and_counted() -> None:
    reader, writer = os.pipe()
    with open(writer, "wb") as stream:  # noqa: PTH123
        sink = DroppingWriter(Sink(stream, "it"), most=200_000)
        for number in range(0, 10_000, 10):
            sink.write(b"".join(ROW % index for index in range(number, number + 10)), 10)
        sink.end()
        left_out = sink.left_out
    data = os.read(reader, 1 << 20)
    os.close(reader)
    whole = [int(row) for row in data.splitlines()]
    assert 0 < len(whole) < 1000  # what the pipe holds
    assert whole == list(range(len(whole)))
    assert left_out >= 10_000 - len(whole) - 10


def test_a_slow_reader_gets_all_there_is_room_for() -> None:
    reader, writer = os.pipe()
    with open(writer, "wb") as stream:  # noqa: PTH123
        os.set_blocking(writer, False)  # as the process that has made the pipe may have it
        sink = DroppingWriter(Sink(stream, "it"))
        for number in range(5000):
            sink.write(ROW % number, 1)
        data = b""
        while len(data) < 500_000:
            data += os.read(reader, 9999)
        sink.end()
    assert [int(row) for row in data.splitlines()] == list(range(5000))
    assert sink.left_out == 0
    os.close(reader)


def test_rows_that_just_fit_are_taken() -> None:
    reader, writer = os.pipe()
    with open(writer, "wb") as stream:  # noqa: PTH123
        sink = DroppingWriter(Sink(stream, "it"), most=len(ROW % 1))
        sink.write(ROW % 1, 1)
        sink.end()
    assert (os.read(reader, 1000), sink.left_out) == (ROW % 1, 0)
    os.close(reader)


def test_a_closed_pipe_is_raised_and_so_is_a_full_disk() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb", buffering=0) as stream:  # noqa: PTH123
        sink = DroppingWriter(Sink(stream, "it"))

        def refuses() -> bool:
            try:
                sink.write(b"row\n", 1)
            except BrokenPipeError:
                return True
            return False

        wait_until(refuses)
        with pytest.raises(BrokenPipeError):
            sink.end()
    with Path("/dev/full").open("wb") as full:
        with pytest.raises(CannotAccess, match="cannot write to it: No space"):
            DroppingWriter(Sink(full, "it")).write(b"row\n", 1)
        with pytest.raises(OSError, match="No space"):
            full.close()


def test_where_nothing_waits_rows_are_written_at_once() -> None:
    stream = io.BytesIO()
    sink = DroppingWriter(Sink(stream, "it"), most=3)
    sink.write(b"rows\n", 1)
    assert stream.getvalue() == b"rows\n"
    sink.end()
    assert sink.left_out == 0
