"""Tests of the engine's build, as far as possible without building."""

import sys
import sysconfig
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

from epic_cli.engine import build


def test_what_would_be_found_and_is_not_built_any_more_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").mkdir()
    version = sysconfig.get_config_var("EXT_SUFFIX")
    for name in ("one.pyx", "__init__.abi3.so", f"__init__{version}", "one.abi3.so", "one.py"):
        (tmp_path / "text" / name).touch()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/__init__.abi3.so").touch()
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    command = build.BuildEngine(Distribution())
    command.compiler = type("Compiler", (), {"compiler_type": "unix", "compiler": ["g++"]})()
    command.inplace = True
    with pytest.raises(PlatformError):
        command.build_extensions()
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert left == ["text/__init__.abi3.so", "text/one.py", "text/one.pyx"]


def test_a_room_is_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    for name in ("text/b.pyx", "text/a.pyx", "strategies/slow/dis.pyx", "strategies/slow/lerp.pyx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {extension.name: extension.sources for extension in build.make_extensions()}
    assert found == {
        "strategies.slow.__init__": ["strategies/slow/dis.pyx", "strategies/slow/lerp.pyx"],
        "text.__init__": ["text/a.pyx", "text/b.pyx"],
    }
    monkeypatch.setenv("EPIC_ALONE", "lerp")
    (alone,) = build.make_extensions()
    assert (alone.name, alone.sources) == ("strategies.slow.lerp", ["strategies/slow/lerp.pyx"])
    monkeypatch.setenv("EPIC_ALONE", "leap")
    with pytest.raises(PlatformError, match="EPIC_ALONE=leap: unknown strategy"):
        build.make_extensions()


def test_what_was_compiled_is_taken_again_if_all_that_it_was_made_of_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, kept = tmp_path / "tree/engine", tmp_path / "kept"
    for name in ("one/one.pyx", "two/two.pyx", "shared.pxd"):
        (engine / name).parent.mkdir(parents=True, exist_ok=True)
        (engine / name).write_text(name)
    monkeypatch.chdir(engine.parent)
    for name, place in (("HERE", engine), ("ROOT", engine.parent), ("COMPILED", kept)):
        monkeypatch.setattr(build, name, place)
    compiled: list[str] = []

    def compile_(self: build_ext, module: Extension) -> None:
        compiled.append(module.name)
        built = Path(self.get_ext_fullpath(module.name))
        built.parent.mkdir(parents=True, exist_ok=True)
        built.write_text(f"{module.name} {len(compiled)}")

    monkeypatch.setattr(build.BuildEngine, "_translate_to_cpp", lambda _, ext: ext.sources[0])
    monkeypatch.setattr(build_ext, "build_extension", compile_)

    def newly_compiled(*flags: str, place: str = "lib") -> list[str]:
        command = build.BuildEngine(Distribution())
        compiler = [sys.executable, *flags]
        words = {"compiler": compiler, "compiler_so": compiler, "linker_so": compiler}
        command.compiler = SimpleNamespace(compiler_type="unix", spawn=lambda _: None, **words)
        command.include_dirs, command.build_lib = [], str(tmp_path / place)
        command.extensions = build.make_extensions()
        command._translating = threading.Lock()
        compiled.clear()
        command.build_extensions()
        return compiled

    assert newly_compiled() == ["engine.one.__init__", "engine.two.__init__"]
    assert newly_compiled() == []
    assert newly_compiled(place="elsewhere") == []
    places = [tmp_path / place / "engine" for place in ("lib", "elsewhere")]
    for place in places:
        assert [path.read_text() for path in sorted(place.rglob("*.so"))] == [
            "engine.one.__init__ 1",
            "engine.two.__init__ 2",
        ]
    (engine / "two/two.pyx").write_text("another")
    assert newly_compiled() == ["engine.two.__init__"]
    assert newly_compiled(place="elsewhere") == []
    assert [path.read_text() for path in sorted(places[1].rglob("*.so"))] == [
        "engine.one.__init__ 1",
        "engine.two.__init__ 1",
    ]
    (engine / "shared.pxd").write_text("another")
    assert newly_compiled() == ["engine.one.__init__", "engine.two.__init__"]
    assert newly_compiled("-O3") == ["engine.one.__init__", "engine.two.__init__"]
    assert newly_compiled("-O1") == ["engine.one.__init__", "engine.two.__init__"]
    assert len([*kept.iterdir()]) == 2 * build.VERSIONS
