"""Find the strategy and settings that draw what a game drew, and a smoothing on top of them.

The way of drawing is found from the frames (``mechanism``); engines' strategies are drawn again in
them (``StrategySearch``), with other settings, a delay and a first-order low-pass; the best of all
is a ``DrawnMatch``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import compose, list_system_names
from epic_cli.jobs.diagnose.drawn.drawn_match import CLEARER, DrawnMatch
from epic_cli.jobs.diagnose.drawn.entity import MATTERS, PROBABLE, DrawnEntity
from epic_cli.jobs.diagnose.drawn.frame_arrivals import PacketReading
from epic_cli.jobs.diagnose.drawn.leaps import measure_calm_error, measure_few_errors
from epic_cli.jobs.diagnose.drawn.limits import settle_limit
from epic_cli.jobs.diagnose.drawn.pacing import (
    find_pacing,
    is_read_behind,
    search_other_pacing,
    search_strategies,
    take_first_look,
)
from epic_cli.jobs.diagnose.drawn.snap_range import find_snap_range
from epic_cli.jobs.diagnose.drawn.strategy_search import AS_GOOD
from epic_cli.jobs.diagnose.fitted import MOST, FittedStrategy
from epic_cli.jobs.diagnose.mechanism import UNSMOOTHED, Mechanism
from epic_cli.metrics.drawn_path import DrawnPath, UnusableDrawing

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.jobs.diagnose.mechanism.observations import Observation

#: Most entities that are examined, those with the most movement.
MOST_ENTITIES = 8

#: The share of the moving frames that show the newest state where nothing is smoothed.
NEWEST = 0.98

#: Strategies of parts, which draw what many others do, by fitted numbers.
PARTS = ("buffer", "chase")


def match(
    packets: Mapping[str, PacketBlock],
    paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec] = (),
) -> DrawnMatch:
    """Find the strategy that draws the packets as the game did; without candidates try all.

    The frames' times are taken for the receiver's clock, that of the arrivals; without arrival
    times, for the sender's. Raises ``UnusableDrawing`` where nothing can be compared.
    """
    shared: list[DrawnEntity] = []
    reasons = [UnusableDrawing("no entity has packets and frames: name it the same in both files")]
    for name in (packet for packet in packets if packet in paths):
        try:
            shared.append(DrawnEntity(name, paths[name], packets[name]))
        except UnusableDrawing as error:
            reasons.append(error)
    if not shared:
        raise reasons[-1]
    moving = sorted(
        (entity for entity in shared if entity.step and entity.moved), key=lambda one: -one.moved
    )
    if not moving:
        raise UnusableDrawing(
            "nothing moves in these frames, or in the packets of the same times: record movement"
        )
    moving = moving[:MOST_ENTITIES]
    first = moving[0]
    engines = [spec for spec in read_specs() if spec.name not in PARTS]
    known = candidates or [*engines, *map(StrategySpec, list_system_names())]
    look, moving = take_first_look(moving, known, not candidates)
    first, parts, found = moving[0], look.parts, list[FittedStrategy]()
    same = [] if candidates else [spec for spec, off in look.usual if off <= first.enough]
    if parts is None or not (parts.exact or parts.share >= MOST or _is_in_ticks(first, parts)):
        least = math.inf if parts is None else parts.residual
        engines += _select_nearest_variant(look.usual)
        found = search_strategies(moving, candidates or engines, least)
        if look.others and found[-1].residual > first.understood:
            moving, found = search_other_pacing(moving, found, look.others, candidates or engines)
            first = moving[0]
        if first.tick and not candidates:
            parts = first.find_mechanism()
        if parts is not None:
            # a strategy that is hardly nearer than parts that are understood explains no more
            factor = CLEARER if parts.residual <= first.understood else AS_GOOD
            most = parts.share >= MOST > max(each.share for each in found)
            if parts.residual > factor * found[-1].residual and not most:
                parts = None
    if parts is not None:
        moving, parts = _read_before_frames(moving, parts)
        first = moving[0]
        parts = _take_newest_states(first, parts)
        found, parts = settle_limit(moving, first.split_low_pass(parts), parts)
        same += parts.same_as
    without, best = found[0], found[-1]
    smoothed = _is_smoothed(first, best, without)
    if parts is None and not smoothed:
        best = without
    understood = first.limit_error(best, parts)
    found_match = DrawnMatch(
        best,
        without,
        first.step,
        first.enough,
        understood,
        smoothed,
        first.measure_lag(),
        first.frame,
        first.tick,
        tuple(entity.match_strategy(best) for entity in moving),
        first.frames,
        mechanism=parts,
        same_as=tuple(spec for spec in same if spec != best.candidate),
        by_frame=find_pacing(first, best),
        offset=tuple(first.offset.tolist()) if first.offset.any() else (),
        calm=measure_calm_error(first.comparison, first.stamps, first.positions, best),
        rest_off=measure_few_errors(first.comparison, best, understood),
    )
    kind, delays = "", None
    seen: tuple[Observation, ...] = ()
    if not (found_match.found or found_match.likely):
        kind, delays = first.find_kind()
        seen = () if kind else first.observe_frames()
    return found_match._replace(
        other=_match_others(found_match, packets, paths, candidates),
        advice=first.find_advice(best, parts, found_match.found, found_match.likely),
        rest="" if found_match.found else first.explain_rest(best),
        behind=found_match.found and is_read_behind(first, best),
        between_frames=first.redraw.arrivals and not first.arrives_at_frames,
        kind=kind,
        seen=seen,
        delays=delays,
        shows_newest=found_match.rest_off is not None and first.shows_newest_elsewhere(best),
        snap_range=find_snap_range(first.comparison, best, first.enough)
        if found_match.found and parts is not None
        else None,
    )


def _select_nearest_variant(usual: Sequence[tuple[StrategySpec, float]]) -> list[StrategySpec]:
    """Return the strategy that draws nearest, if it is an engine's with settings of its own."""
    nearest, _ = min(usual, key=lambda one: one[1])
    name, settings = compose(nearest.name, nearest.settings)
    is_variant = name != nearest.name and name not in PARTS
    return [StrategySpec(name, settings)] if is_variant else []


