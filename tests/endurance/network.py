"""Attacks on what listens: ``listen`` over UDP, TCP and WebSocket, ``proxy``, ``lab``, ``send``.

    python -m endurance.network --seconds 60

Each attack lasts that long, from the loopback: hostile datagrams of thousands of senders, slow and
silent clients, frames and prefixes that lie, foreign ``Host`` and ``Origin``, bodies and headers
without end, garbage at a proxy's control socket. Afterwards the program must serve a good client,
have no more memory or files than before, and end as usual without a traceback. Nothing may listen
beyond the loopback, and a proxy may not send more bytes to anybody than it got for him.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from support.datagrams import Program, program, receiver, resident, wait_until

from endurance.recorded import PIECES

#: Bytes of memory that an attack may add: what one reading of everything waiting takes.
GROWTH = 60_000_000

GOOD = b'{"time":%d,"x":1,"y":2,"z":3}'

UPGRADE = (
    b"GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


def find_open_addresses(process: int) -> list[str]:
    """Return the local addresses of a process's sockets that are not of the loopback."""
    numbers = set()
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            found = re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink()))
            numbers |= {found[1]} if found else set()
    foreign = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            address = words[1].partition(":")[0]
            is_loopback = address.endswith("7F") if len(address) == 8 else _is_loopback6(address)
            if words[9] in numbers and not is_loopback:
                foreign.append(f"{table} {words[1]}")
    return foreign


def _is_loopback6(address: str) -> bool:
    packed = b"".join(
        struct.pack("<I", int(address[at : at + 8], 16)) for at in range(0, len(address), 8)
    )
    return packed in (socket.inet_pton(socket.AF_INET6, name) for name in ("::1",)) or (
        packed[:12] == bytes(10) + b"\xff\xff" and packed[12] == 127
    )


def count_files(process: int) -> int:
    """Return the number of open files of a process."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


class Watch:
    """Memory and open files of a program before an attack, to compare with those after it."""

    def __init__(self, attacked: Program) -> None:
        self._attacked = attacked
        self._memory = resident(attacked.process.pid)
        self._files = count_files(attacked.process.pid)

    def find_faults(self, status: int = 130) -> list[str]:
        """End the program; return what is wrong with it."""
        process, wrong = self._attacked.process, []
        if process.poll() is not None:
            return [f"it has ended with {process.returncode}: {self._attacked.end()[2][-2000:]!r}"]
        if foreign := find_open_addresses(process.pid):
            wrong.append(f"it listens beyond the loopback: {foreign}")
        if (grown := resident(process.pid) - self._memory) > GROWTH:
            wrong.append(f"memory grew by {grown:,} bytes")
        if (files := count_files(process.pid) - self._files) > 40:
            wrong.append(f"{files} more files are open")
        ended, _, said = self._attacked.end()
        if ended != status:
            wrong.append(f"status {ended} instead of {status}")
        if b"Traceback" in said or b"\x1b" in said:
            wrong.append(f"it said {said[-2000:]!r}")
        return wrong


def make_good_packet() -> bytes:
    """Return a packet of a game whose clock goes on, as a listener that was led astray needs."""
    return b'{"time":%r,"x":71,"y":72,"z":73}' % (time.monotonic() % 1000)


def make_datagram(chance: random.Random) -> bytes:
    """Return bytes that are a packet, nearly one, or nothing."""
    kind = chance.randrange(5)
    if kind == 0:
        return chance.randbytes(chance.choice((0, 1, 8, 60, 1472)))
    if kind == 1:
        return b"".join(chance.choices(PIECES, k=chance.choice((1, 5, 40))))
    if kind == 2:
        data = bytearray(GOOD % chance.randrange(10**6))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data)
    if kind == 3:
        name = "".join(chance.choices("ab\x1b\u202e\x00é" + '"', k=chance.choice((1, 300))))
        return json.dumps({"time": 1e300, "x": 1, "y": 2, "z": 3, "entity": name}).encode()
    return b"[" * chance.choice((10, 5000)) + b"1"


@contextlib.contextmanager
def many_senders(count: int) -> Iterator[list[socket.socket]]:
    """Yield sockets, each with an address of its own on the loopback."""
    with contextlib.ExitStack() as stack:
        made = []
        for number in range(count):
            one = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            one.bind((f"127.{number % 250 + 1}.{number // 250 % 250}.9", 0))
            made.append(one)
        yield made


def last(seconds: float, attacked: Program) -> Iterator[int]:
    """Yield numbers until so much time has passed; take what the program says meanwhile."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        yield number
        number += 1
        if number % 200 == 0:
            attacked.drain("stdout")
            attacked.drain("stderr")


# ---------------------------------------------------------------- listen


