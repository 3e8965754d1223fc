"""Tests of the loading of strategies: by their file, by an entry point, or by path."""

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from epic_cli import (
    Declaration,
    Number,
    Packet,
    SettingError,
    StrategyFailed,
    UnknownStrategy,
    replay,
    strategies,
)
from epic_cli.engine import build
from epic_cli.engine import strategies as registry
from epic_cli.engine.parameters import Value
from epic_cli.engine.strategies import create, find_class, get_declaration, list_names

PACKAGE = registry.__name__

PLAIN = Declaration(
    name="plain",
    summary="a test",
    family="tests",
    settings=(Number("speed", 1.0, "how fast", "m/s", -2, 10),),
)


def test_the_catalogue_lists_every_strategy() -> None:
    assert [said.name for said in strategies()] == list_names()


def test_every_file_is_the_strategy_of_its_name() -> None:
    folder = Path(str(registry.__file__)).parent
    families = [folder / family for family in registry.FAMILIES]
    own = {path.stem for family in families for path in family.glob("*.pyx")}
    assert {name.replace("-", "_") for name in list_names()} == own
    assert {*folder.glob("*/*.pyx")} <= {
        path for family in [*families, folder / "parts"] for path in family.glob("*.pyx")
    }


@pytest.mark.parametrize("name", list_names())
def test_a_strategy_is_found_by_its_name_in_its_family(name: str) -> None:
    family = find_class(name).__module__.rpartition(".")[2]
    assert get_declaration(name).name == name
    assert get_declaration(name).family == registry.FAMILIES[family]


def test_lists_go_by_family() -> None:
    families = [strategy.family for strategy in strategies()]
    assert list(dict.fromkeys(families)) == list(registry.FAMILIES.values())
    assert families == sorted(families, key=list(registry.FAMILIES.values()).index)


def test_an_unknown_strategy_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownStrategy, match="unknown strategy 'epik'; did you mean 'epic'"):
        find_class("epik")
    with pytest.raises(UnknownStrategy, match=r"there are epic, extrapolator, .*, one-euro"):
        find_class("zzzzz")


@pytest.mark.parametrize(
    "name", ["dead_reckoning", "parts", "filter", "__init__", "dis.models", "models", "", "Épic"]
)
def test_what_is_no_name_of_a_strategy_is_refused(name: str) -> None:
    with pytest.raises(UnknownStrategy, match="unknown strategy"):
        find_class(name)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("no_such_module:Thing", "No module named"),
        ("epic_cli:Thing", "has no attribute 'Thing'"),
        ("epic_cli:replay", "is not a class"),
        ("epic_cli:Packet", "it has no reset, update, read"),
        (":", "cannot be loaded"),
        ("epic_cli:", "cannot be loaded"),
        (":Thing", "cannot be loaded"),
        ("..:Thing", "cannot be loaded"),
    ],
)
def test_a_class_that_cannot_be_loaded_is_refused(place: str, reason: str) -> None:
    with pytest.raises(UnknownStrategy, match=reason):
        find_class(place)


class Undeclared:
    """A strategy without a declaration that draws nothing."""

    def __init__(self, **settings: object) -> None:
        self.settings = settings

    def reset(self) -> None:
        """Do nothing."""

    update = read = reset


def settings_of(place: str, given: dict[str, Value]) -> object:
    made = create(place, given)
    assert isinstance(made, Undeclared)
    return made.settings


