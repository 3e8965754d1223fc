"""Reports of a proxy: a few lines while it runs, and a summary at the end."""

from __future__ import annotations

import math
from collections import deque
from operator import attrgetter, sub
from typing import Any

from epic_cli.live.proxy.control import describe_conditions
from epic_cli.live.proxy.run import Relay
from epic_cli.live.proxy.spec import Direction
from epic_cli.metrics.digits import format_count
from epic_cli.network.link import fates
from epic_cli.show.link import summarize_link as link_summary
from epic_cli.show.link import write_quantiles

#: The window of the rates on the screen, in seconds.
_WINDOW = 1.0

#: The totals from which rates are computed.
_totals = attrgetter("sent", "received_bytes", "lost", "arrived", "seconds")

#: The help for the keys of the link.
KEYS = (
    "space blackout, arrows latency (up, down) and loss (left, right), j J jitter,",
    "p P preset, u d b direction up, down or both, r reset, c clear, q quit",
)


def summarize_proxy(relay: Relay) -> str:
    """Return counts and delays of both directions, and errors."""
    lines = ""
    for way in (relay.up, relay.down):
        where = "to the server" if way.way == "up" else "from the server"
        lines += f"{way.way}, {where}: {link_summary(way, fates(way))}{_format_details(way)}"
    return f"{format_count(relay.clients_total, 'client')}\n{lines}{_format_error(relay)}"


def _format_details(one: Direction) -> str:
    lines = ""
    if one.arrived:
        lines += f"  requested: {write_quantiles(one.requested.delay)}\n"
        late = write_quantiles(one.lateness.delay, (0.5, 0.99, 0.999, 1.0), digits=2)
        lines += f"  later than requested: {late}; {one.late:,} by more than 1 ms\n"
    if one.sent:
        lines += f"  {one.received_bytes:,} bytes received, {one.delivered_bytes:,} sent\n"
    if one.blacked_out:
        lines += f"  {one.blacked_out:,} lost in blackouts\n"
    if one.overflowed:
        lines += f"  {one.overflowed:,} lost because too much was in flight\n"
    for reason, count in sorted(one.unsent.items()):
        lines += f"  {count:,} could not be sent: {reason}\n"
    return lines


def _format_error(relay: Relay) -> str:
    lines = ""
    if relay.refused:
        lines += (
            f"the target refused {format_count(relay.refused, 'datagram')}: nothing listens there\n"
        )
    for reason, count in sorted(relay.socket_errors.items()):
        lines += f"no socket for a client, {format_count(count, 'time')}: {reason}\n"
    if relay.rejected:
        lines += f"{format_count(relay.rejected, 'datagram')} rejected: too many clients\n"
    if relay.overrun:
        lines += (
            f"{format_count(relay.overrun, 'datagram')} dropped by the full queue of the socket\n"
        )
    return lines


class Status:
    """The screen's lines on the current traffic; rates are those of the last second."""

    def __init__(self, relay: Relay, what: str) -> None:
        self._relay = relay
        self.what = what
        self._seen: deque[tuple[float, Any, Any]] = deque()

    def render_lines(self, chosen: str, preset: str) -> list[str]:
        """Return the lines of the screen; ``chosen`` is the direction that keys change."""
        relay, now = self._relay, self._relay.measure_time()
        self._seen.append((now, _totals(relay.up), _totals(relay.down)))
        while now - self._seen[0][0] > _WINDOW and len(self._seen) > 2:
            self._seen.popleft()
        since, up, down = self._seen[0]
        seconds = max(now - since, 1e-9)
        head = f"{self.what}  {_format_clock(now)}  {format_count(len(relay.clients), 'client')}"
        head += f"  keys: {chosen}" + (f"  preset {preset}" if preset else "")
        return [
            head,
            *_format_direction(relay.up, up, seconds),
            *_format_direction(relay.down, down, seconds),
            *_format_error(relay).splitlines(),
        ]


def _format_direction(one: Direction, before: Any, seconds: float) -> list[str]:
    received, size, lost, delivered, on_way = map(sub, _totals(one), before)
    share = f"{100 * lost / received:.1f}%" if received else "-"
    delay = f"{1000 * on_way / delivered:.1f} ms" if delivered else "-"
    words = "BLACKOUT, " if one.blackout else ""
    return [
        f"{one.way:4} {received / seconds:7,.0f}/s {_format_rate(size / seconds):>10}"
        f"  lost {share:>6}  delay {delay:>9}  {one.waiting:,} in flight",
        f"     {words}{describe_conditions(one.conditions)}",
    ]


def _format_rate(rate: float) -> str:
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if rate >= size:
            return f"{rate / size:.1f} {unit}/s"
    return f"{rate:.0f} B/s"


def _format_clock(seconds: float) -> str:
    minutes, rest = divmod(math.floor(seconds), 60)
    return f"{minutes}:{rest:02}"
