"""Find bursts: messages sent one after the other that arrive together."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.metrics.arrays import compute_median, find_edges
from epic_cli.metrics.traffic import Flags, Floats, MessageLog, Numbers

#: Arrivals closer than this many periods, of messages sent a period apart, are one burst.
TOGETHER = 0.1

#: Stamps closer than this many periods do not count as sent one after the other.
SENT_APART = 0.5

#: Jitter has an exponential tail: heights up to this many times its scale beyond the expected
#: largest are jitter. The scale is measured in pieces of this many messages.
BEYOND, PIECE = 2.5, 32

#: Factor for delays in order, in which short ones do not show: messages wait behind others.
HELD = 1.5

#: Least share of messages outside of bursts that shows jitter; if that is below a period, bursts
#: count from ``FEW`` on, else from ``SHARE`` on; at random times it would be ``CHANCE``.
ALONE, FEW, SHARE, CHANCE = 0.25, 0.12, 0.3, 0.1

#: Random orders that are drawn, and the standard errors by which chance is exceeded.
SHUFFLES, ERRORS = 8, 3.0

#: Least share of messages that arrive after the one before if none overtakes another.
IN_ORDER = 0.98


class Bursts(NamedTuple):
    """The bursts of a recording, in sending order.

    Messages ``begins`` to before ``ends`` are one burst of at least two; ``heights`` (s) are the
    delays of their first messages above the usual delay; ``share`` is the share of messages that
    came right behind another, which jitter and frames explain up to ``limit``; heights of jitter
    are below ``unusual`` (s). ``frames`` is the rate of the receiver's frames in hertz, 0: it
    always reads.
    """

    begins: Numbers
    ends: Numbers
    heights: Floats
    share: float
    frames: float
    limit: float
    unusual: float


@lru_cache(maxsize=1)
def find_bursts(messages: MessageLog) -> Bursts:
    """Return the bursts among these messages."""
    behind = _mark_close_behind(messages, messages.arrivals)
    begins, ends = find_edges(behind)
    heights = messages.delays[begins] - messages.usual_delay
    free = messages.unread[np.append(True, ~behind)]  # those behind others may have waited
    ordered = bool((np.diff(messages.arrivals) > -0.05 * messages.period).mean() > IN_ORDER)
    random = np.random.default_rng(1)
    chance = float(
        _mark_close_behind(messages, messages.shuffle_arrivals(random, free, ordered)).mean()
    )
    limit = SHARE + max(chance * (HELD if ordered else 1.0) - CHANCE, 0.0)
    pieces = np.array_split(free, -(-len(free) // PIECE))  # but for queues, which come and go
    low, high = np.quantile(
        np.concatenate([piece - compute_median(piece) for piece in pieces]), (0.5, 0.9)
    )
    # delays with an exponential tail come so far beyond the median once in some recordings
    unusual = float(high - low) / np.log(5) * (np.log(len(free)) + BEYOND)
    frames, share = 1 / messages.frame if messages.frame else 0.0, float(behind.mean())
    alone = messages.unread[~(np.append(False, behind) | np.append(behind, False))]
    if len(alone) > ALONE * len(messages.sent):
        low, high = np.quantile(alone, (0.05, 0.95))
        if high - low < messages.period:  # jitter alone makes no bursts, frames might
            draws = [messages.shuffle_arrivals(random, alone) for _ in range(SHUFFLES)]
            chance = float(np.mean([_mark_close_behind(messages, drawn).mean() for drawn in draws]))
            few = FEW + chance
            limit = min(limit, few + ERRORS * float(np.sqrt(few * (1 - few) / len(behind))))
    return Bursts(begins, ends + 1, heights, share, frames, limit, float(unusual))


def _mark_close_behind(messages: MessageLog, arrivals: Floats) -> Flags:
    """Mark the messages that arrived right after the message sent before (n - 1)."""
    apart = np.abs(np.diff(arrivals))
    period = messages.period
    return np.asarray((apart <= TOGETHER * period) & (messages.intervals >= SENT_APART * period))
