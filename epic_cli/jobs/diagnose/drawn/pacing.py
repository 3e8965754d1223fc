"""Find when a game reads packets: as they arrive, or before or behind its frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.jobs.diagnose.comparison import KEPT
from epic_cli.jobs.diagnose.drawn.entity import PROBABLE
from epic_cli.jobs.diagnose.drawn.frame_arrivals import PacketReading
from epic_cli.jobs.diagnose.drawn.strategy_search import AS_GOOD, FINALISTS
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism import glance
from epic_cli.jobs.diagnose.mechanism.pacings import LIKELY
from epic_cli.metrics.drawn_path import find_drawn_ticks

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.drawn.entity import DrawnEntity
    from epic_cli.jobs.diagnose.mechanism import Mechanism


class FirstLook(NamedTuple):
    """The composition that draws an entity, and the error of each strategy without a search.

    ``others`` are those errors by another pacing, which may be the right one; none otherwise.
    """

    parts: Mechanism | None
    usual: list[tuple[StrategySpec, float]]
    others: list[tuple[StrategySpec, float]]


def take_first_look(
    moving: list[DrawnEntity], specs: Sequence[StrategySpec], in_parts: bool
) -> tuple[FirstLook, list[DrawnEntity]]:
    """Return the first look by the pacing that the frames tell, and the entities by it."""
    entities, told = list_pacings(moving[0])
    if not in_parts and not told:  # an engine's settings make up for a frame
        likely = (PacketReading.ARRIVAL, PacketReading.FRAME, entities[0].pacing)
        entities = [entity for entity in entities if entity.pacing in likely]
    usual = [_measure_unchanged_strategies(entity, specs) for entity in entities]
    least = [_get_least_error(errors) for errors in usual]
    for entity, errors, off in zip(entities, usual, least, strict=True):
        if off <= entity.enough:
            entities, usual, told = [entity], [errors], True
            break
    searches = [entity.begin_search() for entity in entities] if in_parts else []
    known = [search for search in searches if search is not None]
    place, begun = 0, None
    if known and len(known) == len(entities):
        place = glance(known, told)
        begun = known[place]
    elif not told:
        place = min(range(len(least)), key=lambda one: least[one] / (LIKELY if one else 1.0))
    first = entities[place]
    parts = first.find_mechanism(begun) if begun is not None else None
    rest = [
        errors for entity, errors in zip(entities, usual, strict=True)
        if entity is not first and entity.pacing is not PacketReading.BEHIND and not told
    ]  # fmt: skip
    others = min(rest, key=_get_least_error, default=[])
    if in_parts and _get_least_error(others) > LIKELY * _get_least_error(usual[place]):
        others = []
    if first.pacing is not moving[0].pacing:
        moving = [first, *(entity.change_pacing(first.pacing) for entity in moving[1:])]
    return FirstLook(parts, usual[place], others), moving


def list_pacings(first: DrawnEntity) -> tuple[list[DrawnEntity], bool | None]:
    """Return an entity by each pacing that is possible, the likeliest first, and if that is told.

    Frames tell whether they depend on the packets of their time. That they do not is False if it is
    told: a delay may be the reason, too.
    """
    if not first.redraw.arrivals:
        return [first], True
    frame, behind = (
        first.change_pacing(pacing) for pacing in (PacketReading.FRAME, PacketReading.BEHIND)
    )
    tells = frame.depends_on_new_packets()
    before = [first] if first.arrives_at_frames else [first, frame]
    if tells is False:  # engines that handle messages behind the frame
        return [behind, *before], False
    return [*before, behind], (tells and first.arrives_at_frames) or None


def _get_least_error(usual: Sequence[tuple[StrategySpec, float]]) -> float:
    """Return the least error of some strategies (RMS, length)."""
    return min((off for _, off in usual), default=math.inf)


def _measure_unchanged_strategies(
    first: DrawnEntity, specs: Sequence[StrategySpec]
) -> list[tuple[StrategySpec, float]]:
    """Return the error of each strategy as it is (RMS, length)."""
    return [(spec, first.comparison.measure_error(FittedStrategy(spec)).residual) for spec in specs]


def search_other_pacing(
    moving: list[DrawnEntity],
    found: list[FittedStrategy],
    usual: list[tuple[StrategySpec, float]],
    specs: Sequence[StrategySpec],
) -> tuple[list[DrawnEntity], list[FittedStrategy]]:
    """Search the nearest strategies with the other pacing; return what explains the frames better.

    ``usual`` are the errors without a search with that pacing; ``found`` was found with the first
    one.
    """
    other = PacketReading.ARRIVAL if moving[0].redraw.by_frame else PacketReading.FRAME
    again = [entity.change_pacing(other) for entity in moving]
    nearest = [spec for spec, _ in sorted(usual, key=lambda one: one[1]) if spec in specs]
    others = search_strategies(again, nearest[: 2 * FINALISTS], found[-1].residual)
    if others[-1].residual < LIKELY * found[-1].residual:
        return again, others
    return moving, found


def find_pacing(first: DrawnEntity, best: FittedStrategy) -> bool | None:
    """Return True if packets are read by frames; None if exact arrivals draw as well, or badly."""
    if not first.redraw.arrivals or first.pacing is PacketReading.BEHIND:
        return None
    by_frame = first.redraw.by_frame
    other = PacketReading.ARRIVAL if by_frame else PacketReading.FRAME
    return None if _is_drawn_alike(first, best, other) else by_frame


def is_read_behind(first: DrawnEntity, best: FittedStrategy) -> bool:
    """Return True if packets are read behind the frames, and the frames tell so.

    Of packets that are logged by frames, only what draws them exactly tells: fitted numbers make up
    for the order.
    """
    return (
        first.pacing is PacketReading.BEHIND
        and (best.residual <= first.enough or not first.arrives_at_frames)
        and not _is_drawn_alike(first, best, PacketReading.FRAME)
    )


def _is_drawn_alike(first: DrawnEntity, best: FittedStrategy, pacing: PacketReading) -> bool:
    """Return True if packets that are read otherwise are drawn as well, or all badly."""
    best = first.comparison.measure_error(best)
    if best.residual > max(first.enough, PROBABLE * first.step) and not best.draws_most:
        return True
    other = first.change_pacing(pacing).comparison.measure_error(best)
    if best.draws_most and best.residual > first.enough:
        return other.share >= KEPT * best.share
    return other.residual <= max(first.enough, AS_GOOD * best.residual)


def search_strategies(
    moving: Sequence[DrawnEntity], candidates: Sequence[StrategySpec], known: float = math.inf
) -> list[FittedStrategy]:
    """Return the best strategy with fitted settings, without a low-pass and with one.

    What is far from the frames is not searched further, compared with the ``known`` error (length).
    """
    first = moving[0]
    steady = find_drawn_ticks(first.path) is None
    found = first.make_search().find_explanations(candidates, steady, known)
    # some strategies stand until the next packet by themselves
    if found[0].residual > first.enough and first.switch_to_ticks():
        for entity in moving[1:]:
            entity.switch_to_ticks()
        found = first.make_search().find_explanations(candidates)
    return found
