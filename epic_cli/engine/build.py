"""Builds the engine: every .pyx file of this folder and its subfolders is one extension module.

``pyproject.toml`` names ``BuildEngine`` as setuptools' ``build_ext``. What was compiled is kept,
under a digest of all that it was made of: where an installation in another place (in a virtual
environment, then in the source tree) would compile the same again, it is copied.
``EPIC_COMPILED`` names another folder to keep it in than the source tree's ``build``.
"""

from __future__ import annotations

import filecmp
import gc
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, PlatformError

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

# Every operation is rounded as the originals round it. Contraction to fused multiply-add
# changes up to 90 % of the demo's rows on machines that have it; whatever CFLAGS says, these
# stand after it. Vectorized, g++ 12 loses the rounding of double to float and back (it takes
# the pair for nothing), so nothing is vectorized.
FLAGS = (
    "-O2",
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-g0",
)

DIRECTIVES = {
    "language_level": "3",
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    # Functions that know their signature, and ways to pickle what holds C++ objects, would be
    # written into each module again, and compiled: a fifth of the time.
    "binding": False,
    "auto_pickle": False,
    "emit_code_comments": False,
}

# The stable interface of Python: what is compiled for 3.11 runs on all that come after (but not on
# those without a global lock). pyproject.toml names the wheel after it.
MACROS = [("PY_SSIZE_T_CLEAN", "1"), ("Py_LIMITED_API", "0x030b0000")]

# What Cython wants to know of code objects (Include/cpython/code.h, the same in all versions) is no
# part of that interface: unless it is given, each module that is loaded looks it up in ``inspect``,
# and loading that takes a tenth of a replay of ten lines.
MACROS += [
    ("CO_OPTIMIZED", "0x0001"),
    ("CO_NEWLOCALS", "0x0002"),
    ("CO_VARARGS", "0x0004"),
    ("CO_VARKEYWORDS", "0x0008"),
    ("CO_GENERATOR", "0x0020"),
    ("CO_COROUTINE", "0x0080"),
    ("CO_ASYNC_GENERATOR", "0x0200"),
]

# Given all of them, Cython 3.3 still loads it, and looks nothing up: it may as well have ``sys``.
LOADS_INSPECT = 'inspect = PyImport_ImportModule("inspect");'
LOADS_NOTHING = 'inspect = PyImport_ImportModule("sys");'

# What nearly every module includes, read by the compiler once. Without its first line the
# special functions of C++17, which nobody here calls, would be instantiated by each module again: a
# third of what an empty one takes.
COMMON_HEADERS = """\
#define _GLIBCXX_BITS_SPECFUN_H
#include <Python.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ios>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>
"""

TRANSLATED = Path("build/cython")
COMPILED = Path(os.environ.get("EPIC_COMPILED", "build/compiled"))


def declarations() -> list[str]:
    """What every module is made of beside its own file, as paths from the root of the project."""
    return sorted(str(p.relative_to(ROOT)) for p in HERE.rglob("*") if p.suffix in (".pxd", ".h"))


def extensions() -> list[Extension]:
    """One extension a .pyx file, each rebuilt when any declaration or header has changed."""
    shared = declarations()
    return [
        Extension(
            ".".join(source.relative_to(ROOT).with_suffix("").parts),
            [str(source.relative_to(ROOT))],
            include_dirs=[str(HERE)],
            depends=shared,
            language="c++",
            define_macros=[*MACROS],
            py_limited_api=True,
        )
        for source in sorted(HERE.rglob("*.pyx"))
    ]


def keep_inspect_out(translated: Path) -> None:
    """Has a translated module load without ``inspect``; one that does already stays as it is."""
    text = translated.read_text()
    if LOADS_INSPECT in text:
        translated.write_text(text.replace(LOADS_INSPECT, LOADS_NOTHING))


