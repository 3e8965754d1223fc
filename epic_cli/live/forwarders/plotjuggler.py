"""PlotJuggler's UDP server: a JSON object for each tick, whose nested names become a path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from epic_cli.engine.contract import Sample
from epic_cli.live.forwarders import NAMELESS, ForwardFormat, list_numbers
from epic_cli.recordings.addresses import DEFAULT_PORT, UNFRAGMENTED


def encode(samples: Iterable[Sample], _: float) -> Iterator[bytes]:
    """Encode samples as JSON objects with their time in the field ``timestamp``."""
    together: dict[str, object] = {}
    size = 0
    for sample in samples:
        state = list_numbers(sample)
        name = sample.entity or NAMELESS
        if name == "timestamp":
            name = "timestamp_"
        more = len(json.dumps({name: state}))
        if together and (together["timestamp"] != sample.time or size + more > UNFRAGMENTED):
            yield json.dumps(together).encode()
            together, size = {}, 0
        together.setdefault("timestamp", sample.time)
        together[name] = state
        size += more
    if together:
        yield json.dumps(together).encode()


FORWARDER = ForwardFormat("plotjuggler", DEFAULT_PORT, encode)
