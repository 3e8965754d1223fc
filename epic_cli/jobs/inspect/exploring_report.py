"""Unknown binary datagrams: their bytes with what moves, and layouts that have been tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.jobs.inspect.exploring import proposals
from epic_cli.jobs.inspect.moving_columns import LEAST, Proposal
from epic_cli.jobs.inspect.report import picture
from epic_cli.metrics.digits import counted
from epic_cli.recordings.addresses import Address
from epic_cli.recordings.datagrams.binary import RecordLayout
from epic_cli.recordings.datagrams.decoding import Decoder
from epic_cli.show import report as model

if TYPE_CHECKING:
    from rich.text import Text

    from epic_cli.engine.contract import Packet
    from epic_cli.recordings.addresses import ReceivedDatagram

#: So many layouts are tried, and shown; so many bytes; the share of datagrams that one may refuse.
_MOST, _SHOWN, _BYTES, _LEFT_OUT = 12, 3, 128, 0.02

#: The share of the best score that others need; below it most miss records, or mix entities.
_NEAR = 0.85


class _Tried(NamedTuple):
    """A layout that reads the datagrams: its packets, and how many datagrams it refuses."""

    proposal: Proposal
    packets: list[Packet]
    refused: int


def _tried(proposal: Proposal, datagrams: Sequence[bytes]) -> _Tried:
    found = list(Decoder(records=RecordLayout(proposal.layout)).read(datagrams))
    blocks = [one.block for one in found if one.block is not None]
    packets = [block[index] for block in blocks for index in range(len(block))]
    return _Tried(proposal, packets, sum(one.refused for one in found))


def _shown(tried: Sequence[_Tried], datagrams: int) -> list[_Tried]:
    """Those that read (nearly) all datagrams, neither as a better one nor much worse."""
    shown: list[_Tried] = []
    for one in tried:
        worse = shown and one.proposal.score < _NEAR * shown[0].proposal.score
        same = any(other.packets == one.packets for other in shown)
        if one.packets and one.refused <= _LEFT_OUT * datagrams and not worse and not same:
            shown.append(one)
    return shown[:_SHOWN]


def report(received: Sequence[ReceivedDatagram], command: str) -> model.Report:
    """What datagrams may hold; ``command`` begins the line that reads them so."""
    senders = Counter(one.sender[:2] for one in received)
    sources: list[tuple[str, Sequence[ReceivedDatagram]]] = [("", received)]
    if len(senders) > 1:  # others may send something else
        sender = senders.most_common(1)[0][0]
        of_one = [one for one in received if one.sender[:2] == sender]
        sources.append((f" --from {Address(*sender)}", of_one))
    tried: list[_Tried] = []
    for origin, some in sources:
        if not tried:
            datagrams, command = [one.data for one in some], command + origin
            found = proposals(datagrams, [one.time for one in some])
            tried = _shown([_tried(one, datagrams) for one in found[:_MOST]], len(datagrams))
    sizes = Counter(len(one.data) for one in received)
    common = ", ".join(f"{size:,} bytes ({count:,})" for size, count in sizes.most_common(6))
    facts = [("datagrams", f"{len(received):,} of {counted(len(senders), 'sender')}")]
    facts += [("sizes", common)] if sizes else []
    facts += [("bytes", "== never changes, .. does, tt and others: the first layout's fields")]
    parts: list[model.Part] = [model.Finding("", "", facts)]
    if sizes:
        shown = tried[0].proposal if tried else None
        parts.append(
            model.Figure("Bytes, and below what they do.", lambda: _bytes(received, shown), str)
        )
    for one in tried:
        parts += _part(one, len(datagrams), command)
    if tried:
        sure = tried[0].proposal.sure and len(tried) == 1
        verdict = "Sure: nothing else explains the datagrams; units are the sender's."
        if not sure:
            verdict = (
                "Not sure: look at the pictures; the first explains most, units are the sender's."
            )
    elif len(received) < LEAST:
        verdict = f"Too few datagrams: {LEAST} are needed, better a few hundred while things move."
    else:
        verdict = "No layout was found that has a stamp and positions that move smoothly."
    return model.Report(
        f"{counted(len(received), 'datagram')}: {counted(len(tried), 'layout')}",
        [verdict],
        parts,
        data=model.Data(records=lambda: [_record(one) for one in tried]),
    )


def _part(one: _Tried, datagrams: int, command: str) -> list[model.Part]:
    paths: dict[str, list[tuple[float, ...]]] = {}
    for packet in one.packets:
        paths.setdefault(packet.entity, []).append(packet.position)
    first = one.packets[0]
    numbers = zip(("time", *"xyz"), (first.time, *first.position), strict=True)
    fields = [("entity", first.entity)] if first.entity else []
    fields += [(name, f"{number:.6g}") for name, number in numbers]
    read = f"{datagrams - one.refused:,} of {counted(datagrams, 'datagram')}, "
    read += f"{counted(len(one.packets), 'packet')}, {len(paths):,} entities"
    terms = [
        ("reads", read),
        ("first packet", ", ".join(f"{name} {text}" for name, text in fields)),
    ]
    usage = model.Usage([("", f"{command} --layout {quote(one.proposal.layout)}")])
    drawn = {name: np.array(path) for name, path in paths.items() if len(path) > 1}
    return [model.Finding(one.proposal.layout, "", terms), picture(drawn), usage]


def _record(one: _Tried) -> dict[str, Any]:
    entities = {packet.entity for packet in one.packets}
    return {
        "layout": one.proposal.layout,
        "sure": one.proposal.sure,
        "packets": len(one.packets),
        "entities": len(entities),
        "refused_datagrams": one.refused,
    }


def _bytes(received: Sequence[ReceivedDatagram], proposal: Proposal | None) -> Text:
    """The last datagram of the commonest size; == never changes, .. does, the rest are fields."""
    from rich.text import Text

    size = Counter(len(one.data) for one in received).most_common(1)[0][0]
    rows = np.array(
        [list(one.data[:_BYTES]) for one in received if len(one.data) == size], np.uint8
    )
    marks = ["==" if still else ".." for still in np.ptp(rows, axis=0) == 0]
    for column in proposal.columns if proposal is not None else ():
        word = {"time": "tt", "seq": "ss", "n": "nn"}.get(column.name, column.name * 2)[:2]
        for at in column.span & set(range(len(marks))):
            marks[at] = word
    lines = []
    for at in range(0, rows.shape[1], 16):
        last = " ".join(f"{byte:02x}" for byte in rows[-1, at : at + 16])
        lines += [Text(f"{at:04x}  {last}"), Text(f"      {' '.join(marks[at : at + 16])}", "dim")]
    return Text("\n").join(lines)
