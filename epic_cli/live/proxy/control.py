"""The control socket of a running proxy: reads one command per line, answers each with a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from epic_cli.engine.link import Tally
from epic_cli.engine.parameters import find_nearest
from epic_cli.live.proxy.run import ProxyClient, Relay
from epic_cli.live.proxy.spec import Direction
from epic_cli.network.link import PERFECT as NO_LINK
from epic_cli.network.link import WAYS, LinkConditions
from epic_cli.network.link_spec import list_differences, write_words
from epic_cli.recordings.addresses import Address

#: The reported quantiles.
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def describe_relay(relay: Relay) -> dict[str, Any]:
    """Return the totals of both directions so far; delays are in milliseconds."""
    return {
        "seconds": round(relay.measure_time(), 3),
        "clients": len(relay.clients),
        "clients_total": relay.clients_total,
        "rejected": relay.rejected,
        "refused_by_target": relay.refused,
        "socket_errors": dict(relay.socket_errors),
        "overrun": relay.overrun,
        "up": describe_direction(relay.up),
        "down": describe_direction(relay.down),
    }


def describe_direction(one: Direction) -> dict[str, Any]:
    """Return the counts of one direction."""
    return {
        "datagrams": one.sent,
        "bytes": one.received_bytes,
        "lost": one.lost,
        "dropped": one.dropped,
        "corrupted": one.corrupted,
        "blackout": one.blacked_out,
        "overflowed": one.overflowed,
        "duplicated": one.duplicated,
        "delivered": one.arrived,
        "delivered_bytes": one.delivered_bytes,
        "reordered": one.reordered,
        "waiting": one.waiting,
        "late": one.late,
        "unsent": dict(one.unsent),
        "requested_ms": _compute_quantiles(one.requested),
        "achieved_ms": _compute_quantiles(one.achieved),
        "lateness_ms": _compute_quantiles(one.lateness),
    }


def describe_client(client: ProxyClient, relay: Relay) -> dict[str, Any]:
    """Return a client's address, idle time (seconds) and counts."""
    return {
        "number": client.number,
        "address": str(client.address),
        "idle": round(max(relay.measure_time() - client.used, 0), 3),
        "up": client.up.taken,
        "down": client.down.taken,
    }


def _compute_quantiles(tally: Tally) -> dict[str, float | None]:
    found = {name: 1000 * tally.delay(share) for name, share in SHARES.items()}
    return {name: None if math.isnan(one) else round(one, 6) for name, one in found.items()}


#: The longest command, in characters.
LONGEST_COMMAND = 4096

HELP = (
    "set WORD=VALUE ... (also up.WORD, down.WORD and preset=NAME), blackout [up|down],"
    " restore [up|down], reset, clear, show, stats, clients, help, quit"
)


class Commands:
    """An interpreter of commands, which replies ``ok``, a result, JSON, or ``error: ...``.

    Replies are ``ok``, ``ok`` with a result, JSON, or ``error: ...``.
    """

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._links = links = relay.links
        self._verbs: dict[str, Callable[[str], str]] = {
            "set": self._set_conditions,
            "blackout": partial(self._set_blackout, True),
            "restore": partial(self._set_blackout, False),
        }
        #: Commands without arguments.
        self._alone: dict[str, Callable[[], str | None]] = {
            "reset": links.reset,
            "clear": links.clear,
            "show": self._show_conditions,
            "stats": lambda: json.dumps(describe_relay(relay)),
            "clients": self._list_clients,
            "help": lambda: f"ok {HELP}",
            "quit": relay.end,
        }

    def answer(self, line: str) -> str:
        """Run the command on a line; return the reply without a newline."""
        verb, _, rest = line.strip().partition(" ")
        if "=" in verb:
            verb, rest = "set", line
        rest = rest.strip()
        try:
            if verb in self._verbs:
                return self._verbs[verb](rest)
            if verb not in self._alone:
                known = [*self._verbs, *self._alone]
                near = find_nearest(verb, known) if verb.isprintable() else None
                hint = f"did you mean {near}?" if near else f"commands are {', '.join(known)}"
                raise ValueError(f"{_quote_text(verb)} is not a command: {hint}")
            if rest:
                raise ValueError(f"this command takes no arguments, but got {_quote_text(rest)}")
            return self._alone[verb]() or "ok"
        except ValueError as error:
            return f"error: {error}"

    def _set_conditions(self, rest: str) -> str:
        if not rest:
            raise ValueError("nothing to set: write set loss=5% up.latency=40ms")
        try:
            self._links.set_words(rest)
        except ValueError as error:
            raise ValueError(_escape_controls(str(error))) from error
        return self._show_conditions()

    def _set_blackout(self, on: bool, rest: str) -> str:
        ways = [way for way in WAYS if rest in ("", way)]
        if not ways:
            raise ValueError(
                f"{_quote_text(rest)} is not a direction: up, down, or nothing for both"
            )
        self._links.black_out(on, ways)
        return self._show_conditions()

    def _show_conditions(self) -> str:
        both = ((way, self._links.directions[way]) for way in WAYS)
        return "ok " + "; ".join(
            f"{way} {'blackout' if one.blackout else describe_conditions(one.conditions)}"
            for way, one in both
        )

    def _list_clients(self) -> str:
        clients = self._relay.clients.values()
        return json.dumps({"clients": [describe_client(client, self._relay) for client in clients]})


