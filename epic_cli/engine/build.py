"""Builds the engine: every .pyx file of this folder and its subfolders is one extension module.

``pyproject.toml`` names ``BuildEngine`` as setuptools' ``build_ext``.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import threading
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
GCC_FLAGS = (
    "-O2",
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-g0",
)
MSVC_FLAGS = ("/O2", "/std:c++17", "/fp:strict")

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

# What nearly every module includes, read by the compiler once.
COMMON_HEADERS = """\
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

BUILD = Path("build/cython")


def extensions() -> list[Extension]:
    """One extension a .pyx file, each rebuilt when any declaration or header has changed."""
    shared = sorted(str(p.relative_to(ROOT)) for p in HERE.rglob("*") if p.suffix in (".pxd", ".h"))
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
        for compiled in [*HERE.rglob("*.so"), *HERE.rglob("*.pyd")]:
            source = compiled.with_name(f"{compiled.name.partition('.')[0]}.pyx")
            older = self.inplace and compiled.name.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
            if older or not source.exists():
                compiled.unlink()

    def _precompile(self, flags: list[str]) -> list[str]:
        """Has the common headers compiled; the flags that make use of them."""
        command = getattr(self.compiler, "compiler_so_cxx", None) or self.compiler.compiler_so
        if "ccache" in Path(command[0]).name:  # it keeps whole objects, but none made with these
            return []
        header = BUILD / "common.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(COMMON_HEADERS)
        given = [f"-D{name}={value}" for name, value in MACROS]
        places = [f"-I{place}" for place in (HERE, *self.include_dirs)]
        made = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
        try:
            self.compiler.spawn([*command, *given, *places, *flags, *made])
        except CompileError:  # each module reads them for itself
            return []
        return ["-include", str(header)]

    def build_extensions(self) -> None:
        """Translates the engine to C++ and compiles it."""
        self._delete_what_is_not_built()
        flags: list[str]
        common: list[str] = []
        if self.compiler.compiler_type == "msvc":
            flags = [*MSVC_FLAGS]
        else:
            flags = [*GCC_FLAGS]
            command = getattr(self.compiler, "compiler_cxx", None) or self.compiler.compiler
            if shutil.which(command[0]) is None:
                raise PlatformError(
                    f"epic needs a C++ compiler to build its engine and found no {command[0]!r}: "
                    "install one (for example the packages gcc and g++) and run pip again"
                )
            common = self._precompile(flags)
        for extension in self.extensions:
            extension.extra_compile_args = [*flags, *common]
            extension.define_macros.append(("EPIC_FLAGS", f'"{" ".join(flags)}"'))
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Translates a module, one at a time, while others are compiled; then compiles it."""
        from Cython.Build import cythonize

        with self._translating:
            (translated,) = cythonize(  # type: ignore[no-untyped-call]
                [ext], build_dir=str(BUILD), compiler_directives=DIRECTIVES, quiet=True
            )
        ext.sources = translated.sources
        super().build_extension(ext)
