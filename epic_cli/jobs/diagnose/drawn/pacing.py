"""Find whether packets count from their arrivals, or from the frames that read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.jobs.diagnose.drawn.entity import PROBABLE
from epic_cli.jobs.diagnose.drawn.strategy_search import AS_GOOD, FINALISTS
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.metrics.drawn_path import find_drawn_ticks

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.jobs.diagnose.drawn.entity import DrawnEntity
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.mechanism.search import ExplanationSearch

#: Largest error of frame pacing, as a multiple of that of exact arrivals, for which it is taken.
LIKELY_PACING = 0.7


class FirstLook(NamedTuple):
    """The composition that draws an entity, and the error of each strategy without a search."""

    parts: Mechanism | None
    usual: list[tuple[StrategySpec, float]]


def take_first_look(
    moving: list[DrawnEntity], specs: Sequence[StrategySpec], in_parts: bool
) -> tuple[FirstLook, list[tuple[StrategySpec, float]], list[DrawnEntity]]:
    """Return the first look by the better pacing, errors by the other one, and the entities.

    The errors are those of the strategies without a search; there are none if the first pacing
    draws the frames, or if packets arrive at frames, so that both are the same.
    """
    first = moving[0]
    at_frames = first.redraw.arrivals and first.arrives_at_frames
    # engines that handle messages behind the frame log both with one time
    tells = first.depends_on_new_packets() if at_frames and in_parts else None
    if tells is False:
        moving = [entity.read_behind_frames() for entity in moving]
        first = moving[0]
    usual = _measure_unchanged_strategies(first, specs)
    begun = first.glance() if in_parts else None
    if at_frames and begun is not None:
        least = _get_least_error(usual, begun)
        rival = first.read_behind_frames(not first.behind)
        is_open = least > first.enough
        later = rival.glance(begun) if is_open else None
        # what the frames tell of the order gives way to what draws them exactly
        most = rival.enough if tells is True else LIKELY_PACING * least
        if later is not None and later.results.best.residual < most:
            usual = _measure_unchanged_strategies(rival, specs)
            moving = [rival, *(each.read_behind_frames(rival.behind) for each in moving[1:])]
            return FirstLook(rival.find_mechanism(later), usual), [], moving
    told = at_frames or not first.redraw.arrivals
    if told or _get_least_error(usual, None) <= first.enough:
        return FirstLook(first.find_mechanism(begun) if in_parts else None, usual), [], moving
    again = first.change_pacing(by_frame=True)
    others = _measure_unchanged_strategies(again, specs)
    is_usual = _get_least_error(others, None) <= again.enough
    if begun is not None and begun.results.best.residual <= first.enough and not is_usual:
        parts = first.find_mechanism(begun)
        if parts is not None and parts.residual <= first.enough:
            return FirstLook(parts, usual), [], moving
    other = again.glance(begun) if in_parts else None
    least = _get_least_error(usual, begun)
    if is_usual or _get_least_error(others, other) < LIKELY_PACING * least:
        parts = again.find_mechanism(other) if in_parts else None
        return FirstLook(parts, others), usual, [entity.change_pacing(True) for entity in moving]
    return FirstLook(first.find_mechanism(begun) if in_parts else None, usual), others, moving


def _get_least_error(
    usual: list[tuple[StrategySpec, float]], begun: ExplanationSearch | None
) -> float:
    """Return the least error of strategies and of a search (RMS, length)."""
    least = min((off for _, off in usual), default=math.inf)
    return least if begun is None else min(least, begun.results.best.residual)


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
    again = [entity.change_pacing(not entity.redraw.by_frame) for entity in moving]
    nearest = [spec for spec, _ in sorted(usual, key=lambda one: one[1]) if spec in specs]
    others = search_strategies(again, nearest[: 2 * FINALISTS], found[-1].residual)
    if others[-1].residual < LIKELY_PACING * found[-1].residual:
        return again, others
    return moving, found


def find_pacing(first: DrawnEntity, best: FittedStrategy) -> bool | None:
    """Return True if packets are read by frames; None if exact arrivals draw as well, or badly."""
    if not first.redraw.arrivals:
        return None
    by_frame = first.redraw.by_frame
    alike = _is_drawn_alike(first, best, lambda: first.change_pacing(not by_frame))
    return None if alike else by_frame


def is_read_behind(first: DrawnEntity, best: FittedStrategy) -> bool:
    """Return True if packets of a frame's time are read behind it, and the frames tell so.

    Only what draws them exactly tells: fitted numbers make up for the order.
    """
    return (
        first.behind
        and best.residual <= first.enough
        and not _is_drawn_alike(first, best, lambda: first.read_behind_frames(False))
    )


def _is_drawn_alike(
    first: DrawnEntity, best: FittedStrategy, read: Callable[[], DrawnEntity]
) -> bool:
    """Return True if packets that are ``read`` otherwise are drawn as well, or all badly."""
    if best.residual > max(first.enough, PROBABLE * first.step):
        return True
    other = read().comparison.measure_error(best)
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
