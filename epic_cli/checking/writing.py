"""New cases: a folder with ``case.toml`` and, where there is no file of them, the packets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from epic_cli.checking.discovery import CASE_FILE
from epic_cli.checking.run import write
from epic_cli.engine.text.tables import COLUMNS
from epic_cli.formats.writing import number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Sample

#: What the packets of a case are called whose recording has no file.
PACKETS = "packets.txt"

Value = str | float | bool | list[str]


class CaseExists(ValueError):
    """There is a case of this name already."""


def new_case(
    folder: str, recordings: list[str], values: Mapping[str, Value], packets: bytes | None = None
) -> str:
    """Writes the case file of a folder, which is made; returns its path.

    ``recordings`` are paths as seen from where we are; with ``packets`` it is these instead.
    ``values`` are all other keys. Raises ``CaseExists``, or ``OSError``.
    """
    path = os.path.join(folder, CASE_FILE)  # noqa: PTH118
    if os.path.lexists(path):
        raise CaseExists(f"{path} is there already: remove it first, or choose another name")
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    if packets is not None:
        write(os.path.join(folder, PACKETS), packets)  # noqa: PTH118
        named = [PACKETS]
    else:
        named = [_seen_from(folder, one) for one in recordings]
    recording: Value = named[0] if len(named) == 1 else named
    write(path, case_text({"recording": recording, **values}).encode())
    return path


def _seen_from(folder: str, path: str) -> str:
    if os.path.isabs(path):  # noqa: PTH117
        return path
    return os.path.relpath(path, folder)


def case_text(values: Mapping[str, Value]) -> str:
    """A case file that says this."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # a string of JSON is one of TOML
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()


def tsv(samples: Iterable[Sample]) -> bytes:
    """Samples as ``epic replay --format tsv`` writes them."""
    lines = ["\t".join(COLUMNS)]
    for one in samples:
        numbers = [*one.position, *one.velocity]
        cells = ["" if one.status == "none" else number(value) for value in numbers]
        name = one.entity if one.entity.isprintable() else ascii(one.entity)[1:-1]
        lines.append("\t".join([number(one.time), *cells, one.status, name]))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