def put(source: Path, target: Path) -> None:
    """Copies a file to where the one before it may be in use."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copyfile(source, copy)
    shutil.copymode(source, copy)
    copy.replace(target)


class BuildEngine(build_ext):
    """Compiles the engine with the flags that keep its arithmetic exact."""

    def finalize_options(self) -> None:
        """Puts the engine's modules in the place of what ``pyproject.toml`` lists."""
        self.distribution.ext_modules = extensions()  # type: ignore[assignment]
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self._translating = threading.Lock()

    def _delete_what_is_not_built(self) -> None:
        """What was compiled of a strategy that is gone would still be found as one.

        Of two files for one module Python takes the one for its own version alone, be it older.
        """
        for compiled in HERE.rglob("*.so"):
            source = compiled.with_name(f"{compiled.name.partition('.')[0]}.pyx")
            older = self.inplace and compiled.name.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
            if older or not source.exists():
                compiled.unlink()

    def _command(self, name: str) -> list[str]:
        """What setuptools compiles or links with; older ones have no words of their own for C++."""
        words = getattr(self.compiler, f"{name}_cxx", None) or getattr(self.compiler, name)
        return [str(word) for word in words]

    def _precompile(self) -> list[str]:
        """Has the common headers compiled; the flags that make use of them."""
        command = self._command("compiler_so")
        if "ccache" in Path(command[0]).name:  # it keeps whole objects, but none made with these
            return []
        header = TRANSLATED / "common.h"
        header.write_text(COMMON_HEADERS)
        given = [f"-D{name}={value}" for name, value in MACROS]
        places = [f"-I{place}" for place in (HERE, *self.include_dirs)]
        made = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
        try:
            self.compiler.spawn([*command, *given, *places, *FLAGS, *made])
        except CompileError:  # each module reads them for itself
            return []
        return ["-include", str(header)]

    def _learn_what_decides(self) -> None:
        """Digests all that decides how a module comes out, but for its own file.

        What another recipe translated is deleted, and what it compiled has another digest: the
        times of files say nothing of either.
        """
        command = self._command("compiler_so")
        asked = [*takewhile(lambda word: not word.startswith("-"), command), "--version"]
        answer = subprocess.run(asked, capture_output=True, check=False).stdout  # noqa: S603 (CC)
        recipe = (sys.version, version("cython"), command, self._command("linker_so"), answer)
        self._digest = hashlib.sha256(repr(recipe).encode() + Path(__file__).read_bytes())
        made_by = TRANSLATED / "made_by"
        if not made_by.exists() or made_by.read_text() != self._digest.hexdigest():
            shutil.rmtree(TRANSLATED, ignore_errors=True)
            TRANSLATED.mkdir(parents=True)
            made_by.write_text(self._digest.hexdigest())
        for file in declarations():
            self._digest.update(f"\0{file}\0".encode() + Path(file).read_bytes())

    def _place_of(self, ext: Extension) -> Path:
        """Where this very module is kept, or is to be."""
        digest = self._digest.copy()
        (source,) = ext.sources
        digest.update(Path(source).read_bytes())
        return COMPILED / f"{ext.name}.{digest.hexdigest()}"

    def build_extensions(self) -> None:
        """Translates the engine to C++ and compiles it."""
        self._delete_what_is_not_built()
        if self.compiler.compiler_type == "msvc":
            raise PlatformError("epic's engine needs g++ or clang: on Windows, install epic in WSL")
        compiler = self._command("compiler")[0]
        if shutil.which(compiler) is None:
            raise PlatformError(
                f"epic needs a C++ compiler to build its engine and found no {compiler!r}: "
                "install one (for example the packages gcc and g++) and run pip again"
            )
        self._learn_what_decides()
        self.force = True  # what has not changed is kept, and is not asked for
        common: list[str] = []
        if not all(self._place_of(extension).exists() for extension in self.extensions):
            common = self._precompile()
        for extension in self.extensions:
            extension.extra_compile_args = [*FLAGS, *common]
            extension.define_macros.append(("EPIC_FLAGS", f'"{" ".join(FLAGS)}"'))
        gc.disable()  # Cython leaves few circles, and spends a fifth of its time looking for them
        super().build_extensions()
        gc.enable()

    def build_extension(self, ext: Extension) -> None:
        """Translates a module, one at a time, while others are compiled; then compiles it."""
        from Cython.Build import cythonize

        kept = self._place_of(ext)
        built = Path(self.get_ext_fullpath(ext.name))
        if not kept.exists():
            with self._translating:
                (translated,) = cythonize(  # type: ignore[no-untyped-call]
                    [ext], build_dir=str(TRANSLATED), compiler_directives=DIRECTIVES, quiet=True
                )
            ext.sources = translated.sources
            keep_inspect_out(Path(translated.sources[0]))
            super().build_extension(ext)
            for older in COMPILED.glob(f"{ext.name}.*"):
                older.unlink()
            put(built, kept)
        elif not built.exists() or not filecmp.cmp(kept, built, shallow=False):
            put(kept, built)
