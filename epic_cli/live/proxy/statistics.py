"""The counts of a proxy as values with names, for programs."""

from __future__ import annotations

import math
from typing import Any

from epic_cli.engine.link import Tally
from epic_cli.live.proxy.direction import Direction
from epic_cli.live.proxy.relay import Client, Relay

#: The quantiles that are reported.
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def facts_of_relay(relay: Relay) -> dict[str, Any]:
    """The totals so far, in both directions; delays in milliseconds."""
    return {
        "seconds": round(relay.now(), 3),
        "clients": len(relay.clients),
        "clients_until_now": relay.clients_total,
        "rejected": relay.rejected,
        "refused_by_target": relay.refused,
        "socket_errors": dict(relay.socket_errors),
        "overrun": relay.overrun,
        "up": facts_of_direction(relay.up),
        "down": facts_of_direction(relay.down),
    }


def facts_of_direction(one: Direction) -> dict[str, Any]:
    """The counts of one direction."""
    return {
        "datagrams": one.sent,
        "bytes": one.received_bytes,
        "lost": one.lost,
        "dropped": one.dropped,
        "corrupted": one.corrupted,
        "blackout": one.blacked_out,
        "overflowed": one.overflowed,
        "duplicated": one.duplicated,
        "delivered": one.arrived,
        "delivered_bytes": one.delivered_bytes,
        "reordered": one.reordered,
        "waiting": one.waiting,
        "late": one.late,
        "unsent": dict(one.unsent),
        "asked_ms": _quantiles(one.requested),
        "achieved_ms": _quantiles(one.achieved),
        "lateness_ms": _quantiles(one.lateness),
    }


def facts_of_client(client: Client, relay: Relay) -> dict[str, Any]:
    """A client's address, and how long (seconds) it has been idle."""
    return {
        "number": client.number,
        "address": str(client.address),
        "idle": round(max(relay.now() - client.used, 0), 3),
        "up": client.up.taken,
        "down": client.down.taken,
    }


def _quantiles(tally: Tally) -> dict[str, float | None]:
    found = {name: 1000 * tally.delay(share) for name, share in SHARES.items()}
    return {name: None if math.isnan(one) else round(one, 6) for name, one in found.items()}
