"""Runs the tests of shared strategy objects on an engine built with ASan and UBSan.

``python tests/sanitize.py`` builds a part of the engine in a temporary folder (that takes most of
the time) and runs ``tests/engine/test_strategy.py`` on it: every pair of public calls, from two
threads and from a strategy that calls back. Reading what was freed ends it with a report.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

#: What the tests do not use is left out of the build, and of the strategies all but these.
ROOMS = ("link", "measure", "text")
STRATEGIES = (
    *("epic.pyx", "mirror.pyx", "dumb_terminal.pyx", "one_euro.pyx", "unity_ngo"),
    *("parts", "__init__.py"),
)

SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"

BUILD = "import setuptools; setuptools.setup(script_args=['-q', 'build_ext', '--inplace'])"


def copy_of_the_engine(folder: Path) -> None:
    """The sources without what was compiled of them."""

    def left_out(place: str, names: list[str]) -> list[str]:
        if Path(place).name == "strategies":
            return [name for name in names if name not in STRATEGIES]
        return [name for name in names if name in ROOMS or name.endswith((".so", ".pyc"))]

    shutil.copytree(ROOT / "epic_cli", folder / "epic_cli", ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)


def library(compiler: str) -> str:
    """The runtime of the sanitizer, which must be loaded before Python."""
    command = [*compiler.split(), "-print-file-name=libasan.so"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return str(Path(found).resolve())


def main() -> int:
    """Builds, runs the tests, and returns their exit status."""
    compiler = os.environ.get("CXX", "g++")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_the_engine(folder)
        sanitized = {**os.environ, "CFLAGS": SANITIZERS, "LDFLAGS": SANITIZERS}
        subprocess.run([sys.executable, "-c", BUILD], check=True, cwd=folder, env=sanitized)
        environment = {
            **os.environ,
            "PYTHONPATH": name,
            "LD_PRELOAD": library(compiler),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it needs until it ends
            "PYTHONMALLOC": "malloc",  # its own allocator would hide what is read too late
        }
        where = "import epic_cli.engine.strategies.parts as one; print(one.__file__)"
        place = subprocess.run(
            [sys.executable, "-c", where],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
        )
        if not place.stdout.startswith(name):
            raise SystemExit(f"another engine is loaded: {place.stdout.strip()}")
        tests = TESTS / "engine" / "test_strategy.py"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
        return subprocess.run(command, check=False, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
