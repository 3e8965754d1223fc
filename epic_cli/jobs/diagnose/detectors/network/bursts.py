"""Bursts: messages sent one after the other that arrive together. Four causes make bursts.

Batching makes bursts all the time; head-of-line blocking now and then, after a pause of the
arrivals; a receiver that stalls has them on its frames; and behind a late sender each message has
jitter of its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.freezes import remove_freezes
from epic_cli.metrics.arrays import compute_median, compute_quantile, find_edges
from epic_cli.metrics.traffic import FEWEST_STATES, Flags, Floats, MessageLog, Numbers, Traffic

#: Arrivals closer than this many periods, of messages sent a period apart, are one burst.
TOGETHER = 0.1

#: Stamps closer than this many periods do not count as sent one after the other.
SENT_APART = 0.5

#: Fewest messages of a late burst: fewer come together by chance.
SIZE = 4

#: Least extra delay of the first message of a late burst, in periods.
HEIGHT = 2.0

#: Jitter has an exponential tail: heights up to this many times its scale beyond the expected
#: largest are jitter.
BEYOND = 2.5
PIECE = 32

#: Factor for delays in order, in which short ones do not show: messages wait behind others.
HELD = 1.5

#: Least share of messages outside of bursts that shows jitter; if that is below a period, bursts
#: count from ``FEW`` on, else from ``SHARE`` on; at random times it would be ``CHANCE``.
ALONE, FEW, SHARE, CHANCE = 0.25, 0.12, 0.3, 0.1

#: Random orders that are drawn, and the standard errors by which chance is exceeded.
SHUFFLES, ERRORS = 8, 3.0

#: Least share of messages that arrive after the one before if none overtakes another.
IN_ORDER = 0.98

#: Late messages of one burst come within a spread of the delays plus this share of their sending
#: time.
LOOSE = 0.35

#: Share of a burst's messages to which that applies: the last ones may be on time.
NEARLY_ALL = 0.8

#: Messages that left together come this share of the usual difference apart, or more than this (s).
OWN_WAYS, COARSE = 0.5, 2e-4

#: Fewest late bursts.
LEAST = 2

#: Bursts closer than this many of the receiver's frames are made by the frames.
FRAMES = 2.5


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


class LateBurst(NamedTuple):
    """Messages ``begin`` to before ``end``, held until one moment, the first for ``height`` s."""

    begin: int
    end: int
    height: float


def find_late_bursts(messages: MessageLog) -> list[LateBurst]:
    """Return the long bursts whose first message was delayed for long."""
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


def is_loose(messages: MessageLog, bursts: list[LateBurst]) -> bool:
    """Return True if a burst's messages arrive as far apart as jitter alone would put them.

    Jitter is the usual difference of neighboring delays.
    """
    usual = compute_median(np.abs(np.diff(messages.delays)))
    within = [np.diff(messages.arrivals[burst.begin : burst.end]) for burst in bursts]
    return compute_median(np.abs(np.concatenate(within))) > max(OWN_WAYS * usual, COARSE)


def _detect_late_bursts(cause: str, traffic: Traffic) -> list[Finding]:
    """Return the late bursts as a finding of this cause; none if another cause explains them."""
    messages = traffic.arrived
    bursts = find_late_bursts(messages)
    if len(bursts) < LEAST:
        return []
    if messages.frame:
        kind = "frame-stall"
    else:
        kind = "late-sender" if is_loose(messages, bursts) else "head-of-line"
    if kind != cause:
        return []
    heights, held = (
        [burst.height for burst in bursts],
        sum(burst.end - burst.begin for burst in bursts),
    )
    worst = bursts[int(np.argmax(heights))]
    lost = any((stream.lost > 0).any() for stream in traffic.numbered)
    values: dict[str, float | str] = {
        "times": float(len(bursts)),
        "height": compute_median(np.array(heights)),
        "highest": max(heights),
        "size": held / len(bursts),
        "frames": find_bursts(messages).frames,
        "cure": (_LOST if lost else _ORDERED) + _UNORDERED,
    }
    share = held / len(messages.sent)
    first, most = (float(messages.sent[burst.begin]) for burst in (bursts[0], worst))
    return [Finding(cause, share, float(len(bursts)), float(LEAST), values, first, most)]


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


_ORDERED = (
    "Over TCP and WebSocket they wait for a lost one: send states over an unreliable channel (UDP,"
    " WebRTC with ordered: false and maxRetransmits: 0, QUIC datagrams), where a newer state makes"
    " the lost one useless. Over UDP the"
)
_LOST = "Others are lost: it is no TCP, and no packet waits for a lost one. The"
_UNORDERED = (
    " sender's tick hung and caught up, the receiver stalled, or Wi-Fi: arrivals do not tell these"
    " apart, a log of when the sender sent does."
)


def _mark_close_behind(messages: MessageLog, arrivals: Floats) -> Flags:
    """Mark the messages that arrived right after the message sent before (n - 1)."""
    apart = np.abs(np.diff(arrivals))
    period = messages.period
    return np.asarray((apart <= TOGETHER * period) & (messages.intervals >= SENT_APART * period))


def detect_batches(traffic: Traffic) -> list[Finding]:
    """Measure the share of messages that arrived right after the previous one."""
    messages = traffic.arrived
    found = find_bursts(messages)
    limit = max(found.limit, SHARE) if find_late_bursts(messages) else found.limit
    if found.share < limit:
        return []
    sizes, begins = (found.ends - found.begins).astype(float), found.begins
    every = compute_median(np.diff(messages.arrivals[begins])) if len(begins) > 1 else 0.0
    if every < FRAMES * messages.frame:
        return []
    return [
        Finding(
            "bursts",
            found.share,
            found.share,
            limit,
            {
                "share": found.share,
                "size": compute_median(sizes),
                "every": every,
                "period": messages.period,
                "frames": found.frames,
            },
            float(messages.sent[begins[0]]),
            float(messages.sent[begins[int(sizes.argmax())]]),
        )
    ]


BATCHING = Detector(
    "bursts",
    "packets arrive in bursts",
    "Packets are sent every {period:s}, but {share:share} of them arrive right behind another:"
    " bursts of {size:number}, one every {every:s}.",
    "A delay buffer must last from burst to burst: it needs that time on top of the network's"
    " jitter; predictions go without news for as long.",
    "Send at once (TCP_NODELAY, no batching of messages, flush each tick), or read the socket every"
    " frame; on Wi-Fi, check power saving.",
    "share of messages that arrive within a tenth of a period of the one sent at least half a"
    " period before",
    "it is 30 % more than jitter and the receiver's frames explain (10 % arrive so at random"
    " times); or 12 %, and jitter is far below a period",
    "J. Nagle, RFC 896, 1984; coverage of a Poisson process: 1 - exp(-0.1)",
    detect_batches,
    needs=(ARRIVALS,),
    explains=("head-of-line", "frame-stall", "queue", "reordering", "route-change"),
    rank=30,
)

STALLING = Detector(
    "frame-stall",
    "the receiver's frames stall",
    "Packets are read on frames of {frames:number} Hz; {times:time} none is read for up to"
    " {highest:s}, and then all that waited at once.",
    "The game itself stood still, a lost packet was sent again, or the sender was late: read once a"
    " frame, they look the same. Strategies that measure jitter from arrival times grow their"
    " buffers for nothing.",
    "Look for what blocks the frame (loading, garbage collection, shader compilation), and take"
    " arrival times in the network thread, not in the frame.",
    f"bursts of {SIZE} and more messages, {HEIGHT:g} periods late, with arrivals on the frames of a"
    " usual frame rate",
    f"there are {LEAST} such bursts, and 98 % of the arrivals are within 0.6 ms of a frame",
    'circular mean of phases (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    lambda traffic: _detect_late_bursts("frame-stall", traffic),
    needs=(ARRIVALS,),
    explains=("queue",),
    mended=remove_late_bursts,
    rank=41,
)

WAITING = Detector(
    "head-of-line",
    "packets are held up, and come all at once",
    "{times:time} the packets stop, and then arrive all at once, up to {highest:s} late, in"
    " the order in which they were sent.",
    "Everything stands still until they come, and then jumps; only a delay above {height:s} hides"
    " it.",
    "{cure}",
    f"bursts of {SIZE} and more messages within a tenth of a period of each other, the first of"
    f" which was under way {HEIGHT:g} periods longer than usual",
    f"there are {LEAST} such bursts, their messages come closer together than jitter leaves any"
    " two, and arrivals are not on frames of the receiver",
    'M. Scharf, S. Kiesel, "Head-of-line Blocking in TCP and SCTP", GLOBECOM 2006',
    lambda traffic: _detect_late_bursts("head-of-line", traffic),
    needs=(ARRIVALS,),
    explains=("queue", "reordering", "frozen", "teleport", "velocity", "stamps"),
    mended=remove_late_bursts,
    rank=40,
)

LATE = Detector(
    "late-sender",
    "the sender is late, and catches up at once",
    "{times:time} nothing is sent for up to {highest:s}, and then {size:number} packets at once,"
    " with the stamps of the ticks that they are late for.",
    "Everything stands still until they come, and then jumps; only a delay above {height:s} hides"
    " it.",
    "Look for what blocks the sender's tick (saving, garbage collection), and spread it over"
    " several ticks; of the missed ticks, send only the newest state.",
    f"bursts of {SIZE} and more messages, the first of which was under way {HEIGHT:g} periods"
    " longer than usual, and whose arrivals are as far apart as jitter makes those of any two: they"
    " waited before the network",
    f"there are {LEAST} such bursts, with arrivals {OWN_WAYS:g} times the usual difference of two"
    " delays apart",
    "independent delays of messages that leave together",
    lambda traffic: _detect_late_bursts("late-sender", traffic),
    needs=(ARRIVALS,),
    explains=("queue", "reordering", "bursts", "frozen", "teleport", "velocity", "stamps"),
    mended=remove_late_bursts,
    rank=39,
)
