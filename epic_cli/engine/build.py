"""Builds the engine: every .pyx file of this folder and its subfolders is one extension module.

``pyproject.toml`` names ``BuildEngine`` as setuptools' ``build_ext``.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

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
}


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

    def _delete_what_has_no_source(self) -> None:
        """What was compiled of a strategy that is gone would still be found as one."""
        for compiled in [*HERE.rglob("*.so"), *HERE.rglob("*.pyd")]:
            if not compiled.with_name(f"{compiled.name.partition('.')[0]}.pyx").exists():
                compiled.unlink()

    def build_extensions(self) -> None:
        """Translates the engine to C++ and compiles it."""
        self._delete_what_has_no_source()
        flags: tuple[str, ...]
        if self.compiler.compiler_type == "msvc":
            flags = MSVC_FLAGS
        else:
            flags = GCC_FLAGS
            command = getattr(self.compiler, "compiler_cxx", None) or self.compiler.compiler
            if shutil.which(command[0]) is None:
                raise PlatformError(
                    f"epic needs a C++ compiler to build its engine and found no {command[0]!r}: "
                    "install one (for example the packages gcc and g++) and run pip again"
                )
        from Cython.Build import cythonize

        written = cythonize(  # type: ignore[no-untyped-call]
            extensions(),
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            nthreads=os.cpu_count() or 1,
            quiet=True,
        )
        for extension, translated in zip(self.extensions, written, strict=True):
            extension.sources = translated.sources
            extension.extra_compile_args = [*flags]
            extension.define_macros = [("EPIC_FLAGS", f'"{" ".join(flags)}"')]
        super().build_extensions()