def attack_datagrams(seconds: float, chance: random.Random) -> list[str]:
    """Send hostile datagrams of 800 senders to ``listen``; a good one is drawn afterwards."""
    with tempfile.TemporaryDirectory() as name, many_senders(800) as senders:
        record = Path(name) / "kept.csv"
        with program("listen", "0", "-f", "csv", "--record", str(record)) as listener:
            place, watch = listener.place, Watch(listener)
            for number in last(seconds, listener):
                chance.choice(senders).sendto(make_datagram(chance), place)
                if number % 50 == 0:
                    time.sleep(0.002)

            def is_taken() -> bool:
                senders[0].sendto(make_good_packet(), place)
                return record.exists() and b"71,72,73" in record.read_bytes()[-50_000:]

            wait_until(is_taken)
            return watch.find_faults()


def attack_streams(scheme: str) -> Callable[[float, random.Random], list[str]]:
    """Return an attack on ``listen`` over TCP or WebSocket."""

    def attack(seconds: float, chance: random.Random) -> list[str]:
        with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
            record = Path(name) / "kept.csv"
            words = ("listen", f"{scheme}://0", "-f", "csv", "--record", str(record))
            listener = stack.enter_context(program(*words))
            place, watch = listener.place, Watch(listener)
            held: list[socket.socket] = []
            for _ in last(seconds, listener):
                with contextlib.suppress(OSError):
                    made = stack.enter_context(socket.create_connection(place, 5))
                    made.settimeout(0.02)
                    made.sendall(make_stream(chance, scheme))
                    held.append(made)
                while len(held) > 200 or (held and chance.random() < 0.3):
                    held.pop(chance.randrange(len(held))).close()
                for one in held[-3:]:
                    with contextlib.suppress(OSError):
                        one.send(b"\0")  # byte by byte
            for one in held:
                one.close()
            wait_until(lambda: send_good_message(place, scheme, record))
            return watch.find_faults()

    return attack


def make_stream(chance: random.Random, scheme: str) -> bytes:
    """Return the beginning of a connection: silent, lying about its length, or garbage."""
    lengths = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 70_000)
    if scheme == "tcp":
        return chance.choice((
            b"",
            struct.pack(">I", chance.choice(lengths)),
            struct.pack("<I", chance.choice(lengths)) + make_datagram(chance),
            make_datagram(chance) * 20,
            b"GET / HTTP/1.1\r\n\r\n",
        ))  # fmt: skip
    greeting = UPGRADE % (b"/", b"localhost") + b"\r\n"
    opcode = chance.choice((0x80, 0x81, 0x82, 0x01, 0x88, 0x89, 0xC1, 0xFF))
    lying = bytes([opcode, 0xFF]) + struct.pack(">Q", chance.choice(lengths)) + bytes(4)
    return chance.choice((
        b"",
        greeting[: chance.randrange(len(greeting))],
        greeting + lying + make_datagram(chance),
        greeting.replace(b"\r\n\r\n", b"\r\nOrigin: https://evil.example\r\n\r\n"),
        greeting + chance.randbytes(100),
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * chance.choice((10, 9000)),
    ))  # fmt: skip


def send_good_message(place: tuple[str, int], scheme: str, record: Path) -> bool:
    """Send a packet over a connection of its own; return whether it has been recorded."""
    data = make_good_packet()
    with contextlib.suppress(OSError), socket.create_connection(place, 5) as made:
        if scheme == "tcp":
            made.sendall(data + b"\n")
        else:
            made.sendall(UPGRADE % (b"/", b"localhost") + b"\r\n")
            made.recv(4096)
            made.sendall(bytes([0x81, 0x80 | len(data)]) + bytes(4) + data)
        time.sleep(0.05)
    return record.exists() and b"71,72,73" in record.read_bytes()[-50_000:]


# ---------------------------------------------------------------- proxy and send


def attack_proxy(seconds: float, chance: random.Random) -> list[str]:
    """Send through a proxy from 800 clients, and floods from its server; nobody gets more."""
    wrong = []
    with many_senders(800) as clients, receiver() as server:
        at = "0,idle=1s,max_clients=50"
        words = ("--link", "jitter=5ms,duplicate=5%", "--control", "-")
        with program("proxy", *words, at, server.port) as proxy:
            place, watch = proxy.place, Watch(proxy)
            assert proxy.process.stdin is not None
            bytes_in = bytes_out = 0
            for number in last(seconds, proxy):
                data = make_datagram(chance)
                bytes_in += len(data)
                chance.choice(clients[: chance.choice((3, 800))]).sendto(data, place)
                for got in server.all():
                    bytes_out += len(got)
                if number % 50 == 0:
                    time.sleep(0.002)
                if number % 500 == 0:
                    line = chance.choice((b"stats", b"set loss=\xff", b"x" * 9000, b"\0", b"show"))
                    proxy.process.stdin.write(line + b"\n")
                    proxy.process.stdin.flush()
            if bytes_out > 1.2 * bytes_in + 10_000:
                wrong.append(f"{bytes_in:,} bytes became {bytes_out:,}")
            time.sleep(1.5)  # all are forgotten
            clients[0].sendto(b"good", place)
            server.socket.settimeout(60)
            while b"good" not in server.one():
                pass
            return wrong + watch.find_faults()