def test_a_class_can_be_named_outright(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.engine.contract.Undeclared", Undeclared, raising=False)
    place = "epic_cli.engine.contract:Undeclared"
    assert issubclass(find_class(place), Undeclared)
    assert settings_of(place, {"speed": "fast"}) == {"speed": "fast"}
    assert get_declaration(place).summary == "A strategy without a declaration that draws nothing."


def test_a_class_that_does_not_take_the_settings_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("epic_cli.engine.contract.Undeclared", Undeclared, raising=False)
    with pytest.raises(StrategyFailed, match=r"created: TypeError: .* values for argument 'self'$"):
        create("epic_cli.engine.contract:Undeclared", {"self": 1})


def test_a_declared_class_gets_its_settings_checked_and_converted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Declared(Undeclared):
        declaration = PLAIN

    monkeypatch.setattr("epic_cli.engine.contract.Declared", Declared, raising=False)
    place = "epic_cli.engine.contract:Declared"
    assert settings_of(place, {}) == {"speed": 1.0}
    assert settings_of(place, {"speed": "3"}) == {"speed": 3.0}
    with pytest.raises(SettingError, match="must be -2 to 10 m/s"):
        create(place, {"speed": 11})


# ------------------------------------------------------------------------ what a contributor does

CONTRIBUTED = '''
from epic_cli.engine.packets cimport HELD, NONE, Packet, Sample, Vec3
from epic_cli.engine.strategies.parts cimport Strategy

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Choice, Number, Switch


cpdef enum class Axis:
    X
    UP_AND_DOWN


cdef class AboveIt(Strategy):
    """Shows each packet with an offset."""

    declaration = Declaration(
        name="above-it", summary="a contribution",
        settings=(
            Number("height", 1.0, "how far above it", "m", 0, 10),
            Number("delay", "auto", "unused", "s", 0, 1, unset="auto"),
            Choice("axis", "x", "along which axis", Axis),
            Switch("mirrored", "off", "below it instead"),
        ),
    )

    cdef public double height
    cdef public Axis axis
    cdef public bint mirrored
    cdef readonly bint is_auto
    cdef bint empty
    cdef Vec3[double] position

    def configure(self, *, delay):
        self.is_auto = delay != delay

    cdef void clear(self) noexcept nogil:
        self.empty = True

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil:
        cdef double offset = -self.height if self.mirrored else self.height
        self.empty = False
        self.position = packet.position
        if self.axis == Axis.X:
            self.position.x += offset
        else:
            self.position.z += offset
        return True

    cdef void draw(self, double at, Sample& sample) noexcept nogil:
        sample.position = self.position
        sample.status = NONE if self.empty else HELD
'''

COMPILE = """
import runpy
from setuptools import Distribution

command = runpy.run_path("epic_cli/engine/build.py")["BuildEngine"](Distribution())
command.inplace = True
command.ensure_finalized()
command.run()
"""


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a second folder for a family of strategies."""
    added = tmp_path.joinpath(*PACKAGE.split("."), "show")
    without = shutil.ignore_patterns("*.so", "*.pyx", "__pycache__")
    shutil.copytree(build.HERE, tmp_path / "epic_cli/engine", ignore=without)
    package = importlib.import_module(f"{PACKAGE}.show")
    monkeypatch.setattr(registry, "__path__", [*registry.__path__, str(added.parent)])
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(added)])
    before = set(sys.modules)
    registry._find_built_in.cache_clear()
    yield added
    registry._find_built_in.cache_clear()
    for module in set(sys.modules) - before:
        if module.startswith(PACKAGE):
            del sys.modules[module]
            monkeypatch.delattr(package, module.rpartition(".")[2], raising=False)


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a compiler")
def test_a_file_put_into_the_folder_and_compiled_alone_is_a_strategy(
    family: Path, tmp_path: Path
) -> None:
    pytest.importorskip("Cython")
    source = family / "above_it.pyx"
    source.write_text(CONTRIBUTED)
    subprocess.run(
        [sys.executable, "-c", COMPILE],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=tmp_path,
        env={**os.environ, "EPIC_ALONE": "above-it", "EPIC_COMPILED": "kept"},
    )
    listed = list_names()
    assert listed.index("above-it") == listed.index("dumb-terminal") - 1
    assert [strategy.name for strategy in strategies()] == listed
    assert get_declaration("above-it").family == "show what was received"
    packet = Packet((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), 0.0)
    settings: dict[str, Any] = {"height": 4, "axis": "up-and-down", "mirrored": "on"}
    assert next(iter(replay([packet], "above-it", **settings))).position == (1, 2, -1)
    made: Any = create("above-it", settings)
    assert (made.height, made.axis.name, made.mirrored) == (4, "UP_AND_DOWN", True)
    assert made.is_auto
    with_delay: Any = create("above-it", {"delay": 0.5})
    assert not with_delay.is_auto
    with pytest.raises(SettingError, match="must be x or up-and-down"):
        create("above-it", {"axis": "y"})


def test_a_file_without_the_strategy_of_its_name_says_so(family: Path) -> None:
    family.joinpath("nothing.pyx").touch()
    with pytest.raises(UnknownStrategy, match="show has no class that declares the name 'nothing'"):
        find_class("nothing")


def test_a_module_that_cannot_be_loaded_says_so(family: Path) -> None:
    family.joinpath("broken.pyx").touch()
    family.joinpath(f"broken{EXTENSION_SUFFIXES[-1]}").touch()
    with pytest.raises(StrategyFailed, match="broken failed while loading: ImportError"):
        find_class("broken")
