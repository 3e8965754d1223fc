"""What a custom strategy consists of: its module, and what that imports, down to what is installed.

Results in a journal hold for one state of all of this. Modules are found as the import system
finds them, by the import statements of their source, also those in functions. Of what is installed
the version counts, of everything else the content. Source that imports, runs or reads what no such
statement names cannot be known: ``UnknownCode``.
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
from epic_cli.engine.strategies import find, is_built_in
from epic_cli.work.journal import digest_of

#: Calls whose effect depends on what the source does not show.
_HIDING = {"__import__", "exec", "eval", "compile", "open", "import_module", "run_path",
           "exec_module", "load_module", "read_text", "read_bytes"}  # fmt: skip

#: Packages whose modules are installed with a version.
_INSTALLED = ("site-packages", "dist-packages")


class UnknownCode(Portable, ValueError):
    """A strategy whose code cannot be known: ``place`` is where that shows."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(
            f"{place}: {what}: what results depend on is unknown; leave out the journal"
        )


class _Source(NamedTuple):
    """A module: its full name, its file, and whether it is a package."""

    name: str
    path: str
    is_package: bool


def code_of(strategy: str) -> list[str]:
    """What a strategy consists of, each with its version or digest; nothing for a built-in one.

    Raises ``UnknownCode``, and ``OSError``.
    """
    if is_built_in(strategy):
        return []
    name = find(strategy).__module__
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if path is None:
        raise UnknownCode(strategy, "it has no source")
    found: dict[str, str] = {}
    left = [_Source(name, path, hasattr(module, "__path__"))]
    known: dict[str, ModuleSpec | None] = {}
    while left:
        one = left.pop()
        owner = _distribution(one)
        identity = owner or digest_of(one.path)
        found[owner or one.name.rpartition("/")[2]] = identity
        if owner is None and one.path.endswith((".py", ".pyw")):
            for imported in _imports(one):
                if imported not in known:
                    known[imported] = spec = _spec(imported)
                    if spec is not None and spec.origin and os.path.isfile(spec.origin):  # noqa: PTH113
                        is_package = spec.submodule_search_locations is not None
                        left.append(_Source(imported, spec.origin, is_package))
    return [f"python=={platform.python_version()}", *(f"{a} {b}" for a, b in sorted(found.items()))]


def strategy_identity(strategy: Any) -> list[str]:
    """What results depend on: a strategy with its settings, and the code of a custom one.

    Raises ``UnknownCode``, and ``OSError``.
    """
    assert isinstance(strategy, StrategySpec)
    settings = sorted(f"{name}={value!r}" for name, value in strategy.settings.items())
    return [strategy.label, strategy.name, *settings, *code_of(strategy.name)]


def _imports(source: _Source) -> Iterator[str]:
    """The modules that a module may import, with the packages that they are in."""
    with open(source.path, "rb") as stream:  # noqa: PTH123
        try:
            tree = ast.parse(stream.read())
        except (SyntaxError, ValueError) as error:
            raise UnknownCode(source.path, "it cannot be parsed") from error
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
                raise UnknownCode(f"{source.path}:{node.lineno}", f"it calls {name}()")
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is; None: part of Python or of this program, or there is no such module."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "epic_cli":
        return None
    module = sys.modules.get(name)
    try:
        return getattr(module, "__spec__", None) or find_spec(name)
    except (ImportError, ValueError, AttributeError):  # an attribute, or an optional import
        return None


@cache
def _distributions() -> dict[str, str]:
    return {top: "; ".join(f"{name}=={version(name)}" for name in sorted(set(names)))
            for top, names in packages_distributions().items()}  # fmt: skip


def _distribution(source: _Source) -> str | None:
    """What has installed a module, with its version; None: nothing has."""
    if not any(f"{os.sep}{name}{os.sep}" in source.path for name in _INSTALLED):
        return None
    return _distributions().get(source.name.partition(".")[0])
