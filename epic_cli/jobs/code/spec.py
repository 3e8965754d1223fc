"""The spec: a strategy with its settings, a language, and whether to add a ``main`` program."""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import NamedTuple

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.code import sources


class CodeSpec(NamedTuple):
    """The spec of ``epic code``: a strategy with its settings, and a language by its name.

    ``main``: with the lines that make a program of it, which reads packets and prints rows;
    ``rotations``: what it draws turns as well. ``engine``: with the vectors of the engine that the
    language is used in. ``file``: the name of the file that is written.
    """

    strategy: StrategySpec
    language: str
    main: bool = False
    rotations: bool = False
    engine: bool = False
    file: str = ""


@cache
def strategies() -> tuple[str, ...]:
    """Return the names of the strategies that ``epic code`` can write."""
    modules = (module.name for module in pkgutil.iter_modules(sources.__path__))
    return tuple(name.replace("_", "-") for name in modules if name != "words")


#: Compositions that draw what these strategies draw; a name in braces stands for a setting's value.
#: The second part is the settings that must have their defaults.
_EQUIVALENTS = {
    "lerp": ("chase+how=lerp+time={lerp_time}", ()),
    "snapshot": ("buffer+delay=0.2+keep=7", ("interpolation_time", "step", "clock")),
}


def find_equivalent(strategy: StrategySpec) -> str:
    """Return the composition with code that draws what a strategy draws; empty if none is known."""
    composition, fixed = _EQUIVALENTS.get(strategy.name, ("", ()))
    if set(fixed) & set(strategy.settings):
        return ""
    return composition.format(**strategy.values)
