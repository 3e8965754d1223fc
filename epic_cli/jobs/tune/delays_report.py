"""The delays that packets need, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from epic_cli.jobs.tune.delays import LOST, BufferDelay, Cure, DelaysNeeded
from epic_cli.jobs.tune.report import set_words, written
from epic_cli.metrics.digits import percent, seconds
from epic_cli.metrics.traffic import SHARES
from epic_cli.show.report import KEPT, Column, Data, Part, Record, Report, Table

#: The share for which the delays with losses are shown beside each buffer.
_WITH_LOSSES = SHARES.index(0.99)

_CSV_FIELDS = (
    "strategy", "setting", "now", "delay", "in_time", "share", "lost", "seconds", "settings",
)  # fmt: skip

#: Which columns of the buffers go first where there is no room.
_WEIGHTS = (KEPT, 8, KEPT, 5, 7, 1, 4, KEPT, 3, 6, 2)

_LOST = ("no loss", "one lost", "two lost")

_MEANING = (
    "Needed: arrival(i) - sent(i - 1), and further back with losses, less the least delay: how far"
    " behind the fastest packet's state a buffer has to draw so that this share of the packets is"
    " there in time. That is the latency that it costs. delay: what it is now; in time: the share"
    " of packets that it is enough for. The numbers are those of the setting; with losses, for"
    " 99 %. What other losses and jitter need, and when dead reckoning does better:"
    " https://github.com/epic-cli/epic/tree/main/tests/studies"
)

NO_ARRIVALS = "the delay that packets need is worked out from at least 20 with arrival times"


def report(found: DelaysNeeded) -> Report:
    """The delays by loss and share, and what each delay buffer has to be set to."""
    alone, lost = found.needed[0], found.needed[1]
    parts: list[Part] = [_needed(found)]
    if found.buffers:
        parts.append(_buffers(found.buffers))
    return Report(
        verdict=[
            f"A delay of {seconds(alone[1])} is enough for 95 % of the packets, {seconds(alone[2])}"
            f" for 99 %; {seconds(lost[2])} where the packet before is lost."
        ],
        parts=parts,
        notes=_notes(found.buffers),
        data=Data(_CSV_FIELDS, lambda: _rows(found), lambda: list(records(found))),
    )


def _needed(found: DelaysNeeded) -> Table:
    columns = [
        Column(_percent(share), [seconds(needed[at]) for needed in found.needed], right=True)
        for at, share in enumerate(SHARES)
    ]
    return Table([Column("delay needed", _LOST), *columns], caption="The delay that packets need")


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


def _buffers(buffers: Sequence[BufferDelay]) -> Table:
    titles = ["buffer", "setting", "now", "delay", "in time", *map(_percent, SHARES), *_LOST[1:]]
    cells = zip(*map(_cells, buffers), strict=True)
    columns = [
        Column(title, column, weight, right=at > 1)
        for at, (title, column, weight) in enumerate(zip(titles, cells, _WEIGHTS, strict=True))
    ]
    return Table(columns, caption="What each buffer would have to be set to")


def _cells(one: BufferDelay) -> list[str]:
    def value(cure: Cure) -> str:
        return "-" if cure.settings is None else written(cure.settings[one.setting])

    cures = [*one.cures[0], *(lost[_WITH_LOSSES] for lost in one.cures[1:])]
    now = [written(one.now), seconds(one.latency), percent(one.covers)]
    return [one.label, one.setting, *now, *map(value, cures)]


def _notes(buffers: Sequence[BufferDelay]) -> list[str]:
    """What the tables mean, and what else is to be set."""
    lines = [_MEANING]
    for one in buffers:
        every = [cure.settings or {} for lost in one.cures for cure in lost]
        others = {name: value for each in every for name, value in each.items()}
        others.pop(one.setting, None)
        if others:
            words = " and ".join(f"{name}={written(value)}" for name, value in others.items())
            some = any(each and not others.keys() <= each.keys() for each in every)
            lines.append(f"{one.label}: with {words}{' where it is shorter' if some else ''}.")
    beyond = [
        one.label
        for one in buffers
        if any(cure.settings is None for lost in one.cures for cure in lost)
    ]
    if beyond:
        lines.append(f"-: out of range for {', '.join(beyond)}, or the clocks are too far apart.")
    return lines


def records(found: DelaysNeeded) -> Iterator[dict[str, Any]]:
    """A record for each delay, and for each buffer's setting; delays in seconds."""
    for lost, needed in zip(LOST, found.needed, strict=True):
        for share, delay in zip(SHARES, needed, strict=True):
            yield {"kind": "delay", "share": share, "lost": lost, "seconds": delay}
    for one in found.buffers:
        yield from buffer_records(one)


def buffer_records(one: BufferDelay) -> Iterator[dict[str, Any]]:
    """What one buffer would have to be set to; null: it cannot be."""
    for lost, cures in zip(LOST, one.cures, strict=True):
        for share, cure in zip(SHARES, cures, strict=True):
            yield {
                "kind": "buffer",
                "strategy": one.label,
                "setting": one.setting,
                "now": one.now,
                "delay": one.latency,
                "in_time": one.covers,
                "share": share,
                "lost": lost,
                "seconds": cure.latency,
                "settings": None if cure.settings is None else dict(cure.settings),
            }


def _rows(found: DelaysNeeded) -> list[Record]:
    """The buffers' records for CSV, settings as ``--set`` takes them."""
    rows: list[Record] = []
    for one in found.buffers:
        for record in buffer_records(one):
            del record["kind"]
            if record["settings"] is not None:
                record["settings"] = set_words(one.label, record["settings"])
            rows.append(record)
    return rows
