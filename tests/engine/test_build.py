"""How the engine is built: what of it can be seen without building it."""

from pathlib import Path

import pytest
from setuptools import Distribution
from setuptools.errors import PlatformError

from epic_cli.engine import build


def test_what_was_compiled_of_a_strategy_that_is_gone_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "strategies").mkdir()
    for name in ("there.pyx", "there.cpython-311.so", "gone.cpython-311.so", "gone.py"):
        (tmp_path / "strategies" / name).touch()
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    command = build.BuildEngine(Distribution())
    command.compiler = type("Compiler", (), {"compiler_type": "unix", "compiler": ["g++"]})()
    with pytest.raises(PlatformError):
        command.build_extensions()
    left = sorted(one.name for one in (tmp_path / "strategies").iterdir())
    assert left == ["gone.py", "there.cpython-311.so", "there.pyx"]
