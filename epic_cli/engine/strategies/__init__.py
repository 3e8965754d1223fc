"""The strategies, one file each, and the registry that finds them by name.

A module here, or ``NAME/NAME`` where helpers of its own stand beside it, is the strategy of that
name (with ``-`` for ``_``): the one class in it that has a declaration. There is no list to keep.
It is loaded when it is asked for. Other packages add theirs as entry points of the group
``epic_cli.strategies``; a class can also be named outright, ``package.module:Class``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, cast

from epic_cli.engine.declaration import Declaration, nearest
from epic_cli.engine.settings import Value

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

GROUP = "epic_cli.strategies"
DEFAULT = "epic"


class UnknownStrategy(ValueError):
    """No strategy has this name."""


def names() -> list[str]:
    """The names of all strategies: the built-in ones by rank, then those of other packages."""
    built_in = sorted(_built_in(), key=lambda name: (declaration(name).rank, name))
    return [*built_in, *(name for name in _entry_points() if name not in built_in)]


def find(name: str) -> type[SmoothingStrategy]:
    """The class of a strategy; raises ``UnknownStrategy``, with the nearest name."""
    try:
        found = _found(name)
    except Exception as error:  # other people's code may fail in any way
        raise UnknownStrategy(f"strategy {name!r} cannot be loaded: {error}") from error
    if found is None:
        near = nearest(name, [*_built_in(), *_entry_points()])
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(names())}"
        raise UnknownStrategy(f"there is no strategy {name!r}; {hint}")
    missing = [method for method in ("reset", "update", "read") if not hasattr(found, method)]
    if missing:
        raise UnknownStrategy(f"{name!r} is no strategy: it has no {', '.join(missing)}")
    return cast("type[SmoothingStrategy]", found)


def create(name: str, settings: Mapping[str, Value] | None = None) -> SmoothingStrategy:
    """A new strategy; raises ``UnknownStrategy`` or ``SettingError``."""
    given = checked(name, settings or {})
    try:
        return cast("Callable[..., SmoothingStrategy]", find(name))(**given)
    except TypeError as error:
        raise UnknownStrategy(f"strategy {name!r} cannot be made: {error}") from error


def maker(
    name: str, settings: Mapping[str, Value] | None = None
) -> Callable[[], SmoothingStrategy]:
    """What makes such strategies, for as many entities as there are.

    Raises ``UnknownStrategy`` or ``SettingError`` at once. The settings are checked only then.
    """
    from epic_cli.engine.strategy import Strategy

    first = create(name, settings)
    if isinstance(first, Strategy) and type(first).__init__ is Strategy.__init__:
        return first.another
    return lambda: create(name, settings)


def checked(name: str, settings: Mapping[str, Value]) -> dict[str, Value]:
    """The settings as they are written; a class without a declaration takes them as they are.

    Raises ``UnknownStrategy`` or ``SettingError``.
    """
    declared = _declared(find(name))
    if declared is None:
        return dict(settings)
    values = declared.values(settings)
    return {key: values[key] for key in settings}


def declaration(name: str) -> Declaration:
    """What a strategy says of itself; a class without a declaration gets one of its docstring."""
    found = find(name)
    declared = _declared(found)
    if declared is not None:
        return declared
    summary = (found.__doc__ or "").strip().partition("\n")[0]
    return Declaration(name=name, summary=summary, family="other packages", source=found.__module__)


def _declared(found: type) -> Declaration | None:
    declared = getattr(found, "declaration", None)
    return declared if isinstance(declared, Declaration) else None


def _found(name: str) -> type | None:
    """The class of this name; None: there is none. Raises whatever loading it raises."""
    module = _module(name)
    if module is not None:
        return _class_in(module)
    place = name if ":" in name else _entry_points().get(name)
    if place is None:
        return None
    path, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(path), attribute)
    if not isinstance(found, type):
        raise TypeError(f"{place} is no class")
    return found


def _module(name: str) -> ModuleType | None:
    """The module of a built-in strategy; None: there is none."""
    own = name.replace("-", "_")
    if "_" in name or not own.isidentifier():
        return None
    path = __name__
    try:
        while True:
            path = f"{path}.{own}"
            module = importlib.import_module(path)
            if not hasattr(module, "__path__"):
                return module
    except ModuleNotFoundError as error:
        if error.name == path:
            return None
        raise


def _class_in(module: ModuleType) -> type:
    classes = [one for one in vars(module).values() if isinstance(one, type)]
    declared = [
        one
        for one in classes
        if one.__module__ == module.__name__
        and isinstance(vars(one).get("declaration"), Declaration)
    ]
    if len(declared) != 1:
        raise TypeError(f"{module.__name__} has {len(declared)} classes with a declaration, not 1")
    return declared[0]


def _built_in() -> list[str]:
    """The names of the strategies in this package, in no order."""
    from pkgutil import iter_modules  # only lists need it

    def is_strategy(package: str) -> bool:
        inside = iter_modules([f"{place}/{package}" for place in __path__])
        return any(module.name == package for module in inside)

    return [
        module.name.replace("_", "-")
        for module in iter_modules(__path__)
        if not module.ispkg or is_strategy(module.name)
    ]


def _entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points  # slow to load, and rarely needed

    return {point.name: point.value for point in entry_points(group=GROUP)}
