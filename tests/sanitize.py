"""Run the engine's tests with sanitizers; CI does not run this, since it takes long.

``python tests/sanitize.py`` builds the engine with ASan and UBSan in ``build/address`` and runs
``tests/engine`` and ``tests/golden`` on it; ``python tests/sanitize.py thread`` builds it with TSan
in ``build/thread`` and runs the tests that have threads. What follows goes to pytest, instead of
these tests. Every report counts, also those of programs that a test starts and of tests that pass.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

#: For each sanitizer: its flags, what an instrumented module refers to, its runtime, the tests.
SANITIZERS = {
    "address": (
        "-fsanitize=address,undefined -fno-omit-frame-pointer",
        ("__asan_", "__ubsan_"),
        "libasan.so",
        ("engine", "golden"),
    ),
    "thread": (
        "-fsanitize=thread -fno-omit-frame-pointer",
        ("__tsan_",),
        "libtsan.so",
        ("engine/test_strategy.py", "api", "metrics/evaluation", "work", "live"),
    ),
}

#: What instrumented code does not keep: of two NaNs, whose sign the sum has.
NOT_KEPT = ("not_finite_spread", "sign_of_a_nan")

BUILD = "import setuptools; setuptools.setup(script_args=['-q', 'build_ext', '--inplace'])"

PLACES = """
import importlib, pathlib, epic_cli.engine
for place in pathlib.Path(epic_cli.engine.__file__).parent.rglob("__init__*.so"):
    name = ".".join(place.parent.parts[place.parent.parts.index("epic_cli"):])
    print(importlib.import_module(name).__file__)
"""


def build(folder: Path, flags: str) -> None:
    """Copy the sources and compile the engine beside them; keep unchanged modules."""
    ignored = shutil.ignore_patterns("*.so", "*.pyc")
    shutil.copytree(ROOT / "epic_cli", folder / "epic_cli", ignore=ignored, dirs_exist_ok=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    # setuptools compiles C++ with CXXFLAGS from version 72 on, and with CFLAGS before.
    environment = {**os.environ, **dict.fromkeys(("CFLAGS", "CXXFLAGS", "LDFLAGS"), flags)}
    environment.pop("EPIC_COMPILED", None)  # a cache of modules without sanitizers
    subprocess.run([sys.executable, "-c", BUILD], check=True, cwd=folder, env=environment)


def assert_instrumented(folder: Path, symbols: tuple[str, ...]) -> None:
    """Check that each module's symbol table names the sanitizers' functions."""
    modules = sorted(folder.glob("epic_cli/engine/**/*.so"))
    if not modules:
        raise SystemExit("no module was built")
    for module in modules:
        names = module.read_bytes().split(b"\0")
        counts = {word: sum(name.startswith(word.encode()) for name in names) for word in symbols}
        print(module.parent.name, counts, flush=True)
        if not all(counts.values()):
            raise SystemExit(f"{module} is not instrumented")


def runtime(name: str) -> str:
    """Return the compiler's library of that name, which must be loaded before Python."""
    command = [*os.environ.get("CXX", "g++").split(), f"-print-file-name={name}"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return str(Path(found).resolve())


def main(kind: str = "address", *tests: str) -> int:
    """Build, run the tests, and return their exit status, or 1 after a report."""
    flags, symbols, library, suites = SANITIZERS[kind]
    folder = ROOT / "build" / kind
    build(folder, flags)
    assert_instrumented(folder, symbols)
    for old in folder.glob("report.*"):
        old.unlink()
    log = f"log_path={folder}/report:print_stacktrace=1"
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        # A program in C that throws first in a module finds no thrower unless libstdc++ is there.
        "LD_PRELOAD": f"{runtime(library)} {runtime('libstdc++.so')}",
        "ASAN_OPTIONS": f"{log}:detect_leaks=0",  # Python keeps what it needs until it ends
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",  # it keeps no log beside ASan
        "TSAN_OPTIONS": f"{log}:die_after_fork=0:exitcode=0",
        "PYTHONMALLOC": "malloc",  # its own allocator would hide what is read too late
    }
    places = subprocess.run(
        [sys.executable, "-c", PLACES],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    ).stdout.split()
    if not places or not all(place.startswith(str(folder)) for place in places):
        raise SystemExit(f"another engine is loaded: {places}")
    given = tests or [str(TESTS / suite) for suite in suites]
    options = [
        "-q",
        "--capture=sys",
        "-p",
        "no:cacheprovider",
        "-k",
        f"not ({' or '.join(NOT_KEPT)})",
    ]
    command = [sys.executable, "-m", "pytest", *options, *given]
    status = subprocess.run(command, check=False, cwd=folder, env=environment).returncode
    reports = sorted(folder.glob("report.*"))
    for report in reports:
        print(f"== {report}", report.read_text(errors="replace"), sep="\n")
    return 1 if reports else status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
