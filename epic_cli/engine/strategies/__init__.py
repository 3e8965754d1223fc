"""The registry of strategies by name; each strategy is a file in the folder of its family.

``FAMILY/NAME.pyx`` is the strategy of that name (with ``-`` for ``_``): the class whose declaration
has the name. No list is kept. A family is one compiled module, loaded when one of its strategies is
used; a strategy compiled alone takes precedence. Other packages add theirs as entry points of the
group ``epic_cli.strategies``; a class can also be given by path, ``package.module:Class`` or
``./file.py:Class``. A composition has the name of the system that draws so (``systems``).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.failures import StrategyFailed, raised, raised_in
from epic_cli.engine.parameters import Value, find_nearest

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.places import Plugin, UnusablePlugin
    from epic_cli.engine.strategies.systems import System

DEFAULT = "epic"

#: The families, as lists show them: the folder of each, and what it is called.
FAMILIES = {
    "aim": "aim at a predicted point",
    "show": "show what was received",
    "chase": "chase the newest state",
    "fixed_delay": "draw a fixed time in the past",
    "adaptive_delay": "draw the past, on a clock that adapts",
    "correct": "extrapolate and correct",
    "filter": "filter",
}


class UnknownStrategy(ValueError):
    """An unknown strategy name, or a strategy that cannot be loaded or created."""


def list_names() -> list[str]:
    """Return the names of all usable strategies.

    The built-in strategies come first, by family, then those of other packages. A strategy that
    cannot be created without settings is not among the names but in ``list_unusable()``.
    """
    return [*_find_built_in(), *(name for name, reason in _list_plugins() if not reason)]


def list_remote_names() -> list[str]:
    """Return the names of the strategies that draw remote entities, which ``all`` stands for."""
    return [name for name in list_names() if not get_declaration(name).own_player]


def list_declarations() -> list[Declaration]:
    """Return the declarations of all usable strategies, in the order of ``list_names()``."""
    return [get_declaration(name) for name in list_names()]


def list_unusable() -> list[UnusablePlugin]:
    """Return the strategies of other packages that cannot be used, each with the reason."""
    return [reason for _, reason in _list_plugins() if reason]


def find_class(name: str) -> type[SmoothingStrategy]:
    """Load the class of the strategy with this name.

    Raise ``UnknownStrategy``, with the most similar name, and ``StrategyFailed`` where loading
    raises an error.
    """
    if not isinstance(name, str):
        raise TypeError(f"a strategy's name must be text, such as 'epic', not {name!r}")
    found = _find_class(name)
    if found is None:
        near = find_nearest(
            name,
            [
                *_find_built_in(),
                *_load_compositions(),
                *(plugin.name for plugin in _load_plugins()),
            ],
        )
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(list_names())}"
        raise UnknownStrategy(f"unknown strategy {name!r}; {hint}")
    return found


def is_built_in(name: str) -> bool:
    """Return True if the name is that of a built-in strategy or of a composition."""
    return name in _find_built_in() or name in _load_compositions()


def compose(name: str, settings: Mapping[str, Value]) -> tuple[str, dict[str, Value]]:
    """Return the strategy and settings that a system's name stands for.

    Return any other name and its settings unchanged.
    """
    system = None if name in _find_built_in() else _load_compositions().get(name)
    if system is None:
        return name, dict(settings)
    return system.base, {**system.settings, **settings}


def list_system_names() -> list[str]:
    """Return the names of the systems that are compositions of a strategy and settings."""
    return list(_load_compositions())


def create(name: str, settings: Mapping[str, Value] | None = None) -> SmoothingStrategy:
    """Create the strategy with this name and these settings.

    Raise ``UnknownStrategy``, ``SettingError`` or ``StrategyFailed``.
    """
    return make(find_class(name), compose(name, settings or {})[1], name)


def make(
    found: type[SmoothingStrategy], settings: Mapping[str, object], name: str = ""
) -> SmoothingStrategy:
    """Create a strategy of the class ``found``; ``name`` is used in error messages.

    Raise what ``create`` raises.
    """
    name = name or found.__qualname__
    construct = cast("Callable[..., SmoothingStrategy]", found)
    if _uses_engine_constructor(found):
        return construct(**settings)
    from epic_cli.engine import plain  # not needed for built-in ones

    given = plain.list_arguments(found, _load_declaration(found, name), settings)
    unfit = plain.fit(found, given)
    if unfit:
        raise UnknownStrategy(f"strategy {name!r} cannot be created: {unfit}")
    try:
        return construct(**given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # third-party code may fail in any way
        raise raised(found, "__init__", error) from error


def make_factory(
    name: str, settings: Mapping[str, Value] | None = None
) -> Callable[[], SmoothingStrategy]:
    """Return a function that creates a strategy with this name and these settings for each entity.

    Raise what ``create`` raises, at once. The settings of a built-in strategy are checked only
    then.
    """
    from epic_cli.engine.strategies.parts import Strategy

    first = create(name, settings)
    if isinstance(first, Strategy) and _uses_engine_constructor(type(first)):
        return first.create_equal
    return lambda: create(name, settings)


def checked(name: str, settings: Mapping[str, Value]) -> dict[str, Value]:
    """Check a strategy's settings and return them converted to their types.

    Raise ``UnknownStrategy`` or ``SettingError``.
    """
    values = get_declaration(name).values(settings)
    return {key: values[key] for key in settings}


def get_declaration(name: str) -> Declaration:
    """Return the declaration of the strategy with this name; raise what ``find`` raises."""
    declared = _load_declaration(find_class(name), name)
    place = _find_built_in().get(name)
    if place is not None:
        return declared._replace(family=FAMILIES[place.partition(".")[0]])
    system = _load_compositions().get(name)
    return declared if system is None else _declare_system(system)


def _declare_system(system: System) -> Declaration:
    """Return a system's declaration.

    Its base strategy's, with the composition's settings as defaults.
    """
    base = get_declaration(system.base)
    given = system.settings
    return base._replace(
        name=system.name,
        summary=f"{system.title}: the same as {system.strategy}",
        source=f"{system.source}, read in November 2026; {system.license}",
        proof=f"a composition; left out: {system.leaves_out}" if system.leaves_out else "",
        settings=tuple(
            each.replace_default(given[each.name]) if each.name in given else each
            for each in base.settings
        ),
    )


def _load_declaration(found: type, name: str) -> Declaration:
    if _uses_engine_constructor(found):
        return cast("Declaration", cast("Any", found).declaration)
    from epic_cli.engine import plain

    try:
        return plain.find_declaration(found, name)
    except plain.NotDeclared as error:
        raise UnknownStrategy(f"{name!r} is not a strategy: {error}") from error
    except Exception as error:  # third-party code may fail in any way
        raise raised(found, "import", error) from error


def _uses_engine_constructor(found: type) -> bool:
    """Return True if the class keeps the engine's constructor, which checks settings itself."""
    from epic_cli.engine.strategies.parts import Strategy

    return issubclass(found, Strategy) and found.__init__ is Strategy.__init__


