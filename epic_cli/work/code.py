"""Identification of a custom strategy's code: its module and all modules that it imports.

A journal's results hold for one state of this code. Modules are found as the import system finds
them, through the import statements of their source, also those in functions. Installed packages
count by version, everything else by content. Source that imports, runs or reads anything that no
such statement names raises ``UnknownCode``.
"""

from __future__ import annotations

import ast
import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec, resolve_name
from typing import Any, NamedTuple

from epic_cli.engine.failures import Portable
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import find_class, is_built_in
from epic_cli.work.journal import digest_file

#: Calls whose effect the source does not show.
_HIDING = {"__import__", "exec", "eval", "compile", "open", "import_module", "run_path",
           "exec_module", "load_module", "read_text", "read_bytes"}  # fmt: skip

#: Folders of installed modules, which have a version.
_INSTALLED = ("site-packages", "dist-packages")


class UnknownCode(Portable, ValueError):
    """An error: a strategy's code cannot be determined; ``place`` is the line that prevents it."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"{place}: {what}, so it is unknown what the results depend on: leave out the journal"
        )


class _ModuleSource(NamedTuple):
    """A module: its full name, its file, and whether it is a package."""

    name: str
    path: str
    is_package: bool


def list_code(strategy: str) -> list[str]:
    """Return the modules of a strategy's code, each with a version or digest.

    Empty for a built-in strategy. Raises ``UnknownCode``, and ``OSError``.
    """
    if is_built_in(strategy):
        return []
    name = find_class(strategy).__module__
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if path is None:
        raise UnknownCode(strategy, "the strategy has no source file: put its class into one")
    found: dict[str, str] = {}
    left = [_ModuleSource(name, path, hasattr(module, "__path__"))]
    known: dict[str, ModuleSpec | None] = {}
    while left:
        one = left.pop()
        owner = _find_installed_package(one)
        identity = owner or digest_file(one.path)
        found[owner or one.name.rpartition("/")[2]] = identity
        if owner is None and one.path.endswith((".py", ".pyw")):
            for imported in _iterate_imports(one):
                if imported not in known:
                    known[imported] = spec = _find_module(imported)
                    if spec is not None and spec.origin and os.path.isfile(spec.origin):  # noqa: PTH113
                        is_package = spec.submodule_search_locations is not None
                        left.append(_ModuleSource(imported, spec.origin, is_package))
    return [f"python=={platform.python_version()}", *(f"{a} {b}" for a, b in sorted(found.items()))]


def identify_strategy(strategy: Any) -> list[str]:
    """Return the values of a strategy that decide results: name, settings, and a custom one's code.

    Raises ``UnknownCode``, and ``OSError``.
    """
    assert isinstance(strategy, StrategySpec)
    settings = sorted(f"{name}={value!r}" for name, value in strategy.settings.items())
    return [strategy.label, strategy.name, *settings, *list_code(strategy.name)]


def _iterate_imports(source: _ModuleSource) -> Iterator[str]:
    """Yield the names of the modules that a module may import, with their parent packages."""
    with open(source.path, "rb") as stream:  # noqa: PTH123
        try:
            tree = ast.parse(stream.read())
        except (SyntaxError, ValueError) as error:
            raise UnknownCode(source.path, "the file cannot be parsed") from error
    package = source.name if source.is_package else source.name.rpartition(".")[0]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            with contextlib.suppress(ImportError):  # as it is where that runs
                base = resolve_name("." * node.level + (node.module or ""), package)
                names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in _HIDING:
                raise UnknownCode(
                    f"{source.path}:{node.lineno}",
                    f"the code calls {name}(), which hides what results depend on: leave it out",
                )
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def _find_module(name: str) -> ModuleSpec | None:
    """Return a module's spec.

    None for the standard library's, this program's and missing modules.
    """
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "epic_cli":
        return None
    module = sys.modules.get(name)
    try:
        return getattr(module, "__spec__", None) or find_spec(name)
    except (ImportError, ValueError, AttributeError):  # an attribute, or an optional import
        return None


@cache
def _list_distributions() -> dict[str, str]:
    return {top: "; ".join(f"{name}=={version(name)}" for name in sorted(set(names)))
            for top, names in packages_distributions().items()}  # fmt: skip


def _find_installed_package(source: _ModuleSource) -> str | None:
    """Return the distribution and version that installed a module; None for other modules."""
    if not any(f"{os.sep}{name}{os.sep}" in source.path for name in _INSTALLED):
        return None
    return _list_distributions().get(source.name.partition(".")[0])