def describe_conditions(conditions: LinkConditions) -> str:
    """Return the words of ``--link`` for these conditions; ``perfect`` for a perfect link."""
    return write_words(list_differences(NO_LINK, conditions)) or "perfect"


def _quote_text(text: str) -> str:
    return repr(text[:40] + "..." if len(text) > 40 else text)


def _escape_controls(text: str) -> str:
    """Return one line without control characters."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text[:1000]
    )


#: The most connections at a time.
_MOST_SPEAKERS = 16

#: The end of an HTTP request's first line: a page may trick a browser into connecting, but must
#: not run commands.
_OF_THE_WEB = re.compile(r"HTTP/\d")


@contextlib.asynccontextmanager
async def serve_control_socket(
    place: Address | Path, answer: Callable[[str], str]
) -> AsyncIterator[int | None]:
    """Serve commands at this place while the block runs; yield the port of a TCP socket, or None.

    A path is a socket for this user only, removed at the end. Raise ``OSError``.
    """
    speakers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        speakers.add(writer)
        try:
            if len(speakers) > _MOST_SPEAKERS:
                writer.write(b"error: too many connections\n")
            else:
                await _serve_lines(reader, writer, answer)
        except (OSError, asyncio.CancelledError):
            pass  # the client has gone, or the proxy is ending
        finally:
            speakers.discard(writer)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()

    if isinstance(place, Path):
        listening: socket.socket = _bind_socket(place)
        bound = os.stat(place)  # noqa: PTH116
        server = await asyncio.start_unix_server(serve, sock=listening, limit=LONGEST_COMMAND)
    else:
        server = await asyncio.start_server(serve, place.host, place.port, limit=LONGEST_COMMAND)
    try:
        name = server.sockets[0].getsockname()
        yield name[1] if isinstance(name, tuple) else None
    finally:
        server.close()
        for speaker in list(speakers):
            speaker.transport.abort()
        if isinstance(place, Path):
            with contextlib.suppress(OSError):
                if os.path.samestat(bound, os.stat(place)):  # noqa: PTH116
                    place.unlink()


async def _serve_lines(
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


if sys.platform == "win32":

    def _bind_socket(path: Path) -> NoReturn:
        raise OSError(f"Windows has no sockets in files such as {path.name}: give a port")

else:

    def _bind_socket(path: Path) -> socket.socket:
        """Bind a socket for this user only; raise ``OSError`` if another proxy uses the path.

        A stale socket is removed. asyncio's own call would also remove a socket that is in use.
        """
        with contextlib.ExitStack() as stack:
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            with _lock_folder(path.parent):
                if path.is_socket() and not _is_in_use(path):
                    path.unlink()
                listening.bind(str(path))
                path.chmod(0o600)  # before it listens, so that no other user connects
                listening.listen()
            stack.pop_all()
            return listening

    def _is_in_use(path: Path) -> bool:
        with socket.socket(socket.AF_UNIX) as trial:
            trial.setblocking(False)
            try:
                trial.connect(str(path))
            except ConnectionRefusedError:
                return False
            except OSError:  # its queue is full, or it belongs to another user
                pass
        return True

    @contextlib.contextmanager
    def _lock_folder(folder: Path) -> Iterator[None]:
        """Lock the folder, so that no other proxy takes a new socket in it for a stale one."""
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


async def answer_lines(
    lines: AsyncIterator[str], answer: Callable[[str], str], write: Callable[[str], None]
) -> None:
    """Answer command lines until the input ends; ignore empty lines and comments (#)."""
    async for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            write(answer(line))
