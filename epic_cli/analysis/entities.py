"""Which entities of a recording can be judged, and what the truth of each is at its ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.notes import Adjusted, Note, NothingJudged, NotJudged, Unjudged
from epic_cli.analysis.sampled_truth import SampledTruth, default_warm_up, sample_truth
from epic_cli.analysis.truth import Origin, Truth, truths_of
from epic_cli.engine.replay.trace import Trace
from epic_cli.engine.strategy import Strategy

if TYPE_CHECKING:
    from epic_cli.analysis.truth import Floats
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.refusals import Refusal
    from epic_cli.engine.replay.pacing import Pacing


@dataclass(frozen=True)
class Entity:
    """An entity that can be judged."""

    name: str
    packets: PacketBlock
    truth: SampledTruth


@dataclass(frozen=True)
class Entities:
    """All that can be judged, one at least.

    ``warm_up`` (seconds) is in force for each. ``refused`` are packets that have no place on the
    clock, ``notes`` say what cannot be judged and what was cut out of the truth.
    """

    judged: tuple[Entity, ...]
    warm_up: float
    origin: Origin
    refused: tuple[Refusal, ...]
    notes: tuple[Note, ...]

    @property
    def rows(self) -> int:
        """How many rows count."""
        return sum(int(one.truth.counted.sum()) for one in self.judged)


def judged_entities(
    packets: Mapping[str, PacketBlock],
    truths: Mapping[str, Truth] | None,
    offset: float,
    pacing: Callable[[], Pacing],
    tick: float,
    warm_up: float | None,
) -> Entities:
    """The entities that can be judged, each with the truth at its ticks.

    See ``compare`` for the parameters. Raises ``NothingJudged``, ``TooManyRows``.
    """
    if truths is None:
        known, missing = truths_of(packets, "rebuilt", offset)
    else:
        known, missing = _given(packets, truths)
    if not known:
        raise NothingJudged(tuple(missing))
    longest = max(known.values(), key=lambda truth: truth.duration)
    wait = default_warm_up(longest) if warm_up is None else warm_up
    notes: list[Note] = [*missing]
    judged: list[Entity] = []
    refused: list[Refusal] = []
    for name, truth in known.items():
        # the ticks, which are the same for all: a strategy that takes and draws nothing has them
        silent = Trace(Strategy, pacing(), packets[name])
        refused += silent.refusals
        times = np.ascontiguousarray(np.asarray(silent)["time"])
        sampled = sample_truth(truth, times, tick, wait)
        if sampled.counted.any():
            judged.append(Entity(name, packets[name], sampled))
            notes += [Adjusted(name, one) for one in truth.notes]
        else:
            missing.append(_nothing_counts(name, times, truth, wait))
            notes.append(missing[-1])
    if not judged:
        raise NothingJudged(tuple(missing))
    return Entities(tuple(judged), wait, judged[0].truth.truth.origin, tuple(refused), tuple(notes))


def _given(
    packets: Mapping[str, PacketBlock], truths: Mapping[str, Truth]
) -> tuple[dict[str, Truth], list[NotJudged]]:
    if len(truths) == len(packets) == 1:
        # only one can be meant, whatever it is called
        return dict(zip(packets, truths.values(), strict=True)), []
    named = tuple(filter(None, truths))
    return (
        {name: truths[name] for name in packets if name in truths},
        [
            NotJudged(name, Unjudged.NOT_IN_TRUTH, known=named)
            for name in packets
            if name not in truths
        ],
    )


def _nothing_counts(name: str, times: Floats, truth: Truth, warm_up: float) -> NotJudged:
    if not len(times):
        return NotJudged(name, Unjudged.NO_ROWS)
    apart = times[-1] < truth.start or times[0] > truth.end
    return NotJudged(
        name,
        Unjudged.NO_OVERLAP if apart else Unjudged.WARM_UP,
        rows=(float(times[0]), float(times[-1])),
        truth=(truth.start, truth.end),
        warm_up=warm_up,
    )
