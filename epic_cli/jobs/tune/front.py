"""What smoothness costs in latency: the trials that no other one beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.metrics.score import without_turning

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value
    from epic_cli.jobs.tune.trials import Figures, Trial, Trials
    from epic_cli.metrics.score import Weights

#: Latencies (s) that differ by less are the same to a player.
SAME_LATENCY = 0.0005

#: Roughness that is larger by less than this share is as good.
SAME_ROUGHNESS = 0.01

#: A point with less than this share of the best score is of no use.
WORTH = 0.75

#: So many points of each strategy's front are kept.
KEPT = 12


class FrontPoint(NamedTuple):
    """Settings that nothing that was tried beats: ``latency`` (s), ``roughness``, the score.

    Roughness is what the score counts without latency: what is jerky, off, slow to recover.
    Whatever latency weighs, the best settings are on the front.
    """

    strategy: str
    settings: Mapping[str, Value]
    latency: float
    roughness: float
    score: float


def front(strategy: str, trials: Iterable[Trial], weights: Weights) -> tuple[FrontPoint, ...]:
    """The Pareto front of these trials, the one with the least latency first."""
    points = [
        FrontPoint(
            strategy,
            one.settings,
            abs(one.figures["lag"]),
            roughness(one.figures, weights),
            one.figures["score"],
        )
        for one in trials
        if one.figures and not math.isnan(one.figures["lag"])
    ]
    return pareto(one for one in points if not math.isnan(one.roughness))


def chosen(points: Sequence[FrontPoint], most: int) -> tuple[FrontPoint, ...]:
    """So many points of a front, evenly by the logarithm of roughness, both ends among them."""
    if len(points) <= most:
        return tuple(points)
    levels = [math.log(max(one.roughness, 1e-9)) for one in points]
    wanted = [levels[0] + (levels[-1] - levels[0]) * at / (most - 1) for at in range(most)]
    nearest = {min(range(len(points)), key=lambda at: abs(levels[at] - level)) for level in wanted}
    return tuple(points[at] for at in sorted(nearest))


def worth(points: Sequence[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Those whose score is not far from the best one's: nobody wants the ends of a long front."""
    least = WORTH * max((one.score for one in points), default=0.0)
    return tuple(one for one in points if one.score >= least)


def simplified(
    points: Sequence[FrontPoint], trials: Trials, weights: Weights, held: Mapping[str, Value]
) -> tuple[FrontPoint, ...]:
    """The same front, without settings that change nothing; ``trials`` gets a few more trials.

    Those that are ``held`` stay.
    """
    found = []
    for point in points:
        settings = dict(point.settings)
        for name in [one for one in point.settings if one not in held]:
            fewer = {key: value for key, value in settings.items() if key != name}
            trials.costs([fewer], beyond=True)
            figures = trials.of(fewer).figures
            if not figures or math.isnan(figures["lag"]):
                continue
            if abs(abs(figures["lag"]) - point.latency) < SAME_LATENCY and roughness(
                figures, weights
            ) <= point.roughness * (1 + SAME_ROUGHNESS):
                settings = fewer
        found.append(trials.of(settings))
    return front(trials.strategy, found, weights)


def pareto(points: Iterable[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Those that no other one beats in both, by latency."""
    found: list[FrontPoint] = []
    for one in sorted(points, key=lambda point: (point.latency, point.roughness)):
        if found and one.roughness >= found[-1].roughness:
            continue
        if found and one.latency - found[-1].latency < SAME_LATENCY:
            found.pop()
        found.append(one)
    return tuple(found)


def roughness(figures: Figures, weights: Weights) -> float:
    """What the score counts, without latency; NaN: not enough to say."""
    others = weights._replace(latency=0.0)
    if not any(others):
        others = others._replace(accuracy=1.0, smoothness=1.0)
    if math.isnan(figures.get("angle", math.nan)):
        others = without_turning(others)
    found = {name: figures[f"{name}_cost"] for name in others._fields}
    if math.isnan(found["recovery"]):  # there is nothing to recover from
        found["recovery"] = 0.0
    total = sum(others._replace(recovery=0.0)) or others.recovery
    return (
        math.fsum(weight * found[name] for name, weight in others._asdict().items() if weight)
        / total
    )