def attack_send(seconds: float, chance: random.Random) -> list[str]:
    """Flood ``send`` with answers from its target and from others."""
    sample = Path(__file__).parents[2] / "sample_inputs" / "jitter.txt"
    with receiver() as target, many_senders(50) as others:
        words = ("send", str(sample), target.port, "--times", "endless", "--speed", "50")
        with program(*words) as sender:
            _, place = target.socket.recvfrom(65536)
            watch = Watch(sender)
            for number in last(seconds, sender):
                one = target.socket if number % 2 else chance.choice(others)
                one.sendto(make_datagram(chance), place)
                if number % 50 == 0:
                    target.all()
                    time.sleep(0.002)
            target.socket.settimeout(60)
            target.one()
            return watch.find_faults()


# ---------------------------------------------------------------- lab


def attack_lab(seconds: float, chance: random.Random) -> list[str]:
    """Ask the lab as other sites and broken browsers do; it answers its own page alone."""
    wrong: list[str] = []
    with program("lab", "--no-open") as lab, contextlib.ExitStack() as stack:
        said = lab.wait_for(b"Ctrl-C ends").decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S*)", said)
        assert found
        place, path = ("127.0.0.1", int(found[1])), found[2].partition("?")[0].encode()
        watch = Watch(lab)
        held: list[socket.socket] = []
        for _ in last(seconds, lab):
            asking, allowed = make_request(chance, path, b"127.0.0.1:%d" % place[1])
            with contextlib.suppress(OSError):
                made = stack.enter_context(socket.create_connection(place, 5))
                made.settimeout(0.5)
                made.sendall(asking)
                if allowed is None:
                    held.append(made)
                    made.settimeout(0.01)
                else:
                    answer = made.recv(65536)
                    if answer[9:12] in (b"200", b"101") and not allowed:
                        wrong.append(f"{asking[:200]!r} is answered {answer[:60]!r}")
                    made.close()
            while len(held) > 100:
                held.pop(chance.randrange(len(held))).close()
        for one in held:
            one.close()
        host = b"127.0.0.1:%d" % place[1]
        with socket.create_connection(place, 60) as made:
            made.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, host))
            if made.recv(65536)[9:12] != b"200":
                wrong.append("the page is not served any more")
        return wrong[:10] + watch.find_faults()


def make_request(chance: random.Random, path: bytes, host: bytes) -> tuple[bytes, bool | None]:
    """Return a request, and whether it may be granted; None: it never ends."""
    foreign = chance.choice(
        (b"example.com", b"127.0.0.1.example.com", b"10.0.0.1", b"localhost.evil", b"")
    )
    token = b"/" + chance.randbytes(8).hex().encode() + b"/"
    talk = UPGRADE % (path + b"talk", host)
    kinds: tuple[tuple[bytes, bool | None], ...] = (
        (b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, foreign), False),
        (b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (token, host), False),
        (talk + b"Origin: https://evil.example\r\n\r\n", False),
        (talk + b"Origin: null\r\n\r\n", False),
        (talk + b"\r\n", False),
        (b"POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 9999999999\r\n\r\n%s"
         % (path, host, bytes(50_000)), False),
        (b"GET %s HTTP/1.1\r\nHost: %s\r\n" % (path, host) + b"a: b\r\n" * 5000, None),
        (b"GET %s HTTP/1.1\r\nHost: " % path, None),
        (b"", None),
        (talk + b"Origin: http://%s\r\n\r\n" % host + chance.randbytes(500), None),
        (talk + b"Origin: http://%s\r\n\r\n" % host
         + b"\x81\xff" + struct.pack(">Q", 1 << 40) + bytes(5000), None),
        (chance.randbytes(200), False),
        (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n", False),
    )  # fmt: skip
    return chance.choice(kinds)


ATTACKS: dict[str, Callable[[float, random.Random], list[str]]] = {
    "listen over UDP": attack_datagrams,
    "listen over TCP": attack_streams("tcp"),
    "listen over WebSocket": attack_streams("ws"),
    "proxy": attack_proxy,
    "send": attack_send,
    "lab": attack_lab,
}


def main() -> int:
    """Run every attack; return status 1 if one finds something."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("attacks", nargs="*", help=f"of {', '.join(ATTACKS)}; default all")
    parser.add_argument("--seconds", type=float, default=60, help="of each attack")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    total = 0
    for name in options.attacks or ATTACKS:
        wrong = ATTACKS[name](options.seconds, random.Random(f"{name} {options.seed}"))
        print(f"{name}: {len(wrong)} found", *wrong, sep="\n    ", flush=True)
        total += len(wrong)
    return bool(total)


if __name__ == "__main__":
    sys.exit(main())
