"""How the engine is built: what of it can be seen without building it."""

import sysconfig
from pathlib import Path

import pytest
from setuptools import Distribution
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
