"""Ways to read a recording whose names say too little: each is tried before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from epic_cli.engine.description import write
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reading, Refusal
from epic_cli.recordings.checks import cure_of
from epic_cli.recordings.read_spec import ReadSpec

if TYPE_CHECKING:
    from epic_cli.recordings import Reader

    #: Reads the beginning of the recording with a layout.
    Attempt = Callable[[ReadSpec], tuple[Reader, PacketBlock]]

#: This many readings are shown; so often one that says too little, or is in doubt, is gone on with.
_MOST, _DEEPEST = 4, 3

#: A rate that only the user knows, and one to try with.
_RATE, _SOME_RATE = "ticks@HZ", "ticks@60"

#: Of the lines at the beginning, this many may be none of packets.
_REFUSED = 0.5


def tried(refusal: Refusal, given: ReadSpec | None, attempt: Attempt) -> Refusal:
    """A refusal with those of its readings that give whole packets, with the first packet of each.

    ``given`` is what the user said, and part of each.
    """
    plain = given or ReadSpec()
    known = dict(plain.entries())
    found: dict[tuple[tuple[str, str], ...], Reading] = {}
    for pair in refusal.readings:
        for reading in _tried({**known}, pair.entries, plain, attempt, _DEEPEST):
            found.setdefault(reading.entries, reading)
    return refusal._replace(readings=tuple(found.values())[:_MOST])


def _tried(
    known: Mapping[str, str],
    more: tuple[tuple[str, str], ...],
    given: ReadSpec,
    attempt: Attempt,
    depth: int,
) -> Iterator[Reading]:
    """The readings with some more entries that give whole packets."""
    entries = {**known, **dict(more)}
    tried = {**entries, **({"unit": _SOME_RATE} if entries.get("unit") == _RATE else {})}
    layout = ReadSpec.parse(write(tried.items()))._replace(
        rebase_time=given.rebase_time, unless_own=given.unless_own
    )
    reader, block = attempt(layout)
    doubtful = next((refusal for refusal in block.refusals if refusal.readings), None)
    mending = cure_of(reader, block, layout) if doubtful is None else ()
    if mending is None:
        return
    if doubtful is not None:
        further = [reading.entries for reading in doubtful.readings]
    elif len(block.refusals) > _REFUSED * len(block) or not len(block):
        return
    else:
        if entries.get("unit") == _RATE:  # only the user knows it
            mending = tuple((key, _RATE if key == "unit" else value) for key, value in mending)
        further = [mending] if mending else []
    found = [
        reading
        for row in further[: _MOST if depth else 0]
        for reading in _tried(entries, row, given, attempt, depth - 1)
    ]
    yield from found
    if not found and doubtful is None:
        x, y, z = block[0].position
        when = "" if _RATE in entries.values() else f" at {block[0].time:.6g} s"
        name = f" of {block[0].entity}" if block[0].entity else ""
        yield Reading(tuple(entries.items()), f"{x:.6g}, {y:.6g}, {z:.6g}{when}{name}")