def _match_others(
    found: DrawnMatch, packets: Mapping[str, PacketBlock], paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec],
) -> DrawnMatch | None:  # fmt: skip
    """Return the match of the entities that another one's strategy does not draw, if it is found.

    None if there are no such, or nothing is found for them.
    """
    names = [entity.entity for entity in found.entities[1:] if not entity.found]
    if not (found.found and names):
        return None
    kept = {name: packets[name] for name in names}
    try:
        other = match(kept, {name: paths[name] for name in names}, candidates)
    except UnusableDrawing:
        return None
    return other if other.found else None


def _read_before_frames(
    moving: list[DrawnEntity], parts: Mechanism
) -> tuple[list[DrawnEntity], Mechanism]:
    """Return entities that read packets before their frames, if that draws no worse, with it."""
    first = moving[0]
    if first.pacing is not PacketReading.BEHIND or first.tick:
        return moving, parts
    for pacing in (PacketReading.ARRIVAL, PacketReading.FRAME):
        before = first.change_pacing(pacing)
        again = before.comparison.measure_error(FittedStrategy(parts.strategy))
        if again.residual <= max(parts.residual, before.enough):
            exact = again.residual <= before.enough
            parts = parts._replace(residual=again.residual, exact=exact, share=again.share)
            return [before, *(each.change_pacing(pacing) for each in moving[1:])], parts
    return moving, parts


def _take_newest_states(first: DrawnEntity, parts: Mechanism) -> Mechanism:
    """Return what draws the newest state as it is, if nearly all frames show that; else ``parts``.

    Frames show nothing of a smoothing that ends within one of them.
    """
    late = {key: value for key, value in parts.strategy.settings.items() if key == "late"}
    spec = StrategySpec("chase", UNSMOOTHED | late)
    found = first.comparison.measure_error(FittedStrategy(spec))
    if found.share < NEWEST or spec == parts.strategy:
        return parts
    exact = found.residual <= first.enough
    return Mechanism(spec, found.residual, exact, parts.interval, share=found.share)


def _is_in_ticks(first: DrawnEntity, parts: Mechanism) -> bool:
    """Return True if a composition in ticks of its own explains the frames, or probably does."""
    return "every" in parts.strategy.settings and parts.residual <= PROBABLE * first.step


def _is_smoothed(first: DrawnEntity, best: FittedStrategy, without: FittedStrategy) -> bool:
    """Return True if the game smooths a second time, after the strategy."""
    return (
        bool(best.constant)
        and max(CLEARER * max(best.residual, first.enough), MATTERS * first.step) < without.residual
        and best.residual <= first.understood
    )
