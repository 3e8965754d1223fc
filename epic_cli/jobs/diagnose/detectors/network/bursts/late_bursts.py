"""Find late bursts: messages that were held until one moment."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors.freezes import remove_freezes
from epic_cli.jobs.diagnose.detectors.network.bursts.search import find_bursts
from epic_cli.metrics.arrays import compute_quantile
from epic_cli.metrics.traffic import FEWEST_STATES, MessageLog, Traffic, compute_middles

#: Fewest messages of a late burst: fewer come together by chance.
SIZE = 4

#: Least extra delay of the first message of a late burst, in periods.
HEIGHT = 2.0

#: Late messages of one burst come within a spread of the delays plus this share of their sending
#: time.
LOOSE = 0.35

#: Changes of the delays that last for longer (s) are no bursts.
SLOW = 8.0

#: Share of a burst's messages to which that applies: the last ones may be on time.
NEARLY_ALL = 0.8


class LateBurst(NamedTuple):
    """Messages ``begin`` to before ``end``, held until one moment, the first for ``height`` s."""

    begin: int
    end: int
    height: float


def find_late_bursts(messages: MessageLog) -> list[LateBurst]:
    """Return the long bursts whose first message was delayed for long."""
    messages = remove_slow_changes(messages)
    found = find_bursts(messages)
    in_frame = messages.frame / messages.period  # this many are read at once anyway
    size = SIZE + 2 * int(in_frame)
    least = max(HEIGHT * messages.period, 2 * messages.frame, found.unusual)
    high = np.flatnonzero((found.ends - found.begins >= size) & (found.heights >= least))
    bursts, taken = [], np.zeros(len(messages.sent), bool)
    heights = messages.delays - messages.usual_delay
    if not messages.frame:
        # each may have been under way for itself since then, and come in another order
        spread = messages.find_delay(0.95) - messages.find_delay(0.05)
        for begin in np.flatnonzero(heights > least).tolist():
            until = float(messages.arrivals[begin]) - messages.usual_delay
            end = begin + int(np.searchsorted(messages.sent[begin:], until))
            if taken[begin] or end - begin < size:
                continue
            apart = np.abs(messages.arrivals[begin:end] - messages.arrivals[begin])
            over = float(messages.sent[end - 1] - messages.sent[begin])
            if compute_quantile(np.sort(apart), NEARLY_ALL) <= min(spread, LOOSE * over):
                bursts.append(LateBurst(begin, end, float(heights[begin])))
                taken[begin:end] = True
    for begin, end in zip(found.begins[high].tolist(), found.ends[high].tolist(), strict=True):
        if not taken[begin:end].any():
            bursts.append(LateBurst(begin, end, float(heights[begin])))
    return sorted(bursts)


def remove_slow_changes(messages: MessageLog) -> MessageLog:
    """Return the messages without the slow changes of their delays: drift, a route, a queue.

    Against the usual delay of the whole recording each message after such a change would be late.
    """
    windows = int((messages.sent[-1] - messages.sent[0]) / SLOW)
    if messages.frame or windows < 2 or len(messages.sent) < FEWEST_STATES * windows:
        return messages
    times, middles = compute_middles(messages.sent, messages.delays, windows)
    slow = np.interp(messages.sent, times, middles - middles[0])
    return messages.move_messages(0.0, -slow)


def remove_late_bursts(traffic: Traffic) -> Traffic:
    """Return the traffic without the messages in late bursts."""
    messages = traffic.arrived
    wanted = np.ones(len(messages.sent), bool)
    bursts = find_late_bursts(messages)
    for burst in bursts:
        wanted[burst.begin : burst.end] = False
    begins, ends = ([burst.begin for burst in bursts], [burst.end - 1 for burst in bursts])
    thawn = remove_freezes(traffic, messages.sent[begins], messages.sent[ends])
    left = messages.select_messages(wanted) if wanted.sum() >= FEWEST_STATES else None
    return replace(thawn, messages=left)
