"""Where scripts speak to a proxy: a socket of this machine, or the standard input."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from epic_cli.live.addresses import Address
from epic_cli.live.proxy.commands import LONGEST_COMMAND

#: Whoever speaks at once; more have to wait until one has gone.
_MOST_SPEAKERS = 16

#: What a browser that was sent here says; it shall not go on to what its page wants to say.
_OF_THE_WEB = re.compile(r"HTTP/\d")


@contextlib.asynccontextmanager
async def control_socket(
    place: Address | Path, answer: Callable[[str], str]
) -> AsyncIterator[int | None]:
    """Answers lines there while the block runs; gives the port, if it has one.

    A path is a socket of this user alone, gone in the end. Raises ``OSError``.
    """
    speakers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        speakers.add(writer)
        try:
            if len(speakers) > _MOST_SPEAKERS:
                writer.write(b"error: too many speak at once\n")
            else:
                await _converse(reader, writer, answer)
        except (OSError, asyncio.CancelledError):
            pass  # whoever spoke has gone, or the proxy ends
        finally:
            speakers.discard(writer)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    if isinstance(place, Path):
        _remove_stale(place)
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(serve, place, limit=LONGEST_COMMAND)
        finally:
            os.umask(before)
    else:
        server = await asyncio.start_server(serve, place.host, place.port, limit=LONGEST_COMMAND)
    try:
        name = server.sockets[0].getsockname()
        yield name[1] if isinstance(name, tuple) else None
    finally:
        server.close()
        for one in list(speakers):
            one.transport.abort()
        if isinstance(place, Path):
            with contextlib.suppress(OSError):
                place.unlink()


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Callable[[str], str]
) -> None:
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            writer.write(f"error: a command has at most {LONGEST_COMMAND} bytes\n".encode())
            return
        if not line:
            return
        text = line.decode("utf-8", "backslashreplace")
        writer.write(answer(text).encode("utf-8", "backslashreplace") + b"\n")
        if _OF_THE_WEB.search(text):
            return
        await writer.drain()


def _remove_stale(path: Path) -> None:
    """Removes a socket that a program has left behind; raises ``OSError`` where one is in use."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.stat().st_mode):
            return
        with socket.socket(socket.AF_UNIX) as trial:
            try:
                trial.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


async def answer_lines(
    lines: AsyncIterator[str], answer: Callable[[str], str], write: Callable[[str], None]
) -> None:
    """Answers lines until they end; empty ones and those that begin with # are no commands."""
    async for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            write(answer(line))
