"""``epic listen`` over TCP and WebSocket: messages, clients that come and go, and attackers."""

import asyncio
import json
import os
import random
import resource
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from support.datagrams import PATIENCE, program, wait_until
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from epic_cli import listen
from epic_cli.api.reading import read_packets
from epic_cli.engine.contract import Packet
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.live.receiving import Reception, allow_files, is_allowed
from epic_cli.recordings.addresses import Address, parse_endpoint
from epic_cli.recordings.datagrams.ingest import IngestSpec
from epic_cli.recordings.datagrams.record_layout import RecordLayout

pytest.importorskip("websockets")


LAYOUT = "time:u32*0.001 x:f32 y:f32 z:f32 id:u16"


@contextmanager
def reception(
    scheme: str, layout: str | None = None, prefix: str | None = None
) -> Iterator[Reception]:
    """Open a listener on a free port."""
    records = None if layout is None else RecordLayout(layout)
    ingest = IngestSpec(records=records)
    at = Endpoint(Address(port=0, scheme=scheme), prefix=prefix)
    made = Listener(ListenSpec(at, ingest)).receiving
    try:
        yield made
    finally:
        made.close()


def client(of: Reception) -> socket.socket:
    """Open a connection to it."""
    return socket.create_connection(("127.0.0.1", of.port), timeout=PATIENCE)


def messages(of: Reception, count: int) -> list[bytes]:
    """Wait for this many messages."""
    found: list[bytes] = []

    def read() -> bool:
        found.extend(datagram.data for datagram in of.read(512))
        return len(found) >= count

    wait_until(read)
    return found


def closed(of: Reception) -> dict[str, int]:
    """Return why connections were closed, once one was."""
    wait_until(lambda: of.read(512) is None or of.closed)
    return {one.name: count for one, count in of.closed.items()}


def test_an_address_names_its_protocol() -> None:
    assert parse_endpoint("tcp://9870") == Address("127.0.0.1", 9870, "tcp")
    assert parse_endpoint("ws://[::1]:1/") == Address("::1", 1, "ws")
    assert str(parse_endpoint("ws://[::1]:1")) == "ws://[::1]:1"
    assert parse_endpoint("udp://:5") == parse_endpoint("5") == Address("127.0.0.1", 5)
    for wrong in ("wss://9870", "http://x:1", "tcp://", "tcp://host", "://1"):
        with pytest.raises(ValueError, match="is not an address"):
            parse_endpoint(wrong)


@pytest.mark.parametrize("seed", range(4))
def test_lines_are_found_however_they_are_cut(seed: int) -> None:
    generator = random.Random(seed)
    lines = [b'{"time":%d,"x":"%s"}' % (n, b"a" * generator.randrange(300)) for n in range(400)]
    data = b"".join(line + generator.choice((b"\n", b"\r\n", b"\n\n \n")) for line in lines)
    with reception("tcp") as listening, client(listening) as game:
        found: list[bytes] = []
        while data:
            size = generator.choice((1, 3, 50, 5000))
            game.sendall(data[:size])
            data = data[size:]
            found += [datagram.data for datagram in listening.read(generator.choice((1, 7, 512)))]
        found += messages(listening, len(lines) - len(found))
        assert found == lines


@pytest.mark.parametrize(("prefix", "pack"), [("u16", "<H"), ("big-u16", ">H"), (None, "<I"),
                                              ("u32", ">I")])  # fmt: skip
def test_binary_messages_stand_behind_their_lengths(prefix: str | None, pack: str) -> None:
    generator = random.Random(pack)
    sent = [generator.randbytes(generator.choice((0, 1, 18, 255, 256, 60000))) for _ in range(60)]
    data = b"".join(struct.pack(pack, len(packet)) + packet for packet in sent)
    with reception("tcp", LAYOUT, prefix) as listening, client(listening) as game:
        found: list[bytes] = []
        game.setblocking(False)
        while len(found) < len(sent):
            with suppress(BlockingIOError):
                data = data[game.send(data[: generator.randrange(1, 9000)]) :] if data else b""
            found += [datagram.data for datagram in listening.read(5)]
        assert found == sent


def test_rows_of_csv_have_the_header_of_their_connection() -> None:
    with reception("tcp") as listening, client(listening) as one, client(listening) as other:
        one.sendall(b"# a game\n\ntime,x,y,z\n1,2,3,4\n")
        other.sendall(b"t;x;y;z\n5;6;7;8\n")
        one.sendall(b"time,x,y,z\n2,2,3,4\n")
        found = messages(listening, 3)
    assert sorted(found) == [b"t;x;y;z\n5;6;7;8", b"time,x,y,z\n1,2,3,4",
                             b"time,x,y,z\n2,2,3,4"]  # fmt: skip


