"""The strategies, one file each, and the registry that finds them by name.

A strategy's module is loaded when it is asked for. Other packages add theirs as entry points
of the group ``epic_cli.strategies``; a class can also be named outright, ``package.module:Class``.
"""

from __future__ import annotations

import importlib
from typing import Any

from epic_cli.engine.declaration import Declaration, nearest

GROUP = "epic_cli.strategies"
DEFAULT = "epic"


class UnknownStrategy(ValueError):
    """No strategy has this name."""


def names() -> list[str]:
    """The names of all strategies: the built-in ones, then those of other packages."""
    return [*BUILT_IN, *(name for name in _entry_points() if name not in BUILT_IN)]


def find(name: str) -> type[Any]:
    """The class of a strategy; raises ``UnknownStrategy``, with the nearest name."""
    place = BUILT_IN.get(name) or (name if ":" in name else _entry_points().get(name))
    if place is None:
        near = nearest(name, names())
        hint = f"did you mean {near!r}?" if near else "'epic strategies' lists them"
        raise UnknownStrategy(f"there is no strategy {name!r}; {hint}")
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # other people's code may fail in any way
        raise UnknownStrategy(f"strategy {name!r} cannot be loaded: {error}") from error
    if not isinstance(found, type):
        raise UnknownStrategy(f"strategy {name!r} cannot be loaded: {place} is no class")
    missing = [method for method in ("reset", "update", "read") if not hasattr(found, method)]
    if missing:
        raise UnknownStrategy(f"{name!r} is no strategy: it has no {', '.join(missing)}")
    return found


def create(name: str, settings: dict[str, Any] | None = None) -> Any:
    """A new strategy; raises ``UnknownStrategy`` or ``SettingError``."""
    found = find(name)
    declaration = getattr(found, "declaration", None)
    given = dict(settings or {})
    if isinstance(declaration, Declaration):
        given = {key: value for key, value in declaration.values(given).items() if key in given}
    try:
        return found(**given)
    except TypeError as error:
        raise UnknownStrategy(f"strategy {name!r} cannot be made: {error}") from error


def declaration(name: str) -> Declaration:
    """What a strategy says of itself; a class without a declaration gets one of its docstring."""
    found = find(name)
    declared = getattr(found, "declaration", None)
    if isinstance(declared, Declaration):
        return declared
    summary = (found.__doc__ or "").strip().partition("\n")[0]
    return Declaration(name, summary, "other packages", (), "", "", found.__module__, "")


def _entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points  # slow to load, and rarely needed

    return {point.name: point.value for point in entry_points(group=GROUP)}


#: Where each built-in strategy is.
BUILT_IN = {
    "epic": "epic_cli.engine.strategies.epic:Epic",
    "extrapolator": "epic_cli.engine.strategies.extrapolator:Extrapolator",
    "dumb-terminal": "epic_cli.engine.strategies.dumb_terminal:DumbTerminal",
    "lerp": "epic_cli.engine.strategies.lerp:Lerp",
    "local-perception": "epic_cli.engine.strategies.local_perception:LocalPerception",
    "snapshot": "epic_cli.engine.strategies.snapshot:Snapshot",
    "dead-reckoning": "epic_cli.engine.strategies.dead_reckoning:DeadReckoning",
    "mirror": "epic_cli.engine.strategies.mirror:Mirror",
    "geckos": "epic_cli.engine.strategies.geckos:Geckos",
    "unity-ngo": "epic_cli.engine.strategies.unity_ngo.unity_ngo:UnityNgo",
    "source": "epic_cli.engine.strategies.source:Source",
    "quake3": "epic_cli.engine.strategies.quake3.quake3:Quake3",
    "hermite": "epic_cli.engine.strategies.hermite:Hermite",
    "gambetta": "epic_cli.engine.strategies.gambetta:Gambetta",
    "james-frowen": "epic_cli.engine.strategies.james_frowen:JamesFrowen",
    "one-euro": "epic_cli.engine.strategies.one_euro:OneEuro",
    "alpha-beta": "epic_cli.engine.strategies.alpha_beta:AlphaBeta",
    "kalman": "epic_cli.engine.strategies.kalman:Kalman",
    "dis": "epic_cli.engine.strategies.dis.dis:Dis",
    "projective": "epic_cli.engine.strategies.projective:Projective",
    "unreal": "epic_cli.engine.strategies.unreal:Unreal",
    "robocat": "epic_cli.engine.strategies.robocat:Robocat",
    "spline": "epic_cli.engine.strategies.spline.spline:Spline",
}
