"""Help while typing: what a packet still lacks, and the packet that may come next."""

from __future__ import annotations

from collections.abc import Sequence

from epic_cli.engine.contract import Packet
from epic_cli.engine.text.scan import missing
from epic_cli.formats.packet_text import packet_line
from epic_cli.repl.session import Session

#: After so many packets of an entity the next one is proposed.
_ENOUGH = 2


def ghost(text: str) -> str:
    """What is still missing of a packet that begins like this; empty for a command."""
    if text.lstrip()[:1] in (":", "q"):
        return ""
    return missing(text.encode("utf-8", "surrogateescape"))


def proposal(session: Session) -> str:
    """The packet that comes next if the entity goes on as it did; empty: too few are there."""
    recent = _recent(session)
    if len(recent) < _ENOUGH:
        return ""
    last, before = recent[0], recent[1]
    step = last.time - before.time
    if not 0 < step < float("inf"):
        return ""
    x, y, z = (_tidy(p + v * step) for p, v in zip(last.position, last.velocity, strict=True))
    moved = last._replace(
        position=(x, y, z),
        time=_tidy(last.time + step),
        teleport=False,
        arrival=None if last.arrival is None else _tidy(last.arrival + step),
        sequence=None if last.sequence is None else last.sequence + 1,
    )
    return packet_line(moved)


def _recent(session: Session) -> list[Packet]:
    """The last packet and those of its entity shortly before, newest first."""
    packets = session.packets
    count = len(packets)
    found: list[Packet] = []
    for index in range(count - 1, max(count - 32, 0) - 1, -1):
        packet = packets[index]
        if not found or packet.entity == found[0].entity:
            found.append(packet)
        if len(found) == _ENOUGH:
            break
    return found


def _tidy(value: float) -> float:
    """A number as a person would type it: what float arithmetic adds is rounded off."""
    return float(f"{value:.9g}") + 0.0  # no minus in front of zero


def from_history(text: str, history: Sequence[str]) -> str:
    """What is left of the newest earlier line that begins like this."""
    if not text.strip():
        return ""
    for line in reversed(history):
        if line.startswith(text) and line != text:
            return line[len(text) :]
    return ""
