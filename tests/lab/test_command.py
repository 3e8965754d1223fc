"""``epic lab`` as a program: its start and its end."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest
from support.places import SAMPLES
from support.running import environment, epic, started


def begun(*args: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the program; return it and the address that it prints."""
    process = started("lab", "--no-open", *args)
    assert process.stderr is not None
    return process, process.stderr.readline().decode().strip()


def get_exit_status(process: subprocess.Popen[bytes], by: signal.Signals = signal.SIGINT) -> int:
    process.send_signal(by)
    process.communicate(timeout=600)
    return process.returncode


@pytest.mark.parametrize(("by", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_it_serves_this_machine_alone_until_it_is_stopped(by: signal.Signals, status: int) -> None:
    process, address = begun()
    with urllib.request.urlopen(address) as page:
        assert page.read().startswith(b"<!doctype html>")
    port = int(address.split(":")[2].split("/")[0])
    own = []
    with contextlib.suppress(OSError):  # not every machine knows its own name
        own = [row[4][0] for row in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)]
    for host in {*own, "127.0.0.2"} - {"127.0.0.1"}:
        with socket.socket() as other:
            assert other.connect_ex((str(host), port)) != 0
    assert get_exit_status(process, by) == status


def test_it_begins_with_the_recording() -> None:
    process, address = begun(str(SAMPLES / "jitter.txt"))
    assert "/?movement=recording&" in address
    get_exit_status(process)


def test_it_begins_with_an_experiment_and_strategies_among_them_an_own_one() -> None:
    own = str(SAMPLES / "half_way.py:HalfWay")
    experiment = f"http://old:1/x/?movement=circle&s=mirror&s={own}&link=latency%3D80ms#t=2"
    process, address = begun("-s", f"epic,{own}+gain=0.3", "--experiment", experiment)
    begins = "?movement=circle&link=latency=80ms&s=epic"
    assert address.endswith(f"{begins}&s={quote(own, safe='')}+gain=0.3")
    with urllib.request.urlopen(address) as page:
        assert json.dumps(own) in page.read().decode()  # to be added again
    get_exit_status(process)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = epic("lab", "--no-open", "--port", str(port))
    assert done.returncode == 3
    assert str(port) in done.stderr.decode()


def test_without_the_library_one_sentence_says_so(tmp_path: Path) -> None:
    (tmp_path / "aiohttp.py").write_text("raise ModuleNotFoundError(name='aiohttp')")
    done = epic("lab", "--no-open", env=environment(PYTHONPATH=str(tmp_path)))
    assert done.returncode == 2
    assert "pip install aiohttp" in done.stderr.decode()
    assert b"Traceback" not in done.stderr
