"""Custom strategies: found by path, or as entry points of installed packages."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from epic_cli.engine.failures import StrategyFailed, raised_in, trace_frames
from epic_cli.engine.trust import check_code

GROUP = "epic_cli.strategies"

#: With "off" in this variable, entry points are not looked for.
SWITCH = "EPIC_ENTRY_POINTS"


class NotFound(ValueError):
    """An error: the module does not exist, or has no such class."""


class Plugin(NamedTuple):
    """An entry point of an installed package.

    ``distribution`` is its name and version, if known.
    """

    name: str
    place: str
    distribution: str


class UnusablePlugin(NamedTuple):
    """An entry point that cannot be used, with the reason.

    ``what`` is its kind, such as a strategy.
    """

    name: str
    distribution: str
    reason: str
    what: str = "strategy"

    def __str__(self) -> str:
        package = f" of {self.distribution}" if self.distribution else ""
        return f"the {self.what} {self.name!r}{package} is left out: {self.reason}"


def list_plugins(group: str = GROUP) -> list[Plugin]:
    """Return the entry points of installed packages, without loading them."""
    if os.environ.get(SWITCH, "").lower() == "off":
        return []
    if not _may_have_entry_points(f"[{group}]"):
        return []
    from importlib.metadata import entry_points  # slow to load, and rarely needed

    found = []
    for point in entry_points(group=group):
        dist = getattr(point, "dist", None)
        place = point.value.partition("[")[0].strip()
        found.append(Plugin(point.name, place, f"{dist.name} {dist.version}" if dist else ""))
    return sorted(found)


def _may_have_entry_points(mark: str) -> bool:
    """Return True if an installed package may have entry points of this group."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208
        except FileNotFoundError:
            continue
        except OSError:
            return True
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                with suppress(OSError, UnicodeDecodeError):
                    if mark in Path(folder, name, "entry_points.txt").read_text("utf-8"):
                        return True
            elif name.endswith(".egg"):
                return True
    return False


def load_class(place: str, *, outright: bool) -> type:
    """Load the class at ``package.module:Class`` or, if ``outright``, at ``./file.py:Class``.

    With ``outright``, the current folder is searched as well. Raise ``NotFound``, ``NotTrusted``
    for code that only an untrusted file names, and ``StrategyFailed`` where loading it raises
    something.
    """
    path, _, attributes = place.rpartition(":")
    is_file = outright and path.endswith(".py")
    if outright:
        check_code(os.path.realpath(path) if is_file else path)
    module = _load_file(path) if is_file else _load_module(path, outright)
    try:
        found = reduce(getattr, attributes.split("."), module)
    except AttributeError as error:
        raise NotFound(
            f"{error}{_hint_at_shadowed_file(path, module) if outright else ''}"
        ) from error
    except Exception as error:  # other people's code may fail in any way
        raise raised_in(place, module.__file__ or "", "import", error) from error
    if not isinstance(found, type):
        raise NotFound(f"{place} is not a class: write MODULE:CLASS")
    return found


def make_absolute(place: str) -> str:
    """Return a strategy's place in a form that is valid in every folder.

    The name of a module in the current folder becomes the path of its file.
    """
    path, _, attributes = place.rpartition(":")
    file = path if path.endswith(".py") else getattr(sys.modules.get(path), "__file__", None) or ""
    here = os.getcwd()  # noqa: PTH109
    is_here = path.endswith(".py") or os.path.realpath(file).startswith(os.path.realpath(here))
    return f"{os.path.abspath(file)}:{attributes}" if file and is_here else place  # noqa: PTH100


def _load_module(path: str, outright: bool) -> ModuleType:
    if not all(part.isidentifier() for part in path.split(".")):
        raise NotFound(f"{path!r} is not a module name: write package.module:Class")
    top = path.partition(".")[0]
    here = os.getcwd()  # noqa: PTH109 - pathlib is slow to load
    place = os.path.join(here, top)  # noqa: PTH118
    is_here = os.path.isfile(f"{place}.py") or os.path.isdir(place)  # noqa: PTH112, PTH113
    if outright and here not in sys.path and is_here:
        sys.path.append(here)  # after installed modules, so as not to shadow them
        importlib.invalidate_caches()
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            raise NotFound(str(error)) from error
        raise raised_in(path, "", "import", error) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # other people's code may fail in any way
        raise _make_failure(path, path.rpartition(".")[2], error) from error


#: The modules that were loaded from a file, by its path, with the time of the file.
_loaded: dict[str, tuple[int, ModuleType]] = {}


def _load_file(path: str) -> ModuleType:
    """Load the module in a file; reload it if the file has changed."""
    from importlib.util import module_from_spec, spec_from_file_location

    full = os.path.realpath(path)
    try:
        changed = os.stat(full).st_mtime_ns  # noqa: PTH116
    except OSError as error:
        raise NotFound(f"{path}: {error.strerror}") from error
    if full in _loaded and _loaded[full][0] == changed:
        return _loaded[full][1]
    spec = spec_from_file_location(path, full)
    if spec is None or spec.loader is None:
        raise NotFound(f"{path} is not a Python file")
    module = module_from_spec(spec)
    folder = os.path.dirname(full)  # noqa: PTH120
    if folder not in sys.path:
        sys.path.append(folder)  # for what it imports from beside it
        importlib.invalidate_caches()
    sys.modules[path] = module  # where dataclasses, among others, look for it
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # other people's code may fail in any way
        del sys.modules[path]
        raise raised_in(path, full, "import", error) from error
    _loaded[full] = changed, module
    return module


def _make_failure(path: str, name: str, error: BaseException) -> StrategyFailed:
    """Return the failure for an exception of a module, with the file found in the traceback."""
    home = ""
    for file, _ in trace_frames(error):
        stem = os.path.basename(file).partition(".")[0]  # noqa: PTH119
        if stem == name or file.endswith(os.path.join(name, "__init__.py")):  # noqa: PTH118
            home = file
    return raised_in(path, home, "import", error)


def _hint_at_shadowed_file(path: str, module: ModuleType) -> str:
    """Return a hint if an installed module shadows a file in the current folder."""
    file = f"./{path.replace('.', '/')}.py"
    there = os.path.isfile(file)  # noqa: PTH113
    if not there or os.path.realpath(module.__file__ or "") == os.path.realpath(file):
        return ""
    return f"; for the file in this folder, write {file}:NAME"
