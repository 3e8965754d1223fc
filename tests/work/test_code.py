"""Tests that any change of a custom strategy's code that affects its rows changes its identity."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from epic_cli.work.code import UnknownCode, list_code

FILES = {
    "mine.py": """
import math
import numpy as np
from helper_of_mine import GAIN
import package_of_mine.deep.below as below
class Mine:
    def reset(self): ...
    def update(self, packet, now): ...
    def read(self, at):
        from late_of_mine import value
""",
    "helper_of_mine.py": "from second_of_mine import *\nGAIN = 1\n",
    "second_of_mine.py": "try:\n    import no_such_module\nexcept ImportError: ...\n",
    "late_of_mine.py": "import helper_of_mine\nvalue = 1\n",
    "package_of_mine/__init__.py": "",
    "package_of_mine/deep/__init__.py": "from . import beside\n",
    "package_of_mine/deep/below.py": "from .. import above\nfrom .beside import X\n",
    "package_of_mine/deep/beside.py": "X = 1\n",
    "package_of_mine/above.py": "",
    "unrelated_of_mine.py": "",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, content in FILES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)


def fresh() -> list[str]:
    """Return the strategy's code as another process determines it."""
    for name in [module for module in sys.modules if "of_mine" in module]:
        del sys.modules[name]
    importlib.invalidate_caches()
    return list_code("./mine.py:Mine")


def test_built_in_ones_are_known_by_the_version() -> None:
    assert list_code("lerp") == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_change_anywhere_in_it_is_seen(name: str) -> None:
    before = fresh()
    assert fresh() == before
    with Path(name).open("a") as file:
        file.write("# another\n")
    assert (fresh() == before) == (name == "unrelated_of_mine.py")


def test_of_what_is_installed_the_version_counts() -> None:
    found = fresh()
    assert any(f"numpy=={sys.modules['numpy'].__version__}" in name for name in found)
    assert len(found) < 15


@pytest.mark.parametrize(
    "how",
    [
        "import importlib\nx = importlib.import_module('a')",
        "x = __import__('a')",
        "exec('1')",
        "x = open('weights').close()",
        "from pathlib import Path\nx = Path(__file__).read_text()",
    ],
)
def test_what_hides_its_code_is_refused(how: str) -> None:
    Path("weights").touch()
    Path("a.py").touch()
    Path("second_of_mine.py").write_text(f"y = 1\n{how}\n")
    with pytest.raises(UnknownCode, match=r"second_of_mine.py:[23]: the code calls \w+\(\)"):
        fresh()
