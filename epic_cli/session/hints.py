"""Hints while typing: the missing rest of a packet, a proposed next packet, and the toolbar."""

from __future__ import annotations

from epic_cli.engine.contract import Packet, Rotation
from epic_cli.engine.keys import ANGLES, WORDS
from epic_cli.engine.packets import turn_between
from epic_cli.engine.replay.playback import tick_text
from epic_cli.engine.text import TextScanner, next_piece
from epic_cli.engine.text.widths import cut, width
from epic_cli.recordings.entries.text import write_packet_line
from epic_cli.recordings.wording import describe_grammar
from epic_cli.recordings.writing import Unwritable
from epic_cli.session.controller import format_seconds
from epic_cli.session.state import FIRST_PACKET, Session

#: The proposed time (s) between an entity's first two packets.
_STEP = 0.1

#: The number of last packets among which those of an entity are looked for.
_NEAR = 32


def complete_packet(text: str) -> str:
    """Return the text that completes a packet that is being typed; empty for a command."""
    if text.lstrip()[:1] in (":", "q"):
        return ""
    piece = next_piece(text.encode("utf-8", "surrogateescape"))
    if piece is None:
        return _complete_value(text) if text.count("/") > 1 else ""
    rest = describe_grammar(piece)
    return rest.lstrip() if text[-1:].isspace() else rest


def _complete_value(text: str) -> str:
    """Return the text that completes the value behind the ``=`` of a packet's last word."""
    name, _, value = text.rpartition(" ")[2].partition("=")
    if f" {name}=" not in text or name not in WORDS:
        return ""
    given = value.split(",")
    left = WORDS[name].split(",")[len(given) - (not given[-1]) :]
    return "," * bool(given[-1] and left) + ",".join(left)


def complete_word(text: str) -> list[str]:
    """Return completions of a packet's last word, without words that the packet already has."""
    rest, _, begun = text.rpartition(" ")
    if len(TextScanner().scan(rest.encode("utf-8", "surrogateescape") + b"\n", final=True)) != 1:
        return []
    has = {word.partition("=")[0] for word in rest.split(" ") if "=" in word}
    angles = set(ANGLES)
    taken = has | (angles if "rotation" in has else set())
    taken |= {"rotation"} if angles & has else set()
    return [f"{word}=" for word in WORDS if word.startswith(begun) and word not in taken]


def propose_packet(session: Session) -> str:
    """Return the text of a moving entity's next packet; empty if its times give no step."""
    near = session.list_last_packets(_NEAR)
    if not near:
        return FIRST_PACKET
    of_entity = (packet for packet in near if packet.entity == near[-1].entity)
    *_, before, last = [near[-1], *of_entity]
    step = last.time - before.time if before is not last else _STEP
    if not 0 < step < float("inf"):
        return ""
    assert last.velocity is not None  # packet text has no packet without one
    x, y, z = (
        _round_noise(p + v * step) for p, v in zip(last.position, last.velocity, strict=True)
    )
    vx, vy, vz = map(_round_if_computed, last.velocity)
    moved = last._replace(
        position=(x, y, z),
        velocity=(vx, vy, vz),
        time=_round_noise(last.time + step),
        teleport=False,
        rotation=_extrapolate_rotation(before, last),
        arrival=None if last.arrival is None else _round_noise(last.arrival + step),
        sequence=None if last.sequence is None else last.sequence + 1,
    )
    try:
        return write_packet_line(moved)
    except Unwritable:
        return ""  # packet text can be read that cannot be written


def _extrapolate_rotation(before: Packet, last: Packet) -> Rotation | None:
    """Return a rotation extrapolated from the last by the angle between the last two packets'."""
    if last.rotation is None:
        return None
    begin = before.rotation or last.rotation
    rotation, _ = turn_between((begin, None), (last.rotation, None), 1.0, 2.0)
    x, y, z, w = (round(part, 9) + 0.0 for part in rotation)
    return x, y, z, w


def _round_noise(value: float) -> float:
    """Round off the error of float arithmetic, so that the number looks like a typed one."""
    return float(f"{value:.9g}") + 0.0  # no minus in front of zero


def _round_if_computed(value: float) -> float:
    """Round a number of more than 15 digits, which was computed; return others unchanged."""
    return value if float(f"{value:.15g}") == value else _round_noise(value)


_GAP = " | "


def write_toolbar(session: Session, columns: int, listening: str = "") -> str:
    """Return the text of the toolbar, no wider than the window.

    The least important parts are dropped first. ``listening`` names the source of packets that are
    not typed.
    """
    timing = session.timing_in_force
    name, strategy = session.view.strategy.name, session.view.strategy.label
    packets = f"{len(session.lines):,} taken, {session.refused:,} refused"
    if session.discarded:
        packets += f", {session.discarded:,} discarded"
    last = ""
    for packet in session.list_last_packets(1):
        last = f"last {format_seconds(packet.time)}"
    drawn, promised = session.horizon
    if drawn < promised and not listening:
        last += f", rows wait from {format_seconds(max(drawn, 0.0))}"
    tick = f"tick {tick_text(timing.tick)} s"
    clock = f"{timing.clock} clock, {timing.pacing} pacing"
    for parts in (
        (strategy, clock, tick, packets, last, listening),
        (strategy, tick, packets, last, listening),
        (strategy, packets, last, listening),
        (strategy, packets, listening),
        (name, packets, listening),
        (name, packets),
    ):
        text = " " + _GAP.join(part for part in parts if part)
        if width(text) <= columns:
            return text
    return cut(text, columns)
