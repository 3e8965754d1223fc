"""The delay that packets need, and what each delay buffer's setting would have to be: no search.

A buffer that draws at stamp s has somewhere to go to as long as a later state is there. From the
state i - 1 on that is state i, so the delay that it needs is arrival(i) - sent(i - 1); with k lost
in between, arrival(i) - sent(i - 1 - k). Quantiles of these are the delays with which a share of
the packets is there in time (the jitter buffer's rule: Ramjee, Kurose, Towsley and Schulzrinne
1994, "Adaptive playout mechanisms for packetized audio applications in wide-area networks").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.parameter_base import SettingError
from epic_cli.engine.strategies import declaration
from epic_cli.jobs.tune.delays import BUFFERS, Line
from epic_cli.metrics.traffic import SHARES, traffic_of, waits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.parameter_base import Value
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.tune.delays import Buffer
    from epic_cli.metrics.arrays import Floats
    from epic_cli.metrics.traffic import Messages

#: geckos' clock is replaced when it is off by more (s).
REPLACED = 0.05

#: How many packets in a row may be lost.
LOST = (0, 1, 2)


class Cure(NamedTuple):
    """The ``settings`` with which a share of the packets is in time; None: none are allowed.

    ``latency`` (s) is what they cost: how far behind the fastest packet's state it draws then.
    """

    settings: Mapping[str, Value] | None
    latency: float


class BufferDelay(NamedTuple):
    """A delay buffer as it is set: its ``latency`` (s), and the share of packets it ``covers``.

    ``cures`` are by how many are lost (``LOST``), then by share (``SHARES``).
    """

    label: str
    strategy: str
    setting: str
    now: Value
    latency: float
    covers: float
    cures: tuple[tuple[Cure, ...], ...]


class DelaysNeeded(NamedTuple):
    """What the recordings' ``messages`` need: delays (s) behind the fastest one, as ``cures``.

    ``period`` (s) is the usual time between two of them.
    """

    messages: int
    period: float
    needed: tuple[tuple[float, ...], ...]
    buffers: tuple[BufferDelay, ...]


def delays_needed(
    recordings: Iterable[Mapping[str, PacketBlock]], candidates: Sequence[StrategySpec]
) -> DelaysNeeded | None:
    """The delays that the packets of all recordings need, and those of the buffers among these.

    ``recordings`` are packets by entity. None: none has enough packets with arrival times.
    """
    known = [one for one in map(_messages, recordings) if one is not None]
    if not known:
        return None
    least = [float(one.delays.min()) for one in known]

    def middle(of: Callable[[Messages, float], float]) -> float:
        """Of several recordings the middle one; their clocks may be apart by different times."""
        return float(np.median([of(one, low) for one, low in zip(known, least, strict=True)]))

    apart = float(np.median(least))
    line = Line(
        middle(lambda one, _: one.period),
        middle(lambda one, _: float(np.diff(np.sort(one.arrivals)).std())),
        apart,
        apart + middle(lambda one, low: float(np.median(one.delays)) - low),
        apart + middle(lambda one, low: _kept(one) - low),
        apart + middle(lambda one, low: float(np.quantile(waits(one), 2 / 3)) - low),
    )
    stamps = [
        np.concatenate([waits(one, lost) - low for one, low in zip(known, least, strict=True)])
        for lost in LOST
    ]
    arrivals = [np.concatenate([_gaps(one, lost) for one in known]) for lost in LOST]
    return DelaysNeeded(
        sum(len(one.sent) for one in known),
        line.period,
        tuple(_quantiles(one) for one in stamps),
        tuple(
            _of_buffer(one, BUFFERS[one.name], line, stamps, arrivals)
            for one in candidates
            if one.name in BUFFERS
        ),
    )


def _messages(packets: Mapping[str, PacketBlock]) -> Messages | None:
    return traffic_of(packets).messages


def _kept(messages: Messages) -> float:
    """The median of the delay that a clock goes by which replaces it when it is 50 ms off."""
    offset = math.inf
    kept = []
    for delay in messages.delays[np.argsort(messages.arrivals, kind="stable")].tolist():
        if abs(delay - offset) > REPLACED:
            offset = delay
        kept.append(offset)
    return float(np.median(kept))


def _gaps(messages: Messages, lost: int) -> Floats:
    """From each arrival to the next, and with so many of them lost."""
    arrivals = np.sort(messages.arrivals)
    return np.asarray(arrivals[1 + lost :] - arrivals[: -1 - lost])


def _quantiles(values: Floats) -> tuple[float, ...]:
    return tuple(float(one) for one in np.quantile(values, SHARES))


def _of_buffer(
    candidate: StrategySpec,
    buffer: Buffer,
    line: Line,
    stamps: Sequence[Floats],
    arrivals: Sequence[Floats],
) -> BufferDelay:
    settings = declaration(candidate.name).values(candidate.settings)
    waited = arrivals if buffer.by_arrival else stamps
    # what these begin at: behind our clock, and behind the fastest packet's state
    base, behind = (0.0, line.usual - line.least) if buffer.by_arrival else (line.least, 0.0)
    delay = buffer.delay(settings, line) - base
    cures = tuple(
        tuple(
            Cure(_allowed(candidate, buffer.settings(one + base, settings, line)), one + behind)
            for one in _quantiles(each)
        )
        for each in waited
    )
    return BufferDelay(
        candidate.label,
        candidate.name,
        buffer.setting,
        settings[buffer.setting],
        delay + behind,
        float(np.mean(waited[0] <= delay + 1e-9)),
        cures,
    )


def _allowed(candidate: StrategySpec, settings: Mapping[str, Value]) -> dict[str, Value] | None:
    """The settings as they are written; None: they are out of range."""
    rounded = {
        name: value if isinstance(value, str) else _up(value) for name, value in settings.items()
    }
    try:
        declaration(candidate.name).values({**candidate.settings, **rounded})
    except SettingError:
        return None
    return rounded


def _up(value: float) -> float:
    """Two digits, and never less: half a millisecond too little is a packet too late."""
    if not value:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")
