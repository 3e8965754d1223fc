"""What was received while listening, in a few lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.receiving import QUEUE
from epic_cli.metrics.digits import verb
from epic_cli.recordings.datagrams.counts import Counts, count_words
from epic_cli.show.link import quantiles

if TYPE_CHECKING:
    from epic_cli.live.model import RunningGame, TrafficFlow


#: Senders' clocks that are listed. From this many seconds before its time on a packet shows that
#: the first one was late.
_MOST_DRIFTS, _EARLY = 5, 0.1


def clock_reset(counts: Counts) -> str:
    """Whether the clock began wrong, or a game was started again or stood still; nothing: no."""
    count, step = counts.clock_resets, counts.clock_step
    if not count:
        early = -counts.delays.delay(0) if counts.packets else 0.0
        if early < _EARLY:
            return ""
        return (
            f"the first packet, which set the clock, was {1000 * early:,.0f} ms later than another:"
            " `epic`, which draws by that clock, runs off; listen again for a better one"
        )
    times = "once" if count == 1 else f"{count:,} times, the last time"
    where = f"{abs(step):.1f} s {'back' if step > 0 else 'ahead'}"
    return f"the game's clock was set {times} {where}: its times go on from there"


def losses(counts: Counts, dropped: int, queue: int = QUEUE) -> str:
    """What was refused, and what the socket had no room for: lines, or nothing.

    ``queue`` is how many bytes of its datagrams the kernel keeps at most.
    """
    words = (clock_reset(counts), count_words(counts.refused, counts.example))
    lines = "".join(f"{word}\n" for word in words if word)
    if dropped:
        lines += f"{dropped:,} datagrams dropped by the full queue of the socket"
        if queue < QUEUE:
            lines += f", which is granted {queue:,} of the {QUEUE:,} bytes requested"
        lines += "\n"
    return lines


def summary(counts: Counts, entities: int, dropped: int, queue: int = QUEUE) -> str:
    """Counts, and how much longer than the shortest packets were on their way."""
    lines = (
        f"{counts.packets:,} packets in {counts.datagrams:,} datagrams,"
        f" {entities:,} {verb(entities, 'entity', 'entities')},"
        f" {counts.late:,} packets older than the one before\n"
    )
    if counts.packets:
        delay, least = counts.delays.delay, counts.delays.delay(0)
        above = quantiles(lambda share: delay(share) - least, (0.5, 0.95, 0.99, 1.0))
        lines += f"delay above the shortest in ms: {above}\n"
    return lines + _drifts(counts.drifts) + losses(counts, dropped, queue)


def _drifts(drifts: Sequence[float | None]) -> str:
    """How fast those senders' clocks run that are not as fast as the receiver's."""
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


def milliseconds(seconds: float, sign: str = "") -> str:
    """A time in three digits; NaN: a dash."""
    if math.isnan(seconds):
        return "-"
    value = 1000 * seconds
    return f"{value:{sign},.0f} ms" if abs(value) >= 100 else f"{value:{sign}.3g} ms"


def _share(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _traffic_words(flow: TrafficFlow, entities: int, dropped: int) -> list[str]:
    """What comes in: a second's packets and datagrams, and the link as it shows."""
    parts = [
        f"{flow.packets:,.0f} packets/s",
        f"{flow.datagrams:,.0f} datagrams/s",
        f"loss {_share(flow.loss)}",
        f"jitter {milliseconds(flow.jitter)}",
        f"delay {milliseconds(flow.delay, '+')}, 95% {milliseconds(flow.delay95, '+')}",
        f"{entities:,} {'entity' if entities == 1 else 'entities'}",
    ]
    return [*parts, f"{dropped:,} DROPPED by the socket"] if dropped else parts


def game_traffic(game: RunningGame) -> list[str]:
    """What comes in of a running game, what is recorded of it, and what could not be drawn."""
    parts = _traffic_words(game.traffic.flow, len(game.live.newest), game.receiving.dropped)
    for recording in game.recordings:
        name = cut(printable(str(recording.file.path)), 30)
        parts.append(f"{recording.file.recorded:,} recorded in {name}")
        if recording.left_out:
            parts.append(recording.left_out.partition(":")[0])
    if missed := game.drawing.missed:
        parts.append(f"{missed:,} NOT DRAWN: too many for this machine")
    return parts


def game_messages(game: RunningGame) -> str:
    """What is wrong with what comes in; nothing: all is well."""
    counts = game.drawing.counts
    words = clock_reset(counts), count_words(counts.refused, counts.example)
    return "; ".join(filter(None, words))
