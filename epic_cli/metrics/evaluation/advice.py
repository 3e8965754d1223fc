"""What to do after a comparison, as values: which strategy, how surely, what it costs."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from epic_cli.metrics.certainty.ranking import RESOLUTION
from epic_cli.metrics.notes import Flaw
from epic_cli.metrics.score import COSTS, GOOD, score
from epic_cli.metrics.weights import GAMES

if TYPE_CHECKING:
    from epic_cli.metrics.certainty.uncertainty import Standing
    from epic_cli.metrics.measurement import Measurement
    from epic_cli.metrics.weights import Weights

    class Result(Protocol):
        """What is asked of a ``compare.Result``."""

        @property
        def label(self) -> str:
            """The candidate's name."""

        @property
        def recording(self) -> str | None:
            """The recording that it is of."""

        @property
        def rank(self) -> int | None:
            """Its place."""

        @property
        def ranked(self) -> bool:
            """Whether it has one."""

        @property
        def standing(self) -> Standing:
            """How sure its figures are."""

        @property
        def measured(self) -> Measurement | None:
            """What they are computed from."""

        def value(self, name: str) -> float:
            """A figure."""

        def interval(self, name: str) -> tuple[float, float]:
            """Its interval."""

        def has(self, *flaws: Flaw) -> bool:
            """Whether one of these is noted."""


class Confidence(enum.Enum):
    """What a comparison comes to."""

    CLEAR = "one is clearly best"
    TIED = "too close to call"
    UNCERTAIN = "one scores highest, from too little data to say how surely"
    DOUBTFUL = "one scores highest, of an input that is in doubt"
    ALONE = "there is one only"
    NONE_GOOD = "none is good"
    NOTHING = "none can be ranked"


class Advice(NamedTuple):
    """The advice, in the order in which people want it.

    ``best`` has the highest score. ``tied`` are the others that are too close to it, ``next`` the
    first that is not. ``weakest`` is the cost, by its name among the weights, that takes most
    from the best one's score. ``other_games`` are kinds of games, each with the strategy that has
    the highest score under its weights where that is another one. ``worst`` is the recording in
    which the best one's score is lowest, None where it is no lower than that of all.
    """

    confidence: Confidence
    best: Result | None = None
    tied: tuple[Result, ...] = ()
    next: Result | None = None
    weakest: str = ""
    other_games: tuple[tuple[str, str], ...] = ()
    worst: Result | None = None


def advice(
    results: Sequence[Result],
    weights: Weights,
    by_recording: Sequence[Result] = (),
    doubtful: bool = False,
) -> Advice:
    """What these results come to; ``by_recording`` has one of each for each recording.

    ``doubtful``: nobody knows whether the input is what it seems.
    """
    ranked = [one for one in results if one.ranked and not math.isnan(one.value("score"))]
    if not ranked:
        return Advice(Confidence.NOTHING)
    sound = [one for one in ranked if not one.has(Flaw.DIVERGED)]
    order = sorted(sound or ranked, key=lambda one: -one.value("score"))
    best, *others = order
    tied = tuple(one for one in others if best.rank is not None and one.rank == best.rank)
    after = next((one for one in others if one not in tied), None)
    if best.value("score") < GOOD or not sound:
        confidence = Confidence.NONE_GOOD
    elif not others:
        confidence = Confidence.ALONE
    elif doubtful:
        confidence = Confidence.DOUBTFUL
    elif math.isnan(best.interval("score")[0]):
        confidence = Confidence.UNCERTAIN
    else:
        confidence = Confidence.TIED if tied else Confidence.CLEAR
    own = [
        one
        for one in by_recording
        if one.label == best.label and not math.isnan(one.value("score"))
    ]
    worst = min(own, key=lambda one: one.value("score"), default=best)
    return Advice(
        confidence,
        best,
        tied,
        after,
        _weakest(best, weights),
        tuple(_other_games(order)),
        worst if worst.value("score") <= best.value("score") - RESOLUTION else None,
    )


def good(result: Result) -> bool:
    """Whether its score is one to be content with."""
    return result.value("score") >= GOOD and not result.has(Flaw.DIVERGED)


def best_for(results: Sequence[Result]) -> dict[str, list[str]]:
    """For which kinds of games each label has the highest score."""
    found: dict[str, list[str]] = {}
    for game, label in _winners(results):
        found.setdefault(label, []).append(game)
    return found


def _weakest(result: Result, weights: Weights) -> str:
    def share(name: str) -> float:
        cost = result.value(f"{name}_cost")
        return 0.0 if math.isnan(cost) else weights._asdict()[name] * cost

    return max(COSTS, key=share)


def _other_games(order: Sequence[Result]) -> list[tuple[str, str]]:
    return [(game, label) for game, label in _winners(order) if label != order[0].label]


def _winners(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Who has the highest score in each kind of game; of equals, who has it here."""
    found = []
    here = {one.label: one.value("score") for one in results}
    for game in GAMES:
        scores = {
            one.label: float(score(replace(one.measured, weights=game.weights)))
            for one in results
            if one.measured is not None and one.ranked and not one.has(Flaw.DIVERGED)
        }
        scores = {label: value for label, value in scores.items() if not math.isnan(value)}
        if scores:
            most = max(scores.values())
            equals = [label for label, value in scores.items() if value > most - RESOLUTION]
            found.append((game.name, max(equals, key=lambda label: here[label])))
    return found
