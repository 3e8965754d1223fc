"""Proxies whose datagrams would come back to them."""

from __future__ import annotations

import contextlib
import re
import socket
from ipaddress import ip_address

import pytest
from support.datagrams import free_port, program, wait_until
from support.proxies import game

from epic_cli.live.proxy.run import reaches_itself
from epic_cli.recordings.addresses import Address, resolve


def own_addresses() -> list[str]:
    """Of this machine's interfaces, as far as it knows them."""
    found = {"127.0.0.1", "127.0.0.7", "0.0.0.0"}
    with contextlib.suppress(OSError):
        found |= {str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)}
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        trial.connect(("203.0.113.1", 9))
        found.add(trial.getsockname()[0])
    return sorted(one for one in found if ip_address(one.partition("%")[0]).version == 4)


@pytest.mark.parametrize("host", [*own_addresses(), "localhost", "::ffff:127.0.0.1"])
def test_a_socket_on_all_interfaces_is_reached_by_each_of_them(host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("0.0.0.0", 0))
        port = listening.getsockname()[1]
        try:
            target = resolve(Address(host, port))
        except OSError:
            pytest.skip("no such addresses here")
        assert reaches_itself(listening, target) or target.place[0] == "::1"
        assert not reaches_itself(listening, resolve(Address(host, port - 1)))


@pytest.mark.parametrize(
    ("at", "target", "itself"),
    [
        ("127.0.0.1", "0.0.0.0", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.7", False),
        ("0.0.0.0", "203.0.113.9", False),
    ],
)
def test_a_socket_of_one_interface(at: str, target: str, itself: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind((at, 0))
        port = listening.getsockname()[1]
        assert reaches_itself(listening, resolve(Address(target, port))) is itself


@pytest.mark.parametrize(
    "options", [(), ("--latency", "5ms", "--loss", "5%", "--link", "duplicate=5%")]
)
@pytest.mark.parametrize("proxies", [2, 3])
def test_proxies_in_a_ring_end(options: tuple[str, ...], proxies: int) -> None:
    """Whoever finds out ends, and so the circle does."""
    with contextlib.ExitStack() as stack:
        ports = [str(free_port()) for _ in range(proxies)]
        running = [
            stack.enter_context(program("proxy", *options, one, ports[number - 1]))
            for number, one in enumerate(ports)
        ]
        for one in running:
            one.wait_for(b"passes datagrams on to")
        client = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for _ in range(20):
            client.sendto(b"state", ("127.0.0.1", int(ports[0])))
        wait_until(lambda: any(one.process.poll() is not None for one in running))
        ended = next(one for one in running if one.process.poll() is not None)
        assert ended.process.returncode == 2
        said = ended.wait_for(b"they would loop")
        assert b"passes datagrams back to this proxy" in said
        found = re.search(rb"(\d+) clients", said)
        assert found
        assert int(found[1]) < 1000


def test_many_players_who_begin_alike_are_no_circle() -> None:
    with game() as playing, contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(playing.another_client()).send(b"hello")
        arrived = playing.arrived(60)
        assert arrived.count(b"hello") == 60
        assert playing.proxy.process.poll() is None
        playing.proxy.end()
