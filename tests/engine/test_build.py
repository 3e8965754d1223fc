"""How the engine is built: what of it can be seen without building it."""

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
    (tmp_path / "strategies").mkdir()
    alone = sysconfig.get_config_var("EXT_SUFFIX")
    for name in ("there.pyx", "there.abi3.so", f"there{alone}", "gone.abi3.so", "gone.py"):
        (tmp_path / "strategies" / name).touch()
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    command = build.BuildEngine(Distribution())
    command.compiler = type("Compiler", (), {"compiler_type": "unix", "compiler": ["g++"]})()
    command.inplace = True
    with pytest.raises(PlatformError):
        command.build_extensions()
    left = sorted(one.name for one in (tmp_path / "strategies").iterdir())
    assert left == ["gone.py", "there.abi3.so", "there.pyx"]


def test_what_was_compiled_is_taken_again_if_all_that_it_was_made_of_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, kept = tmp_path / "tree/engine", tmp_path / "kept"
    engine.mkdir(parents=True)
    for name in ("one.pyx", "two.pyx", "shared.pxd"):
        (engine / name).write_text(name)
    monkeypatch.chdir(engine.parent)
    for name, place in (("HERE", engine), ("ROOT", engine.parent), ("COMPILED", kept)):
        monkeypatch.setattr(build, name, place)
    compiled: list[str] = []

    def translate(modules: list[Extension], **_: object) -> list[Extension]:
        return modules

    def compile_(self: build_ext, module: Extension) -> None:
        compiled.append(module.name)
        built = Path(self.get_ext_fullpath(module.name))
        built.parent.mkdir(parents=True, exist_ok=True)
        built.write_text(f"{module.name} {len(compiled)}")

    monkeypatch.setattr("Cython.Build.cythonize", translate)
    monkeypatch.setattr(build_ext, "build_extension", compile_)

    def newly_compiled(*flags: str, place: str = "lib") -> list[str]:
        command = build.BuildEngine(Distribution())
        compiler = [sys.executable, *flags]
        words = {"compiler": compiler, "compiler_so": compiler, "linker_so": compiler}
        command.compiler = SimpleNamespace(compiler_type="unix", spawn=lambda _: None, **words)
        command.include_dirs, command.build_lib = [], str(tmp_path / place)
        command.extensions = build.extensions()
        command._translating = threading.Lock()
        compiled.clear()
        command.build_extensions()
        return compiled

    assert newly_compiled() == ["engine.one", "engine.two"]
    assert newly_compiled() == []
    assert newly_compiled(place="elsewhere") == []
    places = [tmp_path / place / "engine" for place in ("lib", "elsewhere")]
    for place in places:
        assert [path.read_text() for path in sorted(place.iterdir())] == [
            "engine.one 1",
            "engine.two 2",
        ]
    (engine / "two.pyx").write_text("another")
    assert newly_compiled() == ["engine.two"]
    assert newly_compiled(place="elsewhere") == []
    assert [path.read_text() for path in sorted(places[1].iterdir())] == [
        "engine.one 1",
        "engine.two 1",
    ]
    (engine / "shared.pxd").write_text("another")
    assert newly_compiled() == ["engine.one", "engine.two"]
    assert newly_compiled("-O3") == ["engine.one", "engine.two"]
    translated = Path("build/cython/translated.cpp")
    translated.touch()
    assert newly_compiled("-O1") == ["engine.one", "engine.two"]
    assert not translated.exists()
    assert len([*kept.iterdir()]) == 2
