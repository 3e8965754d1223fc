"""What has been tried: each setting once, in batches whose size depends on nothing but the search.

That makes a search repeatable: a batch is asked for as a whole, judged in any order by any number
of workers, and told in the order in which it was asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.tuning.elsewhere import figures
from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.elsewhere import Figures, Judge
    from epic_cli.analysis.tuning.goal import Goal
    from epic_cli.engine.settings import Value


class Try(NamedTuple):
    """Settings that differ from their defaults, and what they came to."""

    settings: Mapping[str, Value]
    figures: Figures


class Memory:
    """Where figures are looked up that are known from an earlier run, and kept for a later one."""

    def find(self, strategy: str, settings: Mapping[str, Value]) -> Figures | None:
        """What these settings came to; None: nobody knows."""
        del strategy, settings
        return None

    def keep(self, strategy: str, settings: Mapping[str, Value], figures: Figures) -> None:
        """Keeps it."""


#: No more are judged between two looks at the time, or lost by an interruption.
AT_ONCE = 32


class Enough(Exception):
    """The tries or the time are used up."""


@dataclass
class Budget:
    """How many tries a search may take, and until when (``time.monotonic``)."""

    tries: int
    until: float = math.inf

    def left(self, taken: int) -> int:
        """How many tries are left."""
        return 0 if time.monotonic() >= self.until else max(self.tries - taken, 0)


#: Called with each new try, and how many there have been.
Told = Callable[[Try, int], None]


@dataclass
class Trials:
    """All tries of one strategy, in the order in which they were asked for."""

    strategy: str
    bench: Judge
    goal: Goal
    budget: Budget
    executor: Executor
    memory: Memory = field(default_factory=Memory)
    told: Told | None = None
    made: list[Try] = field(default_factory=list)
    _known: dict[tuple[tuple[str, Value], ...], Try] = field(default_factory=dict)

    def costs(self, asked: Sequence[Mapping[str, Value]], beyond: bool = False) -> list[float]:
        """What each of these settings costs; those that are new are judged.

        Raises ``Enough`` where there is no budget for all of them, unless ``beyond`` it; the tries
        that there was room for have been made then.
        """
        new = {_key(one): one for one in asked if _key(one) not in self._known}
        left = list(new.items())
        while left:
            room = len(left) if beyond else self.budget.left(len(self.made))
            if not room:
                raise Enough
            part = min(room, AT_ONCE)
            self._judge(dict(left[:part]))
            left = left[part:]
        return [self.goal.cost(self._known[_key(one)].figures) for one in asked]

    def of(self, settings: Mapping[str, Value]) -> Try:
        """What settings that have been tried came to."""
        return self._known[_key(settings)]

    @property
    def best(self) -> Try:
        """The best so far; of equals the one with the fewest settings that differ."""
        return min(self.made, key=lambda one: (*self.goal.key(one.figures), len(one.settings)))

    def _judge(self, new: Mapping[tuple[tuple[str, Value], ...], Mapping[str, Value]]) -> None:
        found = {key: self.memory.find(self.strategy, one) for key, one in new.items()}
        unknown = [key for key in new if found[key] is None]
        jobs = [StrategySpec(self.strategy, new[key]) for key in unknown]
        outcomes = figures(self.bench, jobs, self.executor, self._arrived)
        found.update(zip(unknown, outcomes, strict=True))
        for key, settings in new.items():
            came_to = found[key]
            assert came_to is not None
            one = Try(settings, came_to)
            self._known[key] = one
            self.made.append(one)
            if self.told is not None:
                self.told(one, len(self.made))

    def _arrived(self, judged: StrategySpec, came_to: Figures) -> None:
        self.memory.keep(self.strategy, judged.settings, came_to)


def _key(settings: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(settings.items()))
