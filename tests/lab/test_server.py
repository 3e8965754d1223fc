"""Access to the lab's server, and malformed messages."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError

from epic_cli.lab.page import make_lab_page
from epic_cli.lab.spec import LabInputs
from epic_cli.live.browser.server import LONGEST_MESSAGE, is_local
from epic_cli.live.browser.session import Outbox


def asked(job: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(job, 300))


async def status_of(address: str, **headers: str) -> int:
    async with ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status


def origin_of(address: str) -> str:
    return "/".join(address.split("/")[:3])


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:8080", "[::1]:99", "lab.localhost"])
def test_any_name_of_this_machine_at_any_port_may_read(address: str, host: str) -> None:
    assert is_local(host)
    assert asked(status_of(address, Host=host)) == 200


@pytest.mark.parametrize(
    "host",
    ["example.com", "127.0.0.1.example.com", "localhost.example.com", "192.168.0.7:80", "[::1",
     "127.0.0.1@example.com", "xlocalhost", ""],
)  # fmt: skip
def test_a_foreign_name_may_not(address: str, host: str) -> None:
    assert not is_local(host)
    for path in ("", "talk"):
        assert asked(status_of(f"{address}{path}", Host=host, Origin=f"http://{host}")) == 403


def test_without_the_token_there_is_no_page(address: str) -> None:
    root = origin_of(address)
    token = address.split("/")[3]
    for path in ("", "talk", f"{token[:-1]}/", f"{token}x/", f"{token[:-1]}/talk", "%00/", "é/"):
        assert asked(status_of(f"{root}/{path}")) == 403, path
    assert asked(status_of(f"{root}/{token}/nothing")) == 404


@pytest.mark.parametrize(
    "request_line",
    ["OPTIONS * HTTP/1.1", "CONNECT 127.0.0.1:80 HTTP/1.1", "GET /PAGE HTTP/1.1\r\nHost: other",
     "GET ? HTTP/1.1", "GET http://[/ HTTP/1.1", "GET /PAGEtalk HTTP/1.1\r\nOrigin: http://["],
)  # fmt: skip
def test_what_is_not_a_request_for_the_page_is_refused_without_a_traceback(
    address: str, request_line: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, _, place, page = address.split("/", 3)
    host, port = place.split(":")
    asking = f"{request_line.replace('PAGE', page)}\r\nHost: {place}\r\n\r\n"
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(asking.encode())
        status = connection.recv(1 << 16).split()[1]
    assert status in (b"400", b"403")
    assert caplog.text == ""


def test_a_page_that_leaves_at_once_is_no_fault(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, _, place, page = address.split("/", 3)
    asking = (
        f"GET /{page}talk HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    host, port = place.split(":")
    for garbage in (b"", b"\xff" * 300, b"\x81\xff" + bytes(900), b"\x88\x80" + bytes(4)) * 5:
        with socket.create_connection((host, int(port)), 60) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(asking + garbage)
    assert asked(status_of(address)) == 200
    assert caplog.text == ""


def test_the_page_may_not_be_framed_or_led_elsewhere(address: str) -> None:
    async def headers() -> tuple[dict[str, str], str]:
        async with ClientSession() as session, session.get(address) as answer:
            return dict(answer.headers), await answer.text()

    found, text = asked(headers())
    assert "frame-ancestors 'none'" in found["Content-Security-Policy"]
    assert found["Referrer-Policy"] == "no-referrer"  # the address is a secret
    assert not [name for name in found if name.startswith("Access-Control")]
    assert "default-src 'none'" in text
    assert "connect-src 'self'" in text


async def talk(address: str, *messages: str, origin: str | None = None) -> list[Any]:
    """Send messages; return the websocket frames up to the last answer, or the close reason."""
    found: list[Any] = []
    headers = {"Origin": origin_of(address) if origin is None else origin}
    async with (
        ClientSession() as session,
        session.ws_connect(f"{address}talk", headers=headers, max_msg_size=0) as page,
    ):
        for message in messages:
            if page.closed:
                break
            await page.send_str(message)
        async for frame in page:
            assert frame.type is WSMsgType.BINARY
            (length,) = struct.unpack_from("<I", frame.data)
            found.append(json.loads(frame.data[4 : 4 + length]))
            if found[-1]["number"] == len(messages) and found[-1]["kind"] != "picture":
                return found
        return [page.close_code]


def message(query: str, number: int) -> str:
    return json.dumps({"room": "experiment", "query": query, "number": number})


@pytest.mark.parametrize("origin", ["http://example.com", "null", "", "http://127.0.0.1:1"])
def test_a_page_of_another_site_may_not_talk(address: str, origin: str) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        asked(talk(address, message("", 1), origin=origin))
    assert refused.value.status == 403


def test_an_experiment_is_drawn_and_judged(address: str) -> None:
    *_, last = asked(talk(address, message("movement=circle&link=latency=80ms&s=epic&s=mirror", 1)))
    assert [row["label"] for row in last["rows"]] == ["epic", "mirror"]
    assert last["command"].startswith(
        "epic compare --movement=circle --seeds=1 --link=latency=80ms"
    )
    assert last["values"]["latency"] == "0.08"


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("link=latency=999", "0 to 60 s"),
        ("html=/tmp/x.html", "no parameter 'html'"),
        ("s=/tmp/evil.py:Strategy", "strategy="),
        ("s=mirror+send_interval=x", "send_interval"),
        ("movement=hand", "draw one on the map"),
        ("movement=hand&points=0,0,0;0,1,1", "rising times"),
        ('link=at="x loss=1"', "x is not allowed"),
        ('link=at="1 --html=x"', "no parameter '--html'"),
        ("truth=/etc/passwd", "no parameter"),
        ("movement=truth=/etc/passwd", "no parameter 'truth'"),
        ("link=trace=/etc/passwd", "no parameter 'trace'"),
        ("movement=recording", ""),
        ("s=epic&s=epic", "epic is given twice"),
        ("movement=circle,duration=1e6", "50,000 s"),
        ("movement=circle,duration=601", "at most 600 s"),
        ("movement=circle,duration=100&send=100000", "100,000 packets"),
        ("<script>=1", "no parameter"),
        ("&".join(["s=epic"] * 9), "at most 6"),
        ("&".join(f"a{n}=1" for n in range(500)), "not an experiment"),
    ],
)
def test_what_is_wrong_with_an_experiment_is_said(address: str, query: str, what: str) -> None:
    *_, last = asked(talk(address, message(query, 1)))
    assert last["kind"] == "refused"
    assert last["words"]
    assert what in last["words"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "7", '{"room": "cellar"}', '{"room": ["experiment"]}', "[" * 5000),
        *(
            f'{{"room": "experiment", "number": {number}}}'
            for number in ("NaN", "-Infinity", "1e999")
        ),
    ],
)
def test_garbage_ends_the_talk_and_nothing_else(address: str, text: str) -> None:
    assert asked(talk(address, text)) == [1007]
    assert asked(status_of(address)) == 200


def test_a_message_that_is_too_long_ends_the_talk(address: str) -> None:
    assert asked(talk(address, message("a" * LONGEST_MESSAGE, 1))) == [1009]


def test_of_ten_thousand_messages_the_last_counts(address: str) -> None:
    queries = [f"movement=circle&link=latency={n % 500}ms&s=epic" for n in range(10_000)]
    messages = [message(query, n) for n, query in enumerate(queries, 1)]
    found = asked(talk(address, *messages))
    assert found[-1]["values"]["latency"] == "0.499"
    assert len(found) < 2000
    assert asked(status_of(address)) == 200


def test_who_looks_on_slowly_gets_the_newest_frame() -> None:
    async def newest() -> list[bytes]:
        outbox = Outbox()
        for n in range(100):
            outbox.put("a", b"%d" % n)
        outbox.put("b", b"other")
        await asyncio.sleep(0)
        return [await outbox.get(), await outbox.get()]

    assert asked(newest()) == [b"99", b"other"]


def test_no_name_of_a_file_ends_the_data(tmp_path: Path) -> None:
    name = "<script>alert(1)<!--.csv"
    (tmp_path / name).write_text("entity,time,arrival,x,y\n</script><b>,0,0.1,0,0\n")
    text = make_lab_page(LabInputs(str(tmp_path / name)))
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "<!--.csv" not in text
