"""Which strategy draws a recording best, asked from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.candidates import candidates
from epic_cli.analysis.compare import Comparison
from epic_cli.analysis.compare import compare as run
from epic_cli.analysis.notes import NotEnoughToSay
from epic_cli.analysis.truth import truths_of
from epic_cli.analysis.weights import make_weights
from epic_cli.api.reading import Path
from epic_cli.api.replaying import blocks_of, make_maker, make_timing, packets_of
from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay.trace import separate
from epic_cli.engine.strategy import Strategy, is_native

if TYPE_CHECKING:
    from fractions import Fraction

    from epic_cli.engine.contract import Packet
    from epic_cli.playback import ClockName, PacingName

#: A strategy that takes part: as ``epic compare`` names it, an object, a class, or its maker.
Wanted = str | SmoothingStrategy | Callable[[], SmoothingStrategy]

_AT_ONCE = 4096


class _Candidate(NamedTuple):
    label: str
    make: Callable[[], SmoothingStrategy]


def compare(
    packets: Path | Iterable[Packet],
    strategies: Wanted | Iterable[Wanted] | Mapping[str, Wanted] = (),
    *,
    truth: Path | Iterable[Packet] | None = None,
    truth_offset: float = 0.0,
    tick: str | float | Fraction = "1/60",
    clock: ClockName | None = "exact",
    pacing: PacingName | None = None,
    latency: float | None = None,
    weights: Mapping[str, float] | None = None,
    warm_up: float | None = None,
    threads: int | None = None,
) -> Comparison:
    """Runs strategies over the same packets and measures what each draws against the truth.

    ``packets`` and ``truth`` are what ``replay`` takes: packets, or the path of a recording.
    Without ``truth`` it is rebuilt from the packets, with hindsight; ``truth_offset`` (seconds:
    the receiver's clock less the sender's) is added to its times. ``strategies``, all that there
    are unless given, are names, with settings as ``"epic+calc_ahead=0.3"``, built-in strategies as
    ``strategy("epic", calc_ahead=0.3)``, classes, or functions that make strategies; a mapping
    gives them labels. ``weights`` of ``accuracy``, ``smoothness``, ``latency`` and ``recovery`` (1
    each), ``overshoot`` and ``backward`` (0 each) go into the score. There is a row for each
    picture of a usual screen unless another ``tick`` is given. The first ``warm_up`` seconds of
    each unbroken movement do not count. The other arguments are those of ``replay``; ``threads``
    is the number of cores unless given.

    Returns a frozen ``Comparison``. Its ``results`` are in the order of the strategies; each has
    its ``label`` and the metrics by name in ``values``: ``result.value("error")`` is the RMS
    distance from the truth in the recording's length unit, ``"lag"`` in seconds, ``"score"`` from 0
    to 100 (NaN: not enough to say). ``by_entity`` has the same for each entity.

    Raises what ``replay`` does for wrong arguments and for what is no recording, and ``ValueError``
    where there is not enough to say anything, or more rows than fit into memory. A strategy whose
    own code fails has a note that says so and no values; ``notes`` of others say what is to be
    read with care, and ``ranked`` whether a result can be called better or worse than another.
    """
    timing = make_timing(tick, clock, pacing, latency)
    taking_part = _taking_part(strategies)
    weighed = make_weights(weights or {})
    recording = _by_entity(packets_of(packets))
    truths = None
    if truth is not None:
        truths, _ = truths_of(_by_entity(packets_of(truth)), "given", truth_offset)
        if not truths:
            raise ValueError("not enough to say: the truth has no movement to compare with")
    try:
        return run(
            recording,
            taking_part,
            timing,
            truths,
            weights=weighed,
            offset=truth_offset,
            warm_up=warm_up,
            threads=threads,
        )
    except NotEnoughToSay as error:
        from epic_cli.views.comparison_words import not_enough_words

        raise ValueError(f"not enough to say: {not_enough_words(error)}") from error


def _by_entity(packets: Iterable[Packet]) -> dict[str, PacketBlock]:
    found: dict[str, PacketBlock] = {}
    for block in blocks_of(packets, Entities(), _AT_ONCE):
        separate(block, found)
    return found


def _taking_part(
    strategies: Wanted | Iterable[Wanted] | Mapping[str, Wanted],
) -> list[_Candidate]:
    """Each under its label; wrong ones are refused before the work begins."""
    if isinstance(strategies, Mapping):
        return [_candidate(one, label) for label, one in strategies.items()]
    if isinstance(strategies, (str, SmoothingStrategy)) or callable(strategies):
        strategies = [strategies]
    wanted = list(strategies)
    if not wanted:
        return [_Candidate(one.label, one.make) for one in candidates()]
    found = [_candidate(one) for one in wanted]
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} is given twice: give a mapping with a label for each")
    return found


def _candidate(wanted: Wanted, label: str | None = None) -> _Candidate:
    if isinstance(wanted, str):
        (one,) = candidates([wanted])
        return _Candidate(label or one.label, one.make)
    if isinstance(wanted, Strategy) and is_native(wanted):
        return _Candidate(label or repr(wanted), wanted.another)
    if not isinstance(wanted, type) and isinstance(wanted, SmoothingStrategy):
        raise ValueError(f"{wanted!r} draws one entity once: give its class, or what makes it")
    make = make_maker(wanted, {})
    return _Candidate(label or str(getattr(wanted, "__qualname__", wanted)), make)