def _find_class(name: str) -> type[SmoothingStrategy] | None:
    """Return the class of the strategy with this name, or None for an unknown name."""
    module = _find_built_in().get(name)
    if module is not None:
        return _load_built_in_class(module, name)
    if ":" not in name and name in _load_compositions():
        return _find_class(_load_compositions()[name].base)
    outright = ":" in name
    place = (
        name
        if outright
        else next((plugin.place for plugin in _load_plugins() if plugin.name == name), None)
    )
    if place is None:
        return None
    from epic_cli.engine.contract import METHODS
    from epic_cli.engine.places import NotFound, load_class
    from epic_cli.engine.trust import NotTrusted

    try:
        found = load_class(place, outright=outright)
    except (NotFound, NotTrusted) as error:
        raise UnknownStrategy(f"strategy {name!r} cannot be loaded: {error}") from error
    missing = [method for method in METHODS if not hasattr(found, method)]
    if missing:
        raise UnknownStrategy(f"{name!r} is not a strategy: it has no {', '.join(missing)}")
    return cast("type[SmoothingStrategy]", found)


@cache
def _load_built_in_class(module: str, name: str) -> type[SmoothingStrategy]:
    """Import the module of a built-in strategy and return its class.

    Raise ``UnknownStrategy`` and ``StrategyFailed``.
    """
    try:
        loaded = importlib.import_module(f"{__name__}.{module}")
    except Exception as error:
        raise raised_in(name, "", "import", error) from error
    for var in vars(loaded).values():
        declared = getattr(var, "declaration", None)
        if isinstance(var, type) and isinstance(declared, Declaration) and declared.name == name:
            return cast("type[SmoothingStrategy]", var)
    raise UnknownStrategy(f"{loaded.__name__} has no class that declares the name {name!r}")


@cache
def _find_built_in() -> dict[str, str]:
    """Return the module's name of each built-in strategy, by strategy name, in list order."""
    found = {}
    for family in FAMILIES:
        files = {file for place in __path__ for file in os.listdir(f"{place}/{family}")}  # noqa: PTH208
        own = sorted(file.removesuffix(".pyx") for file in files if file.endswith(".pyx"))
        alone = {file.partition(".")[0] for file in files if file.endswith(".so")}
        for file in own:
            found[file.replace("_", "-")] = f"{family}.{file}" if file in alone else family
    return found


def _load_compositions() -> Mapping[str, System]:
    from epic_cli.engine.strategies.systems import compositions  # not needed for built-in ones

    return compositions()


def _load_plugins() -> list[Plugin]:
    from epic_cli.engine.places import list_plugins  # not needed for built-in ones

    return list_plugins()


def _list_plugins() -> list[tuple[str, UnusablePlugin | None]]:
    """Return the name of each strategy of other packages, with an error if it is unusable."""
    from epic_cli.engine.places import UnusablePlugin

    taken = dict.fromkeys(
        [*_find_built_in(), *_load_compositions()],
        "a built-in strategy has that name: rename its entry point",
    )
    found: list[tuple[str, UnusablePlugin | None]] = []
    for plugin in _load_plugins():
        reason = taken.get(plugin.name, "")
        if not reason:
            other = plugin.distribution or "another package"
            taken[plugin.name] = f"{other} has that name already: rename its entry point"
            try:
                create(plugin.name)
            except (UnknownStrategy, StrategyFailed) as error:
                reason = str(error)
        flaw = UnusablePlugin(plugin.name, plugin.distribution, reason) if reason else None
        found.append((plugin.name, flaw))
    return found
