"""The build of the engine: each folder with .pyx files is one extension module.

All .pyx files of a folder are included in one source, so that a strategy is a file of its own
without being a module of its own: a module costs a second of compiling before the first line of
ours. The files of a folder share their names; what other modules may use of it in C is declared in
its ``__init__.pxd``.

``pyproject.toml`` names ``BuildEngine`` as setuptools' ``build_ext``. Compiled modules are cached
under a digest of all their inputs, so that another installation (a virtual environment, then the
source tree) copies instead of compiling. ``EPIC_COMPILED`` names the cache folder (default: the
source tree's ``build``). ``EPIC_ALONE=mirror`` compiles that strategy alone, in seconds, and leaves
everything else as it is: its module is found before the folder's, until the next build without it.
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
from runpy import run_path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, PlatformError

HERE = Path(__file__).parent
KEYS = HERE / "keys.py"
ROOT = HERE.parent.parent

# Every operation is rounded as the originals round it. Contraction to fused multiply-add changes up
# to 90 % of the demo's rows on machines that have it, so these flags follow CFLAGS and override it.
# When vectorizing, g++ 12 drops the rounding of double to float and back (it treats the pair as a
# no-op), so nothing is vectorized.
FLAGS = (
    "-O2",
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-g0",
)

#: There g++ is MinGW's, whose libraries become part of the modules.
WINDOWS = os.name == "nt"

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

TRANSLATED = Path("build/cython")
COMPILED = Path(os.environ.get("EPIC_COMPILED", "build/compiled"))
VERSIONS = 4  # of each module are cached: going back to another branch compiles nothing


def list_rooms() -> list[Path]:
    """Return the folders that hold .pyx files; each folder becomes one module."""
    return sorted({file.parent for file in HERE.rglob("*.pyx")})


def find_lone_file(name: str) -> Path:
    """Return the file of the strategy that ``EPIC_ALONE`` names."""
    for file in HERE.glob(f"strategies/*/{name.replace('-', '_')}.pyx"):
        return file
    raise PlatformError(f"EPIC_ALONE={name}: unknown strategy; write one, such as mirror")


def make_extensions() -> list[Extension]:
    """Return an extension for each folder of the engine, with its .pyx files as the sources."""
    name = os.environ.get("EPIC_ALONE")
    return [
        Extension(
            ".".join(place.relative_to(ROOT).with_suffix("").parts) + ("" if name else ".__init__"),
            [
                file.relative_to(ROOT).as_posix()
                for file in ([place] if name else sorted(place.glob("*.pyx")))
            ],
            include_dirs=[str(HERE)],
            language="c++",
            define_macros=[("EPIC_FLAGS", f'"{" ".join(FLAGS)}"')],
            extra_compile_args=["-include", str(HERE / "stable_interface.h"), *FLAGS],
            libraries=["python3"] * WINDOWS,
            extra_link_args=["-static"] * WINDOWS,
            py_limited_api=True,
        )
        for place in ([find_lone_file(name)] if name else list_rooms())
    ]


def put(source: Path, target: Path) -> None:
    """Replace ``target`` by a copy of ``source``, even while ``target`` is in use."""
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.copyfile(source, copy)
    shutil.copymode(source, copy)
    copy.replace(target)


class BuildEngine(build_ext):
    """A ``build_ext`` that compiles the engine with the flags that keep its arithmetic exact."""

    def finalize_options(self) -> None:
        """Replace the modules listed in ``pyproject.toml`` by those of the engine."""
        self.distribution.ext_modules = make_extensions()  # type: ignore[assignment]
        self.compiler = self.compiler or ("mingw32" if WINDOWS else None)
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        self._translating = threading.Lock()

    def _delete_stale_modules(self) -> None:
        """Delete compiled modules of deleted folders, and of strategies that were compiled alone.

        Of two files for one module Python prefers the one for its own version, even if it is older.
        """
        built = {room / "__init__" for room in list_rooms()}
        for compiled in HERE.rglob("*.pyd" if WINDOWS else "*.so"):
            older = self.inplace and compiled.name.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
            if older or compiled.with_name(compiled.name.partition(".")[0]) not in built:
                compiled.unlink()

    def _get_compiler_command(self, name: str) -> list[str]:
        """Return the command with which setuptools compiles or links C++.

        Old versions of setuptools have no entry for C++.
        """
        words = getattr(self.compiler, f"{name}_cxx", None) or getattr(self.compiler, name)
        return [str(word) for word in words]

    @staticmethod
    def _write_keys() -> None:
        """Write the table of a packet's keys as a C header, if the table has changed."""
        text = run_path(str(KEYS))["write_header"]()
        place = KEYS.parent / "packets" / "keys.h"
        if not place.exists() or place.read_text() != text:
            place.write_text(text)

    def _digest_inputs(self) -> None:
        """Set the digest of the inputs that all modules share.

        Compiler, flags, versions, headers.
        """
        command = self._get_compiler_command("compiler_so")
        asked = [*takewhile(lambda word: not word.startswith("-"), command), "--version"]
        answer = subprocess.run(asked, capture_output=True, check=False).stdout  # noqa: S603 (CC)
        recipe = (
            sys.version,
            version("cython"),
            command,
            self._get_compiler_command("linker_so"),
            answer,
        )
        self._digest = hashlib.sha256(repr(recipe).encode())
        shared = (file for file in HERE.rglob("*") if file.suffix in (".pxd", ".h"))
        for file in (Path(__file__), *sorted(shared)):
            self._digest.update(f"\0{file.name}\0".encode() + file.read_bytes())

    def _find_cache_folder(self, ext: Extension) -> Path:
        """Return the folder in which this build of a module is cached."""
        digest = self._digest.copy()
        for source in ext.sources:
            digest.update(f"\0{source}\0".encode() + Path(source).read_bytes())
        return COMPILED / f"{ext.name}.{digest.hexdigest()}"

    def build_extensions(self) -> None:
        """Translate the engine to C++ and compile the C++."""
        if not os.environ.get("EPIC_ALONE"):
            self._delete_stale_modules()
        compiler = self._get_compiler_command("compiler")[0]
        if shutil.which(compiler) is None:
            raise PlatformError(
                f"epic needs a C++ compiler to build its engine and found no {compiler!r}: "
                "install one (for example the packages gcc and g++) and run pip again"
            )
        self._write_keys()
        self._digest_inputs()
        self.force = True  # unchanged modules are kept
        gc.disable()  # Cython leaves few circles, and spends a fifth of its time looking for them
        super().build_extensions()
        gc.enable()

    def build_extension(self, ext: Extension) -> None:
        """Translate a folder to C++ and compile it, unless it is in the cache.

        One folder is translated at a time, while others are compiled.
        """
        kept = self._find_cache_folder(ext)
        built = Path(self.get_ext_fullpath(ext.name))
        if not kept.exists():
            with self._translating:
                ext.sources = [self._translate_to_cpp(ext)]
            super().build_extension(ext)
            put(built, kept)
            versions = sorted(COMPILED.glob(f"{ext.name}.*"), key=lambda one: one.stat().st_mtime)
            for older in versions[:-VERSIONS]:
                older.unlink(missing_ok=True)
        elif not built.exists() or not filecmp.cmp(kept, built, shallow=False):
            put(kept, built)

    @staticmethod
    def _translate_to_cpp(ext: Extension) -> str:
        """Translate a folder's .pyx files, as one module, to C++.

        Return the path of the C++ file.
        """
        from Cython.Compiler.Main import CompilationOptions, compile_single

        module = ext.name.removesuffix(".__init__")
        source = TRANSLATED / f"{ext.name.replace('.', '/')}.pyx"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f'include "{file}"\n' for file in ext.sources))
        target = source.with_suffix(".cpp")
        options = CompilationOptions(
            compiler_directives=DIRECTIVES,
            cplus=True,
            include_path=[str(ROOT)],
            output_file=str(target),
        )
        if compile_single(str(source), options, module).num_errors:
            raise CompileError(f"Cython cannot translate {module}: see its errors above")
        return str(target)
