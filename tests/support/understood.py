"""Whether a layout makes of a made-up game's datagrams what they mean."""

from __future__ import annotations

from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from support.unknown_games import Game


def verdict(game: Game, layout: str) -> str:
    """``right``, or what differs; times may begin elsewhere, places have another unit."""
    packets = [
        decoded.block[index]
        for decoded in Decoder(records=RecordLayout(layout)).read(game.datagrams)
        if decoded.block is not None
        for index in range(len(decoded.block))
    ]
    if len(packets) != len(game.truth):
        return f"{len(packets)} records of {len(game.truth)}"
    names: dict[str, str] = {}
    begin = packets[0].time - game.truth[0][1]
    for packet, (entity, time, _) in zip(packets, game.truth, strict=True):
        if names.setdefault(packet.entity, entity) != entity:
            return f"entity {packet.entity} is {entity} and {names[packet.entity]}"
        if abs(packet.time - time - begin) > 0.02 + 1e-3 * time:
            return f"time {packet.time} is {time}"
    if len(names) != len({entity for entity, _, _ in game.truth}):
        return f"{len(names)} entities"
    for axis in range(len(game.truth[0][2])):
        found = [packet.position[axis] for packet in packets]
        wanted = [place[axis] for _, _, place in game.truth]
        span = max(wanted) - min(wanted)
        if span < 1e-9:
            continue  # what stands still may be left out
        scale = (max(found) - min(found)) / span
        away = (
            abs(a - scale * b - (found[0] - scale * wanted[0]))
            for a, b in zip(found, wanted, strict=True)
        )
        if not scale or max(away) > 0.02 * scale * span:
            return f"axis {axis}"
    return "right"
