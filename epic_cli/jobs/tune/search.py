"""The search: points all over the space, then from the best of them on by a library.

Few choices are tried one and all. One number is a grid, refined around its best point by the
golden section. Anything else is CatCMA with margin (Hamano, Saito, Nomura, Uchida and Shirakawa
2025, "CatCMA with Margin"), which takes real and whole numbers and choices at once, from the
library ``cmaes``: started at the best point so far, and again elsewhere where it has settled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from cmaes import CatCMAwM

from epic_cli.jobs.tune.trials import NUMBER, BudgetSpent, Point, Space, Trials, spread
from epic_cli.metrics.arrays import minimum

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value

#: So many trials for each setting, and no more than so many in all.
TRIALS_EACH, MOST_TRIALS = 60, 400

#: This share of the trials are points all over the space.
SPREAD = 0.3

#: One number is tried at so many places for each choice, then so often around the best.
GRID, REFINED = 13, 12

#: Fewer places are no grid.
COARSEST = 4

#: A population that has found nothing better for so many generations has settled.
PATIENCE = 10

#: So many starts in a row that try nothing new: there is nothing left to try.
FRUITLESS = 5


def default_trials(space: Space) -> int:
    """How many trials a search of this space takes by default."""
    if not space.axes:
        return 1
    if not space.numeric:
        return space.combinations + 1
    return min(TRIALS_EACH * len(space.axes), MOST_TRIALS)


def search(
    space: Space, trials: Trials, seed: int, hints: Sequence[Mapping[str, Value]] = ()
) -> None:
    """Fills ``trials`` until there is nothing left to try, or ``BudgetSpent``.

    ``hints`` are settings that the closed form recommends. The defaults come first.
    """
    places = min(GRID, trials.budget.trials // space.combinations)
    grid = len(space.numeric) == 1 and places >= COARSEST
    try:
        trials.costs([dict(space.held)], beyond=True)
        trials.costs(hints)
        if grid:
            _one_number(space, trials, places)
        elif space.numeric:
            _several(space, trials, seed)
        elif space.axes:
            _choices(space, trials)
    except BudgetSpent:
        pass


def _choices(space: Space, trials: Trials) -> None:
    """All combinations; where there are too many, as many as there is room for, all over."""
    halfway = tuple(0.5 for _ in space.axes)
    if space.combinations <= trials.budget.trials:
        trials.costs([space.settings(Point(kinds, halfway)) for kinds in space.every_kind()])
        return
    trials.costs([space.settings(one) for one in spread(trials.budget.trials, space.axes)])


def _one_number(space: Space, trials: Trials, places: int) -> None:
    (at,) = space.numeric

    def settings(kinds: tuple[int, ...], share: float) -> dict[str, Value]:
        shares = tuple(share if one == at else 0.5 for one in range(len(space.axes)))
        return space.settings(Point(kinds, shares))

    shares = np.linspace(0, 1, places).tolist()
    asked = [(kinds, share) for kinds in space.every_kind() for share in shares]
    costs = trials.costs([settings(*one) for one in asked])
    kinds, share = asked[int(np.argmin(costs))]
    if kinds[at] != NUMBER:
        return
    step = 1 / (places - 1)
    low, high = max(share - step, 0.0), min(share + step, 1.0)
    minimum(lambda x: trials.costs([settings(kinds, x)])[0], low, high, REFINED)


def _several(space: Space, trials: Trials, seed: int) -> None:
    count = max(round(SPREAD * trials.budget.trials), 4)
    points = spread(count, space.axes)
    trials.costs([space.settings(one) for one in points])
    tried = sorted(trials.made, key=lambda one: trials.goal.key(one.figures))
    starts = [space.point(one.settings) for one in tried]
    best = math.inf
    number = fruitless = 0
    while fruitless < FRUITLESS:
        made = len(trials.made)
        # from the best, and from the next ones that are not where it has been
        start = starts[pow(2, number, len(starts)) if number else 0]
        optimizer = _Optimizer(space, start, seed * 1000 + number, 0.2 if number == 0 else 0.3)
        number += 1
        idle = 0
        while idle < PATIENCE:
            asked = optimizer.ask()
            costs = trials.costs([space.settings(one) for one in asked])
            optimizer.tell(costs)
            idle = (
                0 if min(costs) < best - 1e-9 * abs(best) or not math.isfinite(best) else idle + 1
            )
            best = min(best, *costs)
        fruitless = 0 if len(trials.made) > made else fruitless + 1


class _Optimizer:
    """The library's optimizer in terms of the space."""

    def __init__(self, space: Space, start: Point, seed: int, sigma: float) -> None:
        self._space = space
        self._real = [at for at in space.numeric if not space.axes[at].whole]
        self._whole = [at for at in space.numeric if space.axes[at].whole]
        self._choices = space.choices
        options: dict[str, Any] = {}
        if self._real:
            options["x_space"] = [[0.0, 1.0]] * len(self._real)
        if self._whole:
            spans = [space.axes[at].high - (space.axes[at].low or 0.0) for at in self._whole]
            options["z_space"] = [np.linspace(0, 1, round(one) + 1).tolist() for one in spans]
        if self._choices:
            options["c_space"] = [space.axes[at].kinds for at in self._choices]
            options["cat_param"] = self._likely(start)
        numbers = [*self._real, *self._whole]
        if numbers:
            options["mean"] = np.array([start.shares[at] for at in numbers])
            options["sigma"] = sigma
            # the library's own goes to zero where the start is at a bound
            options["cov"] = np.eye(len(numbers))
        self._optimizer = CatCMAwM(seed=seed, **options)
        self._asked: list[Any] = []

    def _likely(self, start: Point) -> Any:
        """How likely each choice is at first: that of the start as likely as all together."""
        most = max(self._space.axes[at].kinds for at in self._choices)
        chances = np.zeros((len(self._choices), most))
        for row, at in enumerate(self._choices):
            kinds = self._space.axes[at].kinds
            chances[row, :kinds] = 0.5 / kinds
            chances[row, start.kinds[at]] += 0.5
        return chances

    def ask(self) -> list[Point]:
        """A generation."""
        self._asked = [self._optimizer.ask() for _ in range(self._optimizer.population_size)]
        return [self._point(one) for one in self._asked]

    def tell(self, costs: Sequence[float]) -> None:
        """What each of them costs, in their order."""
        # places, not costs: what handles bounds in the library computes with differences, which
        # equal costs, and infinite ones, do not have
        places = np.argsort(np.argsort(costs, kind="stable"), kind="stable").tolist()
        self._optimizer.tell(list(zip(self._asked, map(float, places), strict=True)))

    def _point(self, solution: Any) -> Point:
        axes = self._space.axes
        kinds, shares = [0] * len(axes), [0.5] * len(axes)
        for at, share in zip(self._real, solution.x if self._real else (), strict=True):
            shares[at] = float(share)
        for at, share in zip(self._whole, solution.z if self._whole else (), strict=True):
            shares[at] = float(share)
        for at, chosen in zip(self._choices, solution.c if self._choices else (), strict=True):
            kinds[at] = int(np.argmax(chosen))
        return Point(tuple(kinds), tuple(shares))
