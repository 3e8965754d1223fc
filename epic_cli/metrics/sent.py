"""Metrics of what was sent, where the sender is simulated: states, bits and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.metrics.metric import Better, DrawnRows, Metric, MetricSection, ratio

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


class SentStates(NamedTuple):
    """The states of an entity (n): when each was sent (s), its bits, its part of the bytes."""

    times: Floats
    bits: Floats
    bytes: Floats

    def rates(self, rows: Floats, tick: float) -> dict[str, Floats]:
        """Of each row, what was sent in the ``tick`` (s) before it, a second of it."""
        import numpy as np  # help needs none

        places = np.clip(np.searchsorted(rows, self.times), 0, len(rows) - 1)
        parts = (None, self.bits, self.bytes)
        rates = (np.bincount(places, part, len(rows)) / tick for part in parts)
        return {"sent_rows": np.ones(len(rows)), **dict(zip(_PARTS, rates, strict=True))}


_PARTS = ("sent_states", "sent_bits", "sent_bytes")


def _sum(name: str) -> Callable[[DrawnRows], Floats]:
    def of(drawn: DrawnRows) -> Floats:
        rates: dict[str, Floats] = drawn.sent.rates(drawn.truth.times, drawn.truth.tick)
        return rates[name]

    return of


METRICS = (
    Metric(
        "updates",
        "states of an entity that are sent a second",
        lambda measured: ratio(measured, "sent_states", "sent_rows"),
        title="sent/s",
        better=Better.NEITHER,
        section=MetricSection.ACCURACY,
        weight=6,
        interval=True,
        sums={name: _sum(name) for name in ("sent_rows", *_PARTS)},
    ),
    Metric(
        "update_bits",
        "bits of such a state, without headers",
        lambda measured: ratio(measured, "sent_bits", "sent_states"),
        title="bits",
        better=Better.NEITHER,
        section=MetricSection.ACCURACY,
        weight=5,
        interval=True,
    ),
    Metric(
        "bytes",
        "bytes a second for each entity, with its part of the headers of IPv4 and UDP",
        lambda measured: ratio(measured, "sent_bytes", "sent_rows"),
        title="bytes/s",
        section=MetricSection.ACCURACY,
        weight=7,
        interval=True,
    ),
)
