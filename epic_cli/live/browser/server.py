"""A server of one page, its WebSocket and its files, for this machine alone."""

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

#: The longest message of a page in bytes, and the most pages at a time.
LONGEST_MESSAGE, MOST_PAGES = 1 << 17, 16

#: Headers that keep the page's data here, and other sites from showing or reading it.
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
    """A file to serve: its media type, and a function from the query to bytes (``ValueError``)."""

    content_type: str
    make: Callable[[str], bytes]


@dataclass(frozen=True)
class ServeSpec:
    """A page to serve at a ``port`` (0: a free one), with its sessions and files.

    ``page`` makes the HTML, ``sessions`` a page's sessions, by the word in ``room`` of its
    messages, and ``files`` are those that it offers, by name. ``query`` is the end of the address.
    The ``token`` is part of every address.
    """

    page: Callable[[], str]
    sessions: Mapping[str, Callable[[Outbox], PageSession]]
    port: int = 0
    query: str = ""
    files: Mapping[str, File] = field(default_factory=dict)
    token: str = field(default_factory=partial(secrets.token_urlsafe, 18))


def is_local(host: str) -> bool:
    """Return True if ``host`` names this machine, at any port (tunnels have others).

    A tunnel or a WSL window uses others. False for the name of another site, even if that name
    resolves to this machine (DNS rebinding).
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in ("localhost", "127.0.0.1", "::1") or name.endswith(".localhost")


async def serve(spec: ServeSpec, ready: Callable[[str], object]) -> None:
    """Serve the page until the task is cancelled; call ``ready`` with the page's address.

    Raise ``OSError``.
    """
    # users wait for pictures, which share Python's lock with computations
    sys.setswitchinterval(0.0005)
    app = web.Application(middlewares=[_make_guard(spec.token)], client_max_size=LONGEST_MESSAGE)
    pages: set[web.WebSocketResponse] = set()
    root = f"/{spec.token}/"
    app.router.add_get(root, partial(_serve_page, spec))
    app.router.add_get(f"{root}talk", partial(_serve_socket, spec, pages))
    for name, file in spec.files.items():
        app.router.add_get(f"{root}{name}", partial(_serve_file, name, file))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=3.0, logger=_make_logger())
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


def _make_logger() -> logging.Logger:
    """Return a logger of this program's faults, without malformed requests and lost connections."""
    found = logging.getLogger(__name__)
    found.addFilter(_is_own_fault)
    return found


def _is_own_fault(record: logging.LogRecord) -> bool:
    of_client = (HttpProcessingError, ConnectionError)
    return not (record.exc_info and isinstance(record.exc_info[1], of_client))


def _make_guard(token: str) -> Any:
    """Return a middleware that refuses requests without the token, or under a foreign host name."""

    @web.middleware
    async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
        given = request.path.removeprefix("/").partition("/")[0]
        if not is_local(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="this page is only for the machine that serves it\n")
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise web.HTTPForbidden(text="the address lacks the token that epic lab printed\n")
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    return guard


async def _serve_page(spec: ServeSpec, request: web.Request) -> web.StreamResponse:
    del request
    text = await asyncio.to_thread(spec.page)
    return web.Response(text=text, content_type="text/html")


async def _serve_file(name: str, file: File, request: web.Request) -> web.StreamResponse:
    try:
        data = await asyncio.to_thread(file.make, request.rel_url.raw_query_string)
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"{error}\n") from error
    return web.Response(
        body=data,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _serve_socket(
    spec: ServeSpec, pages: set[web.WebSocketResponse], request: web.Request
) -> web.StreamResponse:
    origin = request.headers.get("Origin", "").partition("://")[2]
    if origin != request.headers.get("Host"):
        raise web.HTTPForbidden(text="this connection comes from another page, and is refused\n")
    if len(pages) >= MOST_PAGES:
        raise web.HTTPServiceUnavailable(text="too many pages are open: close one\n")
    page = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=30.0, compress=False)
    await page.prepare(request)
    pages.add(page)
    outbox, sessions = Outbox(), dict[str, PageSession]()
    sending = asyncio.create_task(_send_frames(page, outbox))
    try:
        async for message in page:
            if message.type is WSMsgType.TEXT and not _deliver_message(
                message.data, sessions, outbox, spec
            ):
                await page.close(code=1007, message=b"not a message of this page")
    finally:
        pages.discard(page)
        sending.cancel()
        for session in sessions.values():
            await asyncio.to_thread(session.close)
    return page


def _parse_finite(text: str) -> float:
    """Parse a number of a message; raise ``ValueError`` for NaN and infinity."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _deliver_message(
    text: str, sessions: dict[str, PageSession], outbox: Outbox, spec: ServeSpec
) -> bool:
    """Pass a page's message to the session that it names; return False if it is malformed."""
    try:
        message = json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)
        name = message["room"]
        make = spec.sessions[name]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    if name not in sessions:
        sessions[name] = make(outbox)
    sessions[name].receive(message)
    return True


async def _send_frames(page: web.WebSocketResponse, outbox: Outbox) -> None:
    try:
        while True:
            await page.send_bytes(await outbox.get())
    except ConnectionError:
        pass  # the page has gone, and so have its messages
