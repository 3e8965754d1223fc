"""The shell's command that puts the lines of a recording in order, if one can."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epic_cli.recordings.watch import Watch

#: So many bytes may stand above the first packet.
_ABOVE = 65536

#: How ``sort`` writes what separates cells; words need no option.
_SEPARATORS = {",": "-t, ", ";": "-t';' ", "|": "-t'|' ", "\t": "-t$'\\t' ", " ": ""}


def sort_command(watch: Watch, field: str) -> str:
    """What sorts a file by its times or arrivals, below its header; empty: ``sort`` could not.

    That is where columns stand at separators that are in no quotes, and numbers have points.
    """
    block, reader = watch.samples[0]
    first = block.line(0) - 1
    if reader is None:
        separator, column = "-t/ ", 3 if field == "time" else 0
    else:
        delimiter, column = reader.sort_key(field)
        separator = _SEPARATORS.get(delimiter, "")
    text = block.line_text(0)
    dates = watch.layout is not None and watch.layout.time_unit == "iso"
    odd = b'"' in block.text or (separator != "-t, " and b"," in text and reader is not None)
    by_format = watch.layout is not None and watch.layout.time_format is not None
    if not column or odd or by_format or not _stands_below(watch.name, first, text):
        return ""
    name, key = quote(watch.name), f"{separator}-k{column},{column}{'' if dates else 'g'}"
    if not first:
        return f"LC_ALL=C sort -s {key} {name} > sorted{Path(watch.name).suffix}"
    below = f"tail -n +{first + 1} {name} | LC_ALL=C sort -s {key}"
    return f"(head -n {first} {name}; {below}) > sorted{Path(watch.name).suffix}"


def _stands_below(name: str, above: int, line: bytes) -> bool:
    """Whether the file itself, not what it was unpacked from, has this line there."""
    try:
        with Path(name).open("rb") as file:
            lines = file.read(_ABOVE + len(line)).split(b"\n")
    except (OSError, ValueError):
        return False
    return len(lines) > above and lines[above].rstrip(b"\r") == line.rstrip(b"\r\n")
