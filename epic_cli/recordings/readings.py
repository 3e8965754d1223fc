"""Find the readings of an unclear recording that work, by trying each one before proposing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING

from epic_cli.engine.description import write
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reading, Refusal
from epic_cli.recordings.checks import find_cure
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.tick_rates import find_usual_rate

if TYPE_CHECKING:
    from epic_cli.recordings import Reader

    #: Reads the beginning of the recording with a layout.
    Attempt = Callable[[ReadSpec], tuple[Reader, PacketBlock]]

#: This many readings are shown; so often one that says too little, or is in doubt, is gone on with.
_MOST, _DEEPEST = 4, 3

#: The most of which it is found out whether they can be.
_MOST_TRIED = 12

#: A rate that is not known, and one to try with, in ticks a second.
_RATE, _TRIED = "ticks@HZ", 60.0

#: Fewer packets do not tell a rate.
_FEWEST = 30

#: Of the lines at the beginning, this many may be none of packets.
_REFUSED = 0.5


def filter_tried(refusal: Refusal, given: ReadSpec | None, attempt: Attempt) -> Refusal:
    """Return a refusal with only the readings that can be read, each with its first packet.

    Readings whose rate of ticks only the user knows come last. ``given`` is what the user said,
    which is part of each reading.
    """
    plain = given or ReadSpec()
    known = plain.said
    found: dict[tuple[tuple[str, str], ...], Reading] = {}
    for pair in refusal.readings[:_MOST_TRIED]:
        more = plain.name_entries(dict(pair.entries))
        for reading in _try_entries(known, more, plain, attempt, _DEEPEST):
            found.setdefault(reading.entries, reading)
    ranked = sorted(found.values(), key=lambda one: _RATE in dict(one.entries).values())
    return refusal._replace(readings=tuple(ranked)[:_MOST])


def _try_entries(
    known: Mapping[str, str],
    more: Mapping[str, str],
    given: ReadSpec,
    attempt: Attempt,
    depth: int,
) -> Iterator[Reading]:
    """Yield the readings with some more entries that give whole packets."""
    entries = {**known, **more}
    rated = [key for key, value in entries.items() if value == _RATE]
    tried = dict.fromkeys(rated, f"ticks@{_TRIED:g}")
    layout = given.replace_text(write({**entries, **tried}.items()))
    reader, block = attempt(layout)
    if rated and (rate := _measure_tick_rate(block)):
        entries |= dict.fromkeys(rated, f"ticks@{rate:g}")
        yield from _try_entries(entries, {}, given, attempt, depth)
        return
    doubtful = next((refusal for refusal in block.refusals if refusal.readings), None)
    mending = find_cure(reader, block, layout) if doubtful is None else ()
    if mending is None:
        return
    if doubtful is not None:
        further = [given.name_entries(dict(reading.entries)) for reading in doubtful.readings]
    elif len(block.refusals) > _REFUSED * len(block) or not len(block):
        return
    else:
        mended = dict(mending) | dict.fromkeys(rated, _RATE)  # which only the user knows
        further = [mended] if mending else []
    found = [
        reading
        for row in further[: _MOST if depth else 0]
        for reading in _try_entries(entries, row, given, attempt, depth - 1)
    ]
    yield from found
    if not found and doubtful is None:
        x, y, z = block[0].position
        when = "" if _RATE in entries.values() else f" at {block[0].time:.6g} s"
        name = f" of {block[0].entity}" if block[0].entity else ""
        yield Reading(tuple(entries.items()), f"{x:.6g}, {y:.6g}, {z:.6g}{when}{name}")


def _measure_tick_rate(block: PacketBlock) -> float | None:
    """Return the usual rate of ticks (Hz) that fits the arrival times; None if there is none.

    ``block`` was read with ``_TRIED`` ticks a second. The medians of the first and the last third
    of its packets are compared, so that single late packets do not count.
    """
    known = [
        packet for packet in map(block.__getitem__, range(len(block))) if packet.arrival is not None
    ]
    if len(known) < _FEWEST:
        return None
    third = len(known) // 3
    ticks = _TRIED * (
        median(packet.time for packet in known[-third:])
        - median(packet.time for packet in known[:third])
    )
    arrivals = [packet.arrival or 0.0 for packet in known]
    seconds = median(arrivals[-third:]) - median(arrivals[:third])
    if not (ticks > 0 and seconds > 0):
        return None
    return find_usual_rate(ticks / seconds)