def test_half_a_line_is_no_packet_but_whole_json_needs_no_end() -> None:
    with reception("tcp") as listening:
        with client(listening) as game:
            game.sendall(b"1,2,3 / 4,5,6 / 10\n1,2,3 / 4,5,6 / 10.1")
        assert messages(listening, 1) == [b"1,2,3 / 4,5,6 / 10"]
        assert closed(listening) == {"CUT": 1}
        with client(listening) as game:
            game.sendall(b'{"time":1}')
        assert messages(listening, 1) == [b'{"time":1}']
        assert closed(listening) == {"CUT": 1}


@pytest.mark.parametrize(
    ("layout", "data", "why"),
    [
        (None, b"x" * 200_000, "OVERLONG"),
        (None, b"a," * 3000 + b"\n", "OVERLONG"),
        (None, b"POST / HTTP/1.1\r\n\r\n{}\n", "OTHER_PROTOCOL"),
        (LAYOUT, b"GET / HTTP/1.1\r\n\r\n", "OTHER_PROTOCOL"),
        (LAYOUT, b"\xff" * 100, "OVERLONG"),
    ],
)
def test_what_cannot_be_understood_is_closed_with_a_sentence(
    layout: str | None, data: bytes, why: str
) -> None:
    with reception("tcp", layout) as listening, client(listening) as game:
        game.setblocking(False)
        while not listening.closed:  # it goes on for as long as it may
            with suppress(OSError):
                game.send(data)
            listening.read(5)
        assert closed(listening) == {why: 1}
        assert listening.example
        with client(listening) as next_one:  # others are not affected
            next_one.sendall(struct.pack("<I", 1) + b"x" if layout else b"{}\n")
            assert messages(listening, 1) == [b"x" if layout else b"{}"]


def test_a_thousand_connections_cost_little_and_are_counted() -> None:
    allow_files(4000)
    with reception("tcp") as listening:
        with ExitStack() as held:
            first = held.enter_context(client(listening))
            for _ in range(999):
                held.enter_context(client(listening))
                listening.read(512)
            wait_until(lambda: not listening.read(512) and sum(listening.closed.values()) == 744)
            assert closed(listening) == {"NO_ROOM": 1000 - 256}
            first.sendall(b"{}\n")
            assert messages(listening, 1) == [b"{}"]
        with client(listening) as late:
            late.sendall(b'{"late":1}\n')
            assert messages(listening, 1) == [b'{"late":1}']


