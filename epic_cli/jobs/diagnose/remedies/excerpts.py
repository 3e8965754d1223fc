"""Choose the excerpt of a recording on which remedies are tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.remedies import make_buffer
from epic_cli.jobs.diagnose.remedies.recording import FEWEST, TrialRecording

if TYPE_CHECKING:
    from epic_cli.metrics.traffic import Traffic

#: Length (s) and frame rate (Hz) of the excerpt on which remedies are tried without drawn frames.
EXCERPT, FRAMES = 60.0, 60.0


def make_trial_recording(
    traffic: Traffic, entity: str = "", at: float | None = None
) -> TrialRecording | None:
    """Return an entity's recording for trials of remedies; None if no remedy can be tried.

    If what the game drew is known and understood, remedies are compared with that. Else
    they are compared, in an excerpt around ``at`` (s; None: from the beginning), with a buffer over
    the sender's stamps, whose delay covers a send interval and 95 % of the delays, but no loss.
    """
    match = traffic.drawn
    if match is not None and match.found and match.mechanism is not None:
        path, packets = match.path, traffic.blocks[match.entities[0].entity]
        return TrialRecording(
            packets, path.times, match.mechanism.strategy, path.positions, match.by_frame is True
        )
    if traffic.messages is None or not traffic.placed or not traffic.blocks:
        return None
    name = entity or max(traffic.streams, key=lambda stream: len(stream.times)).name
    block = traffic.blocks.get(name)
    if block is None or name in traffic.senders:  # two movements in one block have no truth
        return None
    begin = -math.inf if at is None else at - EXCERPT / 2
    packets, arrivals = PacketBlock(), []
    for packet in map(block.__getitem__, range(len(block))):
        if packet.arrival is None or packet.time < begin:
            continue
        arrivals.append(packet.arrival)
        packets.append(packet)
        if packet.arrival > arrivals[0] + EXCERPT:
            break
    if len(arrivals) < FEWEST:
        return None
    messages = traffic.messages
    spread = messages.find_delay(0.95) - messages.sorted_delays[0]
    reference = make_buffer(messages.entity_period + spread)
    times = np.arange(min(arrivals), max(arrivals), 1 / FRAMES)
    return TrialRecording(packets, times, reference)
