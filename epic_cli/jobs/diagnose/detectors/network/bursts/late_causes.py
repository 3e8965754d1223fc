"""Causes of late bursts: a stalled receiver, a lost packet that others wait for, a late sender."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import ARRIVALS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.bursts.late_bursts import (
    HEIGHT,
    SIZE,
    LateBurst,
    find_late_bursts,
    remove_late_bursts,
)
from epic_cli.jobs.diagnose.detectors.network.bursts.search import find_bursts
from epic_cli.metrics.arrays import compute_median, compute_quantile
from epic_cli.metrics.traffic import MessageLog, Traffic

#: Messages that left together come this share of the usual difference apart, or more than this (s),
#: and unevenly: the middle half of their distances is this much wide, in median ones. Even
#: distances are the pace of a line behind which they queued.
OWN_WAYS, COARSE, UNEVEN = 0.5, 2e-4, 0.6

#: Arrivals this far (s, and in frames) from the frames, or exactly (s), for this share of them, are
#: on them; delays vary by this share of a frame where packets wait for it.
ON_FRAME, NEAR, EXACT, MANY, VARIED = 1e-3, 0.06, 1e-4, 0.45, 0.25

#: A frame that lasts for this share of a burst's delay has held it up.
STALLED = 0.5

#: Fewest late bursts.
LEAST = 2


def is_loose(messages: MessageLog, bursts: list[LateBurst]) -> bool:
    """Return True if a burst's messages arrive as far apart as jitter alone would put them.

    Jitter is the usual difference of neighboring delays.
    """
    usual = compute_median(np.abs(np.diff(messages.delays)))
    within = np.abs(
        np.concatenate([np.diff(messages.arrivals[burst.begin : burst.end]) for burst in bursts])
    )
    low, middle, high = np.quantile(within, (0.25, 0.5, 0.75)).tolist()
    return bool(middle > max(OWN_WAYS * usual, COARSE) and high - low > UNEVEN * middle)


def is_read_in_frames(messages: MessageLog) -> bool:
    """Return True if arrivals are on a receiver's frames, exactly or where delays vary.

    An even sender's packets come nearly evenly without any frames.
    """
    if not messages.frame:
        return False
    gaps = np.diff(np.sort(messages.arrivals))
    varied = messages.find_delay(0.75) - messages.find_delay(0.05) > VARIED * messages.frame
    for frame in (messages.frame, messages.frame / 2):  # each second frame may have none
        off = np.sort(np.abs(gaps - np.round(gaps / frame) * frame))
        if compute_quantile(off, MANY) < (min(ON_FRAME, NEAR * frame) if varied else EXACT):
            return True
    return False


def do_frames_stall(traffic: Traffic, bursts: list[LateBurst]) -> bool | None:
    """Return True if the game's frames stalled with most bursts, and False if they went on.

    None if it is not known what the game drew then.
    """
    if traffic.drawn is None:
        return None
    times = traffic.drawn.path.times
    stalled = []
    for burst in bursts:
        came = float(traffic.arrived.arrivals[burst.begin])
        begin, end = np.searchsorted(times, (came - burst.height, came + traffic.arrived.frame))
        if begin > 0 and end < len(times):
            longest = float(np.diff(times[begin - 1 : end + 1]).max())
            stalled.append(longest > STALLED * burst.height)
    return sum(stalled) > len(stalled) / 2 if stalled else None


def _detect_late_bursts(cause: str, traffic: Traffic) -> list[Finding]:
    """Return the late bursts as a finding of this cause; none if another cause explains them."""
    messages = traffic.arrived
    bursts = find_late_bursts(messages)
    if len(bursts) < LEAST:
        return []
    stall, in_frames = do_frames_stall(traffic, bursts), is_read_in_frames(messages)
    if stall or (in_frames and stall is None):
        kind = "frame-stall"
    elif in_frames:
        kind = "head-of-line"
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
        "how": _READ.format(find_bursts(messages).frames) if in_frames else _STALLED,
        "cure": (_LOST if lost else _ORDERED) + (_UNORDERED if stall is None else _ON_THE_WAY),
        "unless": "" if stall else _UNLESS,
        "order": _IN_ORDER if _is_in_order(messages, bursts) else "",
    }
    share = held / len(messages.sent)
    first, most = (float(messages.sent[burst.begin]) for burst in (bursts[0], worst))
    return [Finding(cause, share, float(len(bursts)), float(LEAST), values, first, most)]


def _is_in_order(messages: MessageLog, bursts: list[LateBurst]) -> bool:
    """Return True if arrivals tell that bursts came in the order of their stamps.

    Those of packets that were read in one frame do not.
    """
    return all(
        (np.diff(series[burst.begin : burst.end]) > 0).all()
        for burst in bursts
        for series in (messages.arrivals, messages.sent)
    )


_ORDERED = (
    "Over TCP and WebSocket they wait for a lost one, for each other (TCP_NODELAY ends that of"
    " Nagle's algorithm) or for a sender that hung: send states over an unreliable channel (UDP,"
    " WebRTC with ordered: false and maxRetransmits: 0, QUIC datagrams), where a newer state makes"
    " the lost one useless. Over UDP the"
)

_LOST = "Others are lost: it is no TCP, and no packet waits for a lost one. The"

_UNORDERED = (
    " sender's tick hung and caught up, the receiver stalled, or Wi-Fi: arrivals do not tell these"
    " apart, a log of when the sender sent does."
)

_ON_THE_WAY = (
    " sender's tick hung and caught up, or Wi-Fi: arrivals do not tell these apart, a log of when"
    " the sender sent does. The receiver's frames went on."
)

_READ = "Packets come on a grid of {:.3g} Hz, as where they are read once a frame"
_STALLED = "Packets come with the frames"

_IN_ORDER = ", in the order in which they were sent"

_UNLESS = (
    " Frames that went on meanwhile would rule that out (--drawn FILE): the packets then waited on"
    " the way, as over TCP for a lost one, or the sender was late."
)

STALLING = Detector(
    "frame-stall",
    "packets wait, and are read in one frame",
    "{how}; {times:time} none comes for up to {highest:s}, and then all that waited at once.",
    "Strategies that measure jitter from arrival times grow their buffers: for nothing, if it is"
    " the game itself that stands still.",
    "Look for what blocks the frame (loading, garbage collection, shader compilation), and take"
    " arrival times in the network thread, not in the frame.{unless}",
    f"bursts of {SIZE} and more messages, {HEIGHT:g} periods late, with arrivals on the frames of a"
    " usual frame rate",
    f"there are {LEAST} such bursts, and half of the arrivals are within 1 ms of a frame, which"
    " delays do not follow; of frames that are given, one lasted for half of the delay",
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
    "{times:time} the packets stop, and then arrive all at once, up to {highest:s} late{order}.",
    "Everything stands still until they come, and then jumps; only a delay above {height:s} hides"
    " it.",
    "{cure}",
    f"bursts of {SIZE} and more messages within a tenth of a period of each other, the first of"
    f" which was under way {HEIGHT:g} periods longer than usual",
    f"there are {LEAST} such bursts, their messages come closer together than jitter leaves any"
    " two, or evenly, and arrivals are not on frames of the receiver, or these went on",
    'M. Scharf, S. Kiesel, "Head-of-line Blocking in TCP and SCTP", GLOBECOM 2006',
    lambda traffic: _detect_late_bursts("head-of-line", traffic),
    needs=(ARRIVALS,),
    explains=("queue", "reordering", "frozen", "teleport", "velocity", "stamps"),
    mended=remove_late_bursts,
    rank=40,
)

LATE = Detector(
    "late-sender",
    "packets wait at or near the sender, and then several come at once",
    "{times:time} nothing comes for up to {highest:s}, and then {size:number} packets at once, each"
    " with jitter of its own: they waited at the sender, or on the first part of the way.",
    "Everything stands still until they come, and then jumps; only a delay above {height:s} hides"
    " it.",
    "A log of when the sender sent tells whether its program waits, or its Wi-Fi or a handover."
    " Where the program does, look for what blocks its tick (saving, garbage collection), and"
    " spread it over several ticks; of the missed ticks, send only the newest state.",
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
