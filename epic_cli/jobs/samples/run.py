"""The list of samples, and copies of samples in the current folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from epic_cli.engine.parameters import find_nearest
from epic_cli.recordings.files import CannotAccess, open_whole, raise_cannot_access

#: Name of the folder of the samples, and of their copies.
FOLDER = "sample_inputs"

_HERE = Path(__file__).parent
_PLACES = (_HERE / FOLDER, _HERE.parents[2] / FOLDER)

#: A wheel has the samples beside this file, the source tree at its top.
SAMPLES = next(filter(Path.is_dir, _PLACES), _PLACES[0])

#: The beginning of a row in the table of their README: the names, and what they show.
_ROW = re.compile(r"^\| (`[^|]*`) \| ([^|]*) \|", re.MULTILINE)
_MARKS = re.compile(r"\[([^]]*)\]\([^)]*\)|`")


def list_samples() -> dict[str, str]:
    """Return the files and folders with their descriptions from the README.

    Raises ``CannotAccess``.
    """
    with raise_cannot_access("read", f"{FOLDER}/README.md"):
        text = (SAMPLES / "README.md").read_text("utf-8")
    return {
        name.strip("`"): _MARKS.sub(r"\1", about)
        for names, about in _ROW.findall(text)
        for name in names.split(", ")
    }


def find(name: str) -> str:
    """Return the path of a sample below the folder of samples, by its name.

    Raise ``ValueError``.
    """
    plain = name.removeprefix(f"{FOLDER}/").rstrip("/")
    path = SAMPLES / plain
    if plain and path.exists() and path.resolve().is_relative_to(SAMPLES.resolve()):
        return plain
    near = find_nearest(plain, list(list_samples()))
    hint = f"did you mean {near!r}?" if near else "'epic samples' lists them"
    raise ValueError(f"there is no sample {name!r}; {hint}")


def copy(names: Sequence[str]) -> tuple[int, int]:
    """Copy samples to ``FOLDER``; return the counts of new and of existing files.

    Existing files stay: raises ``CannotAccess`` for one with other content, before anything is
    written.
    """
    files = {
        file: Path(FOLDER, file.relative_to(SAMPLES))
        for name in names
        for file in sorted([SAMPLES / name, *(SAMPLES / name).rglob("*")])
        if file.is_file() and "__pycache__" not in file.parts
    }
    with raise_cannot_access("write to", FOLDER, "write to"):
        new = {file: target for file, target in files.items() if not target.exists()}
        for file, target in files.items():
            if file not in new and target.read_bytes() != file.read_bytes():
                there = FileExistsError(17, "another file is there; move it away, or remove it")
                raise CannotAccess("write to", str(target), there)
        for file, target in new.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_whole(str(target)) as stream:
                stream.write(file.read_bytes())
    return len(new), len(files) - len(new)
