"""What a connection sends, cut into messages: lines, what stands behind its length, WebSockets."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.decoding import LONGEST_NAMES
from epic_cli.recordings.datagrams.shapes import kind_of

#: The types of the length before a binary message. Of 32 bits both byte orders are understood:
#: no length up to ``_LONGEST`` is one in the other order too.
PREFIXES = {"u16": (2, "little"), "big-u16": (2, "big"), "u32": (4, "")}

#: Bytes of a message: those of the largest datagram, as which ``--raw`` records it.
_LONGEST = 65507

#: Bytes that are read of a connection at a time, and of a WebSocket handshake.
AT_ONCE = 1 << 14
_LONGEST_HANDSHAKE = 1 << 14

#: Every web page can make a browser send this to any port.
_HTTP = re.compile(rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) ")


class Unacceptable(Exception):
    """A connection is not understood from here on: the reason, and the fault in words."""

    def __init__(self, reason: Refused, words: str) -> None:
        super().__init__(words)
        self.reason = reason


class Splitter:
    """Cuts what one connection sends into messages.

    ``found`` are those to be taken, ``head`` stands before each of them, ``answer`` is to be sent
    back; ``ended``: the client has said that nothing more comes.
    """

    head = b""
    answer = b""
    ended = False

    def __init__(self) -> None:
        self.found: list[bytes] = []
        self._buffer = bytearray()
        self._checked = False

    def feed(self, data: bytes) -> None:
        """Finds the messages that end in these bytes; raises ``Unacceptable`` behind them."""
        self._buffer += data
        if not self._checked:
            if _HTTP.match(self._buffer):
                raise Unacceptable(Refused.OTHER_PROTOCOL, "an HTTP request: browsers need ws://")
            self._checked = len(self._buffer) > 8
        self._cut()

    def _cut(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """The end of the connection; raises ``Unacceptable`` for half a message."""
        if self._buffer:
            raise Unacceptable(Refused.CUT, f"{len(self._buffer):,} bytes at the end")


class Lines(Splitter):
    """Lines of packet text or JSON, or rows below a header: CSV."""

    def __init__(self, packet_format: str | None, numbered: bool) -> None:
        super().__init__()
        self._format = packet_format
        self._begun = numbered  # columns by their numbers have no header

    def _cut(self) -> None:
        # the rest was searched before, and can be long while little comes
        if self._buffer.find(b"\n", -AT_ONCE) >= 0:
            *lines, rest = bytes(self._buffer).split(b"\n")
            self._buffer = bytearray(rest)
            self.found += [line for one in lines if (line := self._line(one))]
        if len(self._buffer) > _LONGEST:
            raise Unacceptable(Refused.OVERLONG, f"a line of {_LONGEST:,} bytes goes on")

    def _line(self, line: bytes) -> bytes:
        """A line that may be packets; nothing for others."""
        line = line.rstrip(b"\r")
        if len(line) > _LONGEST:
            raise Unacceptable(Refused.OVERLONG, f"a line of {len(line):,} bytes")
        if not line.strip() or line + b"\n" == self.head or (line[:1] == b"#" and not self.head):
            return b""
        if not self._begun:
            self._begun = True
            if (self._format or kind_of(line)) == "csv":
                if len(line) >= LONGEST_NAMES:
                    raise Unacceptable(Refused.OVERLONG, f"a header of {len(line):,} bytes")
                self.head = line + b"\n"
                return b""
        return line

    def end(self) -> None:
        """The last line needs no end if it shows by itself that it is whole: JSON."""
        if self._buffer.lstrip().startswith((b"{", b"[")):
            self.found.append(bytes(self._buffer))
        elif self._buffer.strip():
            super().end()


class Prefixed(Splitter):
    """Binary messages, each behind its length (of ``PREFIXES``)."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._size, self._order = PREFIXES[prefix]

    def _cut(self) -> None:
        at = 0
        while (begin := at + self._size) <= len(self._buffer):
            end = begin + self._length(bytes(self._buffer[at:begin]))
            if end > len(self._buffer):
                break
            self.found.append(bytes(self._buffer[begin:end]))
            at = end
        del self._buffer[:at]

    def _length(self, written: bytes) -> int:
        orders: Any = (self._order,) if self._order else ("little", "big")
        lengths = [int.from_bytes(written, order) for order in orders]
        for order, length in zip(orders, lengths, strict=True):
            if length <= _LONGEST:
                self._order = order if length else self._order
                return length
        words = f"a length of {min(lengths):,} ({self._prefix}; --prefix names other types)"
        raise Unacceptable(Refused.OVERLONG, words)


class WebSocketMessages(Splitter):
    """Messages of a WebSocket, without compression: none of them can be longer than its bytes.

    With ``binary`` text messages are not understood.
    """

    def __init__(self, binary: bool, origins: Sequence[str]) -> None:
        from websockets.server import ServerProtocol

        super().__init__()
        self._binary = binary
        self._origins = origins
        # a browser gives up a connection for which none of the subprotocols it offers is chosen
        self._protocol = ServerProtocol(
            max_size=_LONGEST, select_subprotocol=lambda _, offered: next(iter(offered), None)
        )
        self._size = 0
        self._is_open = False

    def feed(self, data: bytes) -> None:
        """Finds the messages that end in these bytes; raises ``Unacceptable`` behind them."""
        protocol = self._protocol
        self._size += len(data)
        if not self._is_open and self._size > _LONGEST_HANDSHAKE:
            raise Unacceptable(Refused.OTHER_PROTOCOL, "a handshake that does not end")
        protocol.receive_data(data)
        try:
            for event in protocol.events_received():
                if not hasattr(event, "opcode"):
                    self._greet(event)
                elif event.opcode <= 2 and self._is_open:  # 0: goes on, 1: text, 2: binary
                    if event.opcode == 1 and self._binary:
                        raise Unacceptable(
                            Refused.OTHER_PROTOCOL, "a text message, where --layout is for binary"
                        )
                    self._buffer += event.data
                    if event.fin:
                        self.found.append(bytes(self._buffer))
                        self._buffer.clear()
        finally:
            self.answer = b"".join(protocol.data_to_send())
        if protocol.parser_exc is not None:
            wrong = type(protocol.parser_exc).__name__
            reason = Refused.OVERLONG if wrong == "PayloadTooBig" else Refused.OTHER_PROTOCOL
            raise Unacceptable(reason, str(protocol.parser_exc))
        if protocol.handshake_exc is not None:
            raise Unacceptable(Refused.OTHER_PROTOCOL, str(protocol.handshake_exc))
        self.ended = protocol.close_rcvd is not None

    def _greet(self, request: Any) -> None:
        protocol = self._protocol
        given = request.headers.get_all("Origin")  # programs that are no browsers send none
        self._is_open = all(is_allowed(one, self._origins) for one in given)
        if not self._is_open:
            words = f"{', '.join(given)} may not connect: see epic listen --origin"
            protocol.send_response(protocol.reject(403, f"{words}\n"))
            raise Unacceptable(Refused.FOREIGN_PAGE, f"--origin {given[0][:80]!r}")
        protocol.send_response(protocol.accept(request))


def is_allowed(origin: str, allowed: Sequence[str]) -> bool:
    """Whether a page of this origin may send packets: this machine's, and those ``allowed``."""
    if "*" in allowed or origin in allowed:
        return True
    with contextlib.suppress(ValueError):
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    return False
