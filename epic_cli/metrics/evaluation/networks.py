"""One movement over many simulated networks: a run for each seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay import separate
from epic_cli.metrics.evaluation.spec import Run
from epic_cli.metrics.truth import truths_of
from epic_cli.network.sender import Sender, sample
from epic_cli.network.simulation import simulate

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.metrics.truth import Truth
    from epic_cli.network.link import Channel
    from epic_cli.network.movement import Movement

#: A computed path is the truth at so many times a second.
TRUTH_RATE = 200

#: ... and goes on for so many seconds: what is sent last is drawn after that.
TRUTH_LONGER = 5.0


class Setting(NamedTuple):
    """What is simulated: what moves, what it goes over, how it is sent.

    ``movement`` and ``channel`` are made of a seed, a ``sender`` for each run. ``send_rate`` is in
    hertz, None: recorded states as they stand; ``duration`` in seconds; see ``simulate``.
    """

    movement: Callable[[int], Movement]
    channel: Callable[[int], Channel]
    send_rate: float | None = 20.0
    duration: float = math.inf
    sender: Callable[[], Sender] = Sender
    separate: bool = False


def simulated(setting: Setting, seeds: Iterable[int]) -> Iterator[Run]:
    """A run for each seed, with the movement itself as its truth."""
    known: dict[Movement, dict[str, Truth]] = {}
    for seed in seeds:
        movement = setting.movement(seed)
        if movement not in known:
            sampled = _truths if known else _first_truths
            known = {movement: sampled(movement, setting.duration)}
        packets = simulate(
            movement,
            send_rate=setting.send_rate,
            duration=setting.duration,
            channel=setting.channel(seed),
            sender=setting.sender(),
            separate=setting.separate,
        )
        yield Run(f"seed {seed}", by_entity(packets), known[movement])


def by_entity(packets: Iterable[Packet]) -> dict[str, PacketBlock]:
    """Packets as comparisons take them."""
    block = PacketBlock(Entities())
    for packet in packets:
        block.append(packet)
    found: dict[str, PacketBlock] = {}
    separate(block, found)
    return found


def _truths(movement: Movement, duration: float) -> dict[str, Truth]:
    exact = Sender()
    if movement.recorded() is None:
        snapshots = sample(movement, TRUTH_RATE, duration + TRUTH_LONGER)
    else:
        snapshots = sample(movement, None)
    states = (packet for snapshot in snapshots for packet in exact.packets(snapshot))
    truths, _ = truths_of(by_entity(states), "given")
    return truths


#: Who asks again for the same movement over another network does not wait for its truth.
_first_truths: Any = lru_cache(maxsize=4)(_truths)
