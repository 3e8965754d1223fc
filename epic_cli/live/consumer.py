"""Consumers of a listener's values: recordings, rows, screens, plotters, Python programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.live.addresses import ReceivedDatagram
    from epic_cli.live.counts import Counts
    from epic_cli.live.ingest import Limits


class Consumer:
    """Receives one stream of values, in this order; overrides what it is interested in.

    A consumer with ``limits`` only gets packets within them; the others are refused.
    """

    limits: Limits | None = None

    def take_datagrams(self, received: Sequence[ReceivedDatagram]) -> None:
        """Takes datagrams as received, whatever they contain."""

    def take_packets(self, block: PacketBlock) -> None:
        """Takes the accepted packets, before they reach a strategy."""

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Takes the samples of the ticks that have become due; valid during the call."""

    def take_counts(self, counts: Counts) -> None:
        """Takes the counts so far; once a second at most."""

    def close(self) -> None:
        """Ends the stream."""
