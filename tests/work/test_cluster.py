"""Tests that a cluster that cannot be used is refused in a sentence.

The cluster is missing, is not a Dask scheduler, or has another version.
"""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import threading
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest

from epic_cli.work import executors
from epic_cli.work.executors import Cluster, NoCluster, parse_scheduler
from epic_cli.work.journal import get_program_version
from epic_cli.work.runner import run_jobs

OURS = get_program_version()


class Client:
    """A stand-in for Dask's client, with the calls that precede any job."""

    status = "running"

    def __init__(self, versions: dict[str, Any]) -> None:
        self.versions = versions
        self.closed = False

    def run(self, *_asked: object, **_how: object) -> dict[str, Any]:
        return self.versions

    def close(self, timeout: float) -> None:
        self.closed = timeout > 0


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ({}, "the scheduler has no workers"),
        (
            {"tcp://w:1": OURS, "tcp://w:2": "0.0.7"},
            f"tcp://w:2 has epic 0.0.7: install epic {OURS} there$",
        ),
        (
            {"tcp://w:1": PackageNotFoundError("epic-cli")},
            f"has no epic: install epic {OURS} there$",
        ),
    ],
)
def test_workers_of_another_version_are_refused(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, Any], told: str
) -> None:
    client = Client(versions)
    monkeypatch.setattr(executors, "_connect_client", lambda _: client)
    with pytest.raises(NoCluster, match=told):
        Cluster("tcp://h:1")
    assert client.closed


class Losing(Client):
    """A cluster that loses its workers, or its scheduler, during a job."""

    class Asked:
        """A job that never ends."""

        status = "pending"

        def add_done_callback(self, _: Any) -> None:
            pass

        def cancel(self) -> None:
            pass

    def __init__(self, gone: bool) -> None:
        super().__init__({"tcp://w:1": OURS})
        self.gone = gone

    def nthreads(self) -> dict[str, int]:
        return {}

    def submit(self, *_asked: object, **_how: object) -> Losing.Asked:
        if self.gone:
            self.status = "closed"
        return self.Asked()


@pytest.mark.parametrize("gone", [False, True])
def test_what_does_not_come_back_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    clients = iter([Losing(gone)])
    monkeypatch.setattr(executors, "_connect_client", lambda _: next(clients))
    monkeypatch.setattr(executors, "_PATIENCE", 0.05)
    monkeypatch.setattr(executors, "_LOOK", 0.01)
    told = "the scheduler is gone" if gone else r"no workers for 0\.05 s"
    with Cluster("tcp://h:1") as executor, pytest.raises(NoCluster, match=told):
        list(run_jobs(abs, [1, 2], executor))


def test_what_takes_no_certificates_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler without our certificates gives a message, not a traceback of the library."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_check_scheduler", lambda *_: None)
    with pytest.raises(NoCluster, match="needs certificates in Dask's configuration"):
        Cluster("tls://127.0.0.1:1")


def test_a_worker_that_joins_later_is_looked_at_too() -> None:
    assert executors._call_in_version(OURS, max, 2, 3) == 3
    with pytest.raises(NoCluster, match=f"has epic {OURS}: install epic 0.0.7"):
        executors._call_in_version("0.0.7", max, 2, 3)


def test_what_to_install_for_a_cluster_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NoCluster, match="pip install distributed"):
        Cluster("tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("word", "told"),
    [(b"", "the scheduler does not answer"), (b"SSH-2.0-OpenSSH", "not a Dask scheduler")],
)
def test_what_answers_otherwise_is_no_scheduler(
    monkeypatch: pytest.MonkeyPatch, word: bytes, told: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(executors, "_PROGRAM", 120 if word else 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(word)
                connection.recv(1)

        greeter = threading.Thread(target=greet)
        greeter.start()
        with pytest.raises(NoCluster, match=told):
            Cluster(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        greeter.join()


@pytest.mark.parametrize(
    "text",
    ["", "host", "host:1", "tcp://host", "tcp://:1", "http://host:1", "tcp://h:99999", "tcp://["],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the address"):
        parse_scheduler(text)


def test_an_address_is_a_host_and_a_port() -> None:
    assert parse_scheduler("tcp://host:8786") == ("host", 8786)
    assert parse_scheduler("tls://[::1]:8786") == ("::1", 8786)
