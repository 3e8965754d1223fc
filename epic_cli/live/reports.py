"""Reports of the packets received while listening, in a few lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.receiving import QUEUE
from epic_cli.metrics.digits import choose_verb
from epic_cli.recordings.datagrams.counts import Counts, count_words
from epic_cli.show.link import write_quantiles

if TYPE_CHECKING:
    from epic_cli.live.model import RunningGame, TrafficFlow


#: The most senders' clocks that are listed. A packet that arrives this many seconds early shows
#: that the first packet was late.
_MOST_DRIFTS, _EARLY = 5, 0.1


def describe_clock_reset(counts: Counts) -> str:
    """Return a line on a late start, restart or pause of the game's clock; empty without one."""
    count, step = counts.clock_resets, counts.clock_step
    if not count:
        early = -counts.delays.delay(0) if counts.packets else 0.0
        if early < _EARLY:
            return ""
        return (
            f"the first packet, which set the clock, was {1000 * early:,.0f} ms late: `epic`, which"
            " uses that clock, draws wrong; listen again to set a better one"
        )
    times = "once" if count == 1 else f"{count:,} times, the last time"
    where = f"{abs(step):.1f} s {'back' if step > 0 else 'ahead'}"
    return f"the game's clock was set {times} {where}; times continue from there"


def describe_losses(counts: Counts, dropped: int, queue: int = QUEUE) -> str:
    """Return lines about refused and dropped datagrams; empty if there are none.

    ``queue`` is the size of the kernel's queue in bytes.
    """
    words = (describe_clock_reset(counts), count_words(counts.refused, counts.example))
    lines = "".join(f"{word}\n" for word in words if word)
    if dropped:
        lines += f"{dropped:,} datagrams dropped by the full queue of the socket"
        if queue < QUEUE:
            lines += f", which is granted {queue:,} of the {QUEUE:,} bytes requested"
        lines += "\n"
    return lines


def summarize_listening(counts: Counts, entities: int, dropped: int, queue: int = QUEUE) -> str:
    """Return lines with the counts, and the quantiles of the delay above the shortest."""
    lines = (
        f"{counts.packets:,} packets in {counts.datagrams:,} datagrams,"
        f" {entities:,} {choose_verb(entities, 'entity', 'entities')},"
        f" {counts.late:,} packets older than the one before\n"
    )
    if counts.packets:
        delay, least = counts.delays.delay, counts.delays.delay(0)
        above = write_quantiles(lambda share: delay(share) - least, (0.5, 0.95, 0.99, 1.0))
        lines += f"delay above the shortest in ms: {above}\n"
    return lines + _describe_drifts(counts.drifts) + describe_losses(counts, dropped, queue)


def _describe_drifts(drifts: Sequence[float | None]) -> str:
    """Return a line about senders' clocks that drift against the receiver's clock."""
    words = [
        f"{'slower' if drift > 0 else 'faster'} by {abs(drift) * 1e6:,.0f} ppm"
        for drift in drifts
        if drift
    ]
    if len(words) > _MOST_DRIFTS:
        words[_MOST_DRIFTS:] = ["..."]
    if not words:
        return ""
    clocks = "the sender's clock runs" if len(drifts) == 1 else "clocks of senders run"
    return f"{clocks} {', '.join(words)} than the receiver's\n"


def format_milliseconds(seconds: float, sign: str = "") -> str:
    """Format a time in milliseconds with three digits; NaN as a dash."""
    if math.isnan(seconds):
        return "-"
    value = 1000 * seconds
    return f"{value:{sign},.0f} ms" if abs(value) >= 100 else f"{value:{sign}.3g} ms"


def _format_share(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _describe_traffic(flow: TrafficFlow, entities: int, dropped: int) -> list[str]:
    """Return parts of a line: the packets and datagrams per second, and the link's measurements."""
    delays = (format_milliseconds(delay, "+") for delay in (flow.delay, flow.delay95))
    parts = [
        f"{flow.packets:,.0f} packets/s",
        f"{flow.datagrams:,.0f} datagrams/s",
        f"loss {_format_share(flow.loss)}",
        f"jitter {format_milliseconds(flow.jitter)}",
        "delay {}, 95% {}".format(*delays),
        f"{entities:,} {choose_verb(entities, 'entity', 'entities')}",
    ]
    return [*parts, f"{dropped:,} DROPPED by the socket"] if dropped else parts


def describe_traffic(game: RunningGame) -> list[str]:
    """Return parts of a line: a running game's traffic, its recordings, packets not drawn."""
    parts = _describe_traffic(game.traffic.flow, len(game.live.newest), game.receiving.dropped)
    for recording in game.recordings:
        name = cut(printable(str(recording.file.path)), 30)
        parts.append(f"{recording.file.recorded:,} recorded in {name}")
        if recording.left_out:
            parts.append(recording.left_out.partition(":")[0])
    if missed := game.drawing.missed:
        parts.append(f"{missed:,} NOT DRAWN: too many for this machine")
    return parts


def describe_faults(game: RunningGame) -> str:
    """Describe faults in the received packets; empty if there are none."""
    counts = game.drawing.counts
    words = describe_clock_reset(counts), count_words(counts.refused, counts.example)
    return "; ".join(filter(None, words))
