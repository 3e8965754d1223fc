"""What a program under test is given: a case's packets on its input, how to draw them around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.checking.case import Case, Drawing
from epic_cli.checking.drawing import packets
from epic_cli.checking.toml_file import BrokenCase
from epic_cli.engine.strategies import declaration
from epic_cli.formats import formats
from epic_cli.formats.conversion import Changes, Conversion
from epic_cli.formats.recordings import make_writer
from epic_cli.formats.writing import Unwritable, number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


def feed_of(drawing: Drawing, packet_format: str) -> bytes:
    """The packets of the drawing's only recording, as they are drawn.

    Packet text has the velocities that strategies are given where the recording has none, and
    a ``latency`` has become arrival times. Raises ``BrokenCase``.
    """
    (recording,) = drawing.recordings
    writer = make_writer(packet_format, delta=True)
    conversion = Conversion(Changes(fill_velocities=formats()[packet_format].needs_velocity))
    parts = [writer.header]
    for block in packets(drawing, recording):
        for index, packet in conversion.packets(block):
            try:
                parts.append(writer.row(_arriving(packet, drawing.timing.latency)))
            except Unwritable as error:
                place = f"{recording.name}:{block.line(index)}"
                raise BrokenCase(place, f"{error}; choose another --feed") from error
    parts.append(writer.end())
    return b"".join(parts)


def _arriving(packet: Packet, latency: float | None) -> Packet:
    if latency is None or packet.arrival is not None:
        return packet
    return packet._replace(arrival=packet.time + latency)


def environment_of(case: Case) -> dict[str, str]:
    """The variables that say what is to be drawn, under the names of the options of ``epic``.

    ``EPIC_SET`` has every setting of the strategy, also those that are as they are by default.
    """
    (candidate,) = case.drawing.candidates
    timing = case.drawing.timing
    arrivals = False
    for block in packets(case.drawing, case.drawing.recordings[0]):
        if len(block):
            arrivals = block.begins_with_arrival()
            break
    clock, pacing = timing.in_force(arrivals)
    values = declaration(candidate.name).values(candidate.settings)
    return {
        "EPIC_CASE": case.name,
        "EPIC_STRATEGY": candidate.name,
        "EPIC_SET": " ".join(f"{key}={_word(value)}" for key, value in values.items()),
        "EPIC_TICK": f"{timing.tick[0]}/{timing.tick[1]}",
        "EPIC_CLOCK": clock,
        "EPIC_PACING": pacing,
    }


def _word(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value).lower()
