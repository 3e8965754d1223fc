"""The delays that packets need, for people, for documents and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.constrain import Constrain
from rich.text import Text

from epic_cli.analysis.diagnosis.messages import SHARES
from epic_cli.analysis.digits import percent, seconds
from epic_cli.analysis.tuning.delays import LOST, BufferDelay, Cure, DelaysNeeded
from epic_cli.formats.wording import left_out_words
from epic_cli.views.documents import markdown_table
from epic_cli.views.report import KEPT, Column
from epic_cli.views.table import fit

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from epic_cli.engine.parameters import Value

#: Sentences are no longer than this, however wide the screen is.
PROSE = 160

#: The share for which the delays with losses are shown beside each buffer.
_WITH_LOSSES = SHARES.index(0.99)

CSV_FIELDS = (
    "strategy", "setting", "now", "delay", "in_time", "share", "lost", "seconds", "settings",
)  # fmt: skip

_LOST = ("no loss", "one lost", "two lost")

_MEANING = (
    "Needed: arrival(i) - sent(i - 1), and further back with losses, less the least delay: how far"
    " behind the fastest packet's state a buffer has to draw so that this share of the packets is"
    " there in time. That is the latency that it costs. delay: what it is now; in time: the share"
    " of packets that it is enough for. The numbers are those of the setting; with losses, for"
    " 99 %."
)

NO_ARRIVALS = "the delay that packets need takes 20 of them with arrival times"


def written(value: Value) -> str:
    """A setting's value as options take it."""
    return value if isinstance(value, str) else f"{value:.12g}"


def share_title(share: float) -> str:
    """``99.9 %``."""
    return f"{share * 100:g} %"


def headline(found: DelaysNeeded) -> str:
    """What the network needs, in a sentence."""
    alone, lost = found.needed[0], found.needed[1]
    return (
        f"95 % of the packets need a delay of {seconds(alone[1])}, 99 % one of {seconds(alone[2])};"
        f" {seconds(lost[2])} where a packet before them is lost."
    )


class DelaysText:
    """A sentence, the delays, and what each delay buffer has to be set to. rich prints it."""

    def __init__(self, found: DelaysNeeded) -> None:
        self._found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tables with what they mean under them."""
        room = options.max_width
        yield Constrain(Text(headline(self._found), style="bold"), PROSE)
        yield Text()
        titles, rows = needed_rows(self._found)
        columns = [
            Column(title, [row[at] for row in rows], right=at > 0)
            for at, title in enumerate(titles)
        ]
        yield from fit(columns, room).lines()
        if self._found.buffers:
            yield Text()
            titles, rows = buffer_rows(self._found)
            weights = (KEPT, 8, KEPT, 5, 7, 1, 4, KEPT, 3, 6, 2)
            columns = [
                Column(title, [row[at] for row in rows], weight, right=at > 1)
                for at, (title, weight) in enumerate(zip(titles, weights, strict=True))
            ]
            table = fit(columns, room)
            yield from table.lines()
            words = left_out_words(table.left_out, room, "a wider window or --format csv")
            if words:
                yield Text()
                yield Constrain(Text(words), PROSE)
        yield Text()
        for line in notes(self._found):
            yield Constrain(Text(line, style="dim"), PROSE)


def needed_rows(found: DelaysNeeded) -> tuple[list[str], list[list[str]]]:
    """The delays by losses and share: heads, and cells."""
    titles = ["delay needed", *map(share_title, SHARES)]
    rows = [[name, *map(seconds, needed)] for name, needed in zip(_LOST, found.needed, strict=True)]
    return titles, rows


def buffer_rows(found: DelaysNeeded) -> tuple[list[str], list[list[str]]]:
    """What each buffer is set to, what that comes to, and what it would have to be."""
    titles = ["buffer", "setting", "now", "delay", "in time"]
    titles += [*map(share_title, SHARES), *_LOST[1:]]
    return titles, [_row(one) for one in found.buffers]


def _row(one: BufferDelay) -> list[str]:
    cures = [*one.cures[0], *(lost[_WITH_LOSSES] for lost in one.cures[1:])]
    values = [_value(one, cure) for cure in cures]
    return [
        one.label,
        one.setting,
        written(one.now),
        seconds(one.latency),
        percent(one.covers),
        *values,
    ]


def _value(one: BufferDelay, cure: Cure) -> str:
    return "-" if cure.settings is None else written(cure.settings[one.setting])


def notes(found: DelaysNeeded) -> list[str]:
    """What the tables mean, and what else is to be set."""
    lines = [_MEANING]
    for one in found.buffers:
        every = [cure.settings or {} for lost in one.cures for cure in lost]
        others = {name: value for each in every for name, value in each.items()}
        others.pop(one.setting, None)
        if others:
            words = " and ".join(f"{name}={written(value)}" for name, value in others.items())
            some = any(each and not others.keys() <= each.keys() for each in every)
            lines.append(f"{one.label}: with {words}{' where it is shorter' if some else ''}.")
    beyond = [
        one.label
        for one in found.buffers
        if any(cure.settings is None for lost in one.cures for cure in lost)
    ]
    if beyond:
        lines.append(f"-: {', '.join(beyond)} cannot be set so, or the clocks are too far apart.")
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


def as_markdown(found: DelaysNeeded) -> str:
    """The same for a document."""
    parts = [headline(found), "", *markdown_table(*needed_rows(found), left=1), ""]
    if found.buffers:
        parts += [*markdown_table(*buffer_rows(found), left=2), ""]
    return "\n".join([*parts, *(f"- {line}" for line in notes(found))]) + "\n"


def as_csv_rows(found: DelaysNeeded) -> list[Mapping[str, Any]]:
    """The buffers' records, settings as ``--set`` takes them."""
    rows: list[Mapping[str, Any]] = []
    for one in records(found):
        if one["kind"] == "buffer":
            settings = one["settings"]
            text = None if settings is None else set_words(one["strategy"], settings)
            rows.append({**{k: v for k, v in one.items() if k != "kind"}, "settings": text})
    return rows


def set_words(strategy: str, settings: Mapping[str, Value]) -> str:
    """``--set`` with each setting of a strategy."""
    return " ".join(f"--set {strategy}.{name}={written(value)}" for name, value in settings.items())
