"""Serves one page, its WebSocket and its files, to this machine alone."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web
from aiohttp.http import HttpProcessingError

from epic_cli.live.browser.session import Outbox, PageSession

#: Bytes of a message of a page, and how many pages at a time.
LONGEST_MESSAGE, MOST_PAGES = 1 << 17, 16

#: Nothing of the page goes anywhere else, and no other site may show or read it.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class File(NamedTuple):
    """A file that is served: its type, and what makes it of the page's query (``ValueError``)."""

    content_type: str
    make: Callable[[str], bytes]


@dataclass(frozen=True)
class ServeSpec:
    """What is served, at which ``port`` (0: a free one).

    ``page`` makes the HTML, ``sessions`` what a page talks with, by the word in ``room`` of its
    messages, and ``files`` are those that it offers, by their names. ``query`` is what the address
    ends with. The ``token`` is part of every address.
    """

    page: Callable[[], str]
    sessions: Mapping[str, Callable[[Outbox], PageSession]]
    port: int = 0
    query: str = ""
    files: Mapping[str, File] = field(default_factory=dict)
    token: str = field(default_factory=partial(secrets.token_urlsafe, 18))


def is_local(host: str) -> bool:
    """Whether this is a name of this machine, at any port: what a tunnel and a WSL window ask for.

    A page of another site that has its own name point here (DNS rebinding) asks for that name.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in ("localhost", "127.0.0.1", "::1") or name.endswith(".localhost")


async def serve(spec: ServeSpec, ready: Callable[[str], object]) -> None:
    """Serves until it is cancelled; ``ready`` is called with the address. Raises ``OSError``."""
    # pictures and figures share Python's lock: pictures are waited for
    sys.setswitchinterval(0.0005)
    app = web.Application(middlewares=[_guard(spec.token)], client_max_size=LONGEST_MESSAGE)
    pages: set[web.WebSocketResponse] = set()
    root = f"/{spec.token}/"
    app.router.add_get(root, partial(_page, spec))
    app.router.add_get(f"{root}talk", partial(_talk, spec, pages))
    for name, file in spec.files.items():
        app.router.add_get(f"{root}{name}", partial(_file, name, file))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=3.0, logger=_faults())
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", spec.port)
        await site.start()
        port = runner.addresses[0][1]
        ready(f"http://127.0.0.1:{port}{root}{f'?{spec.query}' if spec.query else ''}")
        await asyncio.Event().wait()
    finally:
        for page in list(pages):
            await page.close(code=1001)
        await runner.cleanup()


def _faults() -> logging.Logger:
    """Our own faults are logged; what is not HTTP has got its answer, and is the sender's."""
    found = logging.getLogger(__name__)
    found.addFilter(_is_ours)
    return found


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _guard(token: str) -> Any:
    """Refuses who has no token, or comes by a foreign name."""

    @web.middleware
    async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
        given = request.path.removeprefix("/").partition("/")[0]
        if not is_local(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="this page is for the machine that it runs on\n")
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise web.HTTPForbidden(text="the address lacks the token that epic lab printed\n")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    return guard


async def _page(spec: ServeSpec, request: web.Request) -> web.StreamResponse:
    del request
    text = await asyncio.to_thread(spec.page)
    return web.Response(text=text, content_type="text/html")


async def _file(name: str, file: File, request: web.Request) -> web.StreamResponse:
    try:
        data = await asyncio.to_thread(file.make, request.rel_url.raw_query_string)
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"{error}\n") from error
    return web.Response(
        body=data,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _talk(
    spec: ServeSpec, pages: set[web.WebSocketResponse], request: web.Request
) -> web.StreamResponse:
    origin = request.headers.get("Origin", "").partition("://")[2]
    if origin != request.headers.get("Host"):
        raise web.HTTPForbidden(text="only the page itself may talk here\n")
    if len(pages) >= MOST_PAGES:
        raise web.HTTPServiceUnavailable(text="too many pages are open\n")
    page = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=30.0, compress=False)
    await page.prepare(request)
    pages.add(page)
    outbox, sessions = Outbox(), dict[str, PageSession]()
    sending = asyncio.create_task(_send(page, outbox))
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT and not _deliver(
                message.data, sessions, outbox, spec
            ):
                await page.close(code=1007, message=b"not a message of this page")
    finally:
        pages.discard(page)
        sending.cancel()
        for session in sessions.values():
            await asyncio.to_thread(session.close)
    return page


def _finite(text: str) -> float:
    """Return a number of a message; raise ``ValueError`` for what no answer could repeat."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


def _deliver(text: str, sessions: dict[str, PageSession], outbox: Outbox, spec: ServeSpec) -> bool:
    """Hands a message to its session; False: it is none."""
    try:
        message = json.loads(text, parse_constant=_finite, parse_float=_finite)
        name = message["room"]
        make = spec.sessions[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    if name not in sessions:
        sessions[name] = make(outbox)
    sessions[name].receive(message)
    return True


async def _send(page: web.WebSocketResponse, outbox: Outbox) -> None:
    try:
        while True:
            await page.send_bytes(await outbox.get())
    except ConnectionError:
        pass  # the page has gone; its messages end, too
