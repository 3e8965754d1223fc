"""Logs of the local player: predictions, server states, and how engines hide corrections.

A log of the local player has two entities, ``predicted`` and ``authoritative`` (or
``NAME/predicted`` and ``NAME/authoritative``): the states that the client predicted, one a frame,
and those of the server, by when they arrived. Both have the sequence number of the input that they
contain.
"""

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from epic_cli.engine.contract import Packet, Vector
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay import separate

PREDICTED, AUTHORITATIVE = "predicted", "authoritative"

#: Differences of less than this share of a position are rounding.
_ROUNDING = 1e-6

#: A correction shows in what is predicted by more than this share of it.
_SHOWS = 0.1


class NoCommonStates(ValueError):
    """The log of a local player has no server state that answers a predicted state."""


class OwnPlayer(NamedTuple):
    """A local player's log, prepared for a replay: the client's predictions and the true path.

    Packets of ``predicted`` arrive when they are made, and are marked as teleports where the client
    corrected itself. ``truth`` has the server's states at the client's time of their input.
    """

    predicted: PacketBlock
    truth: PacketBlock


def list_own_players(packets: Mapping[str, PacketBlock]) -> dict[str, OwnPlayer]:
    """Return the prepared logs of local players, by player's name.

    Empty for a recording without such logs. Raise ``NoCommonStates`` for a log without common
    sequence numbers.
    """
    found = {}
    entities = Entities()
    for name in packets:
        player, slash, state = name.rpartition("/")
        server = f"{player}{slash}{AUTHORITATIVE}"
        if state == PREDICTED and server in packets:
            predicted, states = ([*_iterate_packets(packets[each])] for each in (name, server))
            found[player] = _make_own_player(player, predicted, states, entities)
    return found


def iterate_as_drawn(blocks: Iterable[PacketBlock]) -> Iterator[PacketBlock]:
    """Yield the blocks to replay: a log of a local player becomes the predictions to draw.

    All blocks are read first. Raise ``NoCommonStates``.
    """
    kept: list[PacketBlock] = []
    packets: dict[str, PacketBlock] = {}
    for block in blocks:
        kept.append(block)
        separate(block.part(0, len(block)), packets)
    players = list_own_players(packets)
    if not players:
        yield from kept
    for player in players.values():
        player.predicted.refusals, kept = [each for block in kept for each in block.refusals], []
        yield player.predicted


def _iterate_packets(block: PacketBlock) -> Iterator[Packet]:
    return map(block.__getitem__, range(len(block)))


def _make_own_player(
    player: str, predicted: list[Packet], server: list[Packet], entities: Entities
) -> OwnPlayer:
    by_sequence = {each.sequence: each for each in predicted if each.sequence is not None}
    known = [
        (state, guess)
        for state in server
        if state.sequence is not None and (guess := by_sequence.get(state.sequence))
    ]
    if not known:
        raise NoCommonStates(
            f"no state of {AUTHORITATIVE!r} has the sequence number of one of {PREDICTED!r}:"
            " log the number of the move with both"
        )
    truth, drawn = PacketBlock(), PacketBlock(entities)
    wrong = []  # when a state of the server arrived that was predicted otherwise, and how far off
    for state, guess in known:
        truth.append(Packet(state.position, state.velocity, guess.time, None, player))
        off = math.dist(state.position, guess.position)
        if off > _ROUNDING * (1 + math.hypot(*state.position)):
            wrong.append((_get_arrival(state), off))
    wrong.sort()
    predicted = sorted(predicted, key=lambda packet: packet.time)
    intervals = sorted(after.time - before.time for before, after in pairwise(predicted))
    frame = intervals[len(intervals) // 2] if intervals else 0.0
    for before, one in zip([predicted[0], *predicted], predicted, strict=False):
        # the client's clock may have been read before the state was, or some frames later
        begin, end = (bisect(wrong, (one.time + frames * frame,)) for frames in (-3, 3))
        sizes = [off for _, off in wrong[begin:end]]
        step = _measure_unexplained_step(before, one)
        corrected = bool(sizes) and step > max(_SHOWS * min(sizes), _SHOWS**2 * max(sizes))
        drawn.append(one._replace(arrival=one.time, entity=player, teleport=corrected))
    return OwnPlayer(drawn, truth)


def _get_arrival(packet: Packet) -> float:
    return packet.time if packet.arrival is None else packet.arrival


def _measure_unexplained_step(before: Packet, packet: Packet) -> float:
    """Return the distance of a packet from where the mean of both velocities leads."""
    seconds = packet.time - before.time
    zero: Vector = (0.0, 0.0, 0.0)
    a, b = before.velocity or zero, packet.velocity or zero
    led = [
        place + (one + other) / 2 * seconds
        for place, one, other in zip(before.position, a, b, strict=True)
    ]
    return math.dist(led, packet.position)
