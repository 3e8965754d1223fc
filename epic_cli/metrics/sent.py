"""Metrics of the sent data, where the sender is simulated: states, bits and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.metrics.metric import Better, DrawnRows, Metric, MetricSection, divide_sums

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


class SentStates(NamedTuple):
    """The sent states of an entity (n): times (s), bits, and shares of the datagrams' bytes."""

    times: Floats
    bits: Floats
    bytes: Floats


def _sum_sent(part: Callable[[SentStates], Floats | None]) -> Callable[[DrawnRows], Floats]:
    """Return a function for the amount sent in each row's tick, per second.

    ``part`` selects bits or bytes; None: the number of states.
    """

    def sum_field(drawn: DrawnRows) -> Floats:
        import numpy as np  # help needs none

        rows, sent = drawn.truth.times, drawn.sent
        places = np.clip(np.searchsorted(rows, sent.times), 0, len(rows) - 1)
        return np.asarray(np.bincount(places, part(sent), len(rows)) / drawn.truth.tick)

    return sum_field


def _mark_rows(drawn: DrawnRows) -> Floats:
    import numpy as np  # help needs none

    return np.ones(len(drawn.truth.times))


METRICS = (
    Metric(
        "updates",
        "states of an entity that are sent a second",
        lambda measured: divide_sums(measured, "sent_states", "sent_rows"),
        title="sent/s",
        better=Better.NEITHER,
        section=MetricSection.ACCURACY,
        weight=6,
        interval=True,
        sums={
            "sent_rows": _mark_rows,
            "sent_states": _sum_sent(lambda _: None),
            "sent_bits": _sum_sent(lambda sent: sent.bits),
            "sent_bytes": _sum_sent(lambda sent: sent.bytes),
        },
    ),
    Metric(
        "update_bits",
        "bits of such a state, without headers",
        lambda measured: divide_sums(measured, "sent_bits", "sent_states"),
        title="bits",
        better=Better.NEITHER,
        section=MetricSection.ACCURACY,
        weight=5,
        interval=True,
    ),
    Metric(
        "bytes",
        "bytes a second for each entity, with its part of the headers of IPv4 and UDP (28 bytes a"
        " packet) and of the packet's number, stamp and counts (some 9)",
        lambda measured: divide_sums(measured, "sent_bytes", "sent_rows"),
        title="bytes/s",
        section=MetricSection.ACCURACY,
        weight=7,
        interval=True,
    ),
)