@pytest.mark.parametrize("goes_on", [True, False])
def test_where_there_are_no_more_files_it_waits_for_one(goes_on: bool) -> None:
    with reception("tcp") as listening, client(listening) as first:
        first.sendall(b"{}\n")
        assert messages(listening, 1) == [b"{}"]
        with client(listening) as second:
            second.sendall(b'{"late":1}\n')
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            free = os.dup(0)
            os.close(free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
            try:
                for _ in range(100):
                    assert listening.read(5) == []
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            if goes_on:
                first.close()
                assert messages(listening, 1) == [b'{"late":1}']


def test_many_tiny_lines_below_a_long_header_stay_bounded() -> None:
    with reception("tcp") as listening, client(listening) as game:
        game.sendall(b"time," + b"x" * 4000 + b"\n" + b"1\n" * 8000)
        total, most = 0, 0
        while total < 8000:
            found = listening.read(512)
            total, most = total + len(found), max(most, len(found))
        assert most <= 512


def page(of: Reception | int, **more: str) -> ClientConnection:
    """Open a WebSocket connection."""
    port = of if isinstance(of, int) else of.port
    patient: dict[str, Any] = {"open_timeout": PATIENCE, "ping_interval": None}
    return connect(f"ws://127.0.0.1:{port}", max_size=None, **patient, **more)


def test_messages_of_websockets(tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    with program("listen", "ws://0", "--record", str(record)) as listener:
        port = int(listener.port)
        for origin in ("http://localhost:8080", "https://127.0.0.1", "http://[::1]", None):
            with page(port, **({"origin": origin} if origin else {})) as game:
                game.send(json.dumps({"time": 1, "x": 1, "y": 2, "z": 3}))
                game.send(iter(("1,2,3 /", " 4,5,6", " / 1.5")))  # fragments
                game.ping().wait(PATIENCE)
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            with pytest.raises(InvalidStatus, match="403"), page(port, origin=origin):
                pass
        wait_until(lambda: record.exists() and record.read_bytes().count(b"\n") == 8)
        status, _, said = listener.end()
    assert status == 130
    assert b"8 packets in 8 datagrams" in said
    assert b"3 connections refused: 3 of web pages from elsewhere (see origin=)" in said
    assert {packet.time for packet in read_packets(record)} >= {1, 1.5}


def test_origins() -> None:
    assert is_allowed("http://game.localhost:1", ())
    assert is_allowed("https://a.example", ("https://a.example",))
    assert is_allowed("null", ("*",))
    for foreign in ("http://127.0.0.1.evil", "http://a.example", "null", "http://localhost@evil",
                    "http://[", "", "http://192.168.0.1"):  # fmt: skip
        assert not is_allowed(foreign, ("https://a.example",))


def greeted(of: Reception) -> socket.socket:
    """Return a connection after its WebSocket handshake."""
    game = client(of)
    game.sendall(
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: game\r\n\r\n"
    )
    game.setblocking(False)
    answer = b""

    def complete() -> bool:
        nonlocal answer
        of.read(5)
        try:
            answer += game.recv(4096)
        except BlockingIOError:
            return False
        return b"\r\n\r\n" in answer

    wait_until(complete)
    assert answer.startswith(b"HTTP/1.1 101")
    assert b"deflate" not in answer
    assert b"Sec-WebSocket-Protocol: game" in answer
    game.setblocking(True)
    return game


def frame(first: int, data: bytes) -> bytes:
    """Return a masked frame; the mask is 0."""
    size = len(data)
    head = bytes([first, 0x80 | size]) if size < 126 else struct.pack(">BBQ", first, 0xFF, size)
    return head + bytes(4) + data


@pytest.mark.parametrize("data", [b"1,2,3 / 4,5,6 / 7\n", b"GET / HTTP/1.1\r\n\r\n", bytes(99),
                                  b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 9000])  # fmt: skip
def test_what_is_no_websocket_is_closed(data: bytes) -> None:
    with reception("ws") as listening, client(listening) as game:
        game.sendall(data + b"\n")
        assert closed(listening) == {"OTHER_PROTOCOL": 1}


def test_a_foreign_page_may_send_garbage_behind_its_request() -> None:
    asking = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    asking += b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    asking += b"Origin: https://evil.example\r\n\r\n"
    for garbage in (b"", b"\xff\xff" * 9, frame(0xC2, b"compressed"), frame(0x81, b"{}")):
        with reception("ws") as listening, client(listening) as game:
            game.sendall(asking + garbage)
            assert closed(listening) == {"FOREIGN_PAGE": 1}


JSON = frame(0x81, b"{}")


@pytest.mark.parametrize(
    ("layout", "good", "data", "why"),
    [
        (LAYOUT, frame(0x82, b"{}"), frame(0x81, b"text"), "OTHER_PROTOCOL"),
        (None, JSON, frame(0xC2, b"compressed"), "OTHER_PROTOCOL"),
        (None, JSON, frame(0x82, bytes(65508)), "OVERLONG"),
        (
            None,
            frame(0x81, b"{}"),
            frame(0x02, bytes(60000)) + frame(0x80, bytes(60000)),
            "OVERLONG",
        ),
        (None, JSON, b"\x82\x05hello", "OTHER_PROTOCOL"),  # not masked
        (None, JSON, b"\xff" * 1000, "OTHER_PROTOCOL"),
    ],
)
def test_broken_websockets_are_closed(
    layout: str | None, good: bytes, data: bytes, why: str
) -> None:
    with reception("ws", layout) as listening, greeted(listening) as game:
        game.sendall(good + data)
        assert messages(listening, 1) == [b"{}"]
        assert closed(listening) == {why: 1}


def test_one_who_pings_and_does_not_read_is_left() -> None:
    with reception("ws") as listening, greeted(listening) as game:
        game.settimeout(PATIENCE)
        game.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

        def pinged() -> bool:
            try:
                game.send(frame(0x89, bytes(100)) * 20)
            except ConnectionError:
                return False
            return listening.read(512) == []

        while pinged():
            pass


def test_the_python_api_takes_both() -> None:
    async def take(address: str, send: object) -> list[Packet]:
        async with listen(address) as listener:
            host = ("127.0.0.1", listener.port)
            await asyncio.to_thread(send, host)  # type: ignore[arg-type]
            found = []
            async for packet in listener:
                found.append(packet)
                if len(found) == 3:
                    break
            return found

    lines = [f"{n},2,3 / 4,5,6 / {n}" for n in range(3)]

    def over_tcp(place: tuple[str, int]) -> None:
        with socket.create_connection(place) as game:
            game.sendall("".join(f"{line}\n" for line in lines).encode())

    found = asyncio.run(asyncio.wait_for(take("tcp://0", over_tcp), PATIENCE))
    assert [packet.position[0] for packet in found] == [0, 1, 2]
    assert all(packet.arrival is not None for packet in found)


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "websockets.server", None)
        with pytest.raises(ValueError, match="pip install websockets"):
            listen("ws://0")


def test_arrival_is_when_the_bytes_were_read() -> None:
    with reception("tcp") as listening, client(listening) as game:
        game.sendall(b'{"a":1')
        wait_until(lambda: not listening.read(5))
        time.sleep(0.05)
        before = time.perf_counter()
        game.sendall(b"}\n")
        wait_until(lambda: (found := listening.read(5)) and before <= found[0].time)
