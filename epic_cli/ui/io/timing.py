"""The settings of the timing, declared once for the commands' options and the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.engine.replay.playback import CLOCKS, PACINGS, Ratio, Timing
from epic_cli.ui.io.parameters import ParameterType, TickLength
from epic_cli.ui.io.quantities import Seconds

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class OrWord(ParameterType):
    """What another type takes, or one word, which stays as it is."""

    def __init__(self, other: ParameterType, word: str) -> None:
        self.name = other.name
        self._other = other
        self._word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Takes the word first."""
        return value if value == self._word else self._other.convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The word, and what the other type proposes."""
        from click.shell_completion import CompletionItem  # only completion waits for it

        own = [CompletionItem(self._word)] if self._word.startswith(incomplete) else []
        return [*self._other.shell_complete(ctx, param, incomplete), *own]


class TimingSetting(NamedTuple):
    """A field of ``Timing``, which is ``--NAME`` on the command line and ``:NAME`` in a session.

    ``unset`` is the session's word for None; empty: the field always has a value. ``written`` is
    a value as it is typed, ``shown`` as it is read. In ``option_help``, ``{tick}`` and
    ``{clock}`` are what the command's are unless they are given.
    """

    name: str
    type: ParameterType
    option_help: str
    command_help: str
    unset: str = ""
    written: Callable[[Any], str] = str
    shown: Callable[[Any], str] = str

    @property
    def default(self) -> object:
        """What it is unless it is given."""
        return getattr(Timing(), self.name)

    @property
    def command_type(self) -> ParameterType:
        """What the session's command takes: a value, or the word that unsets it."""
        if not self.unset:
            return self.type
        if isinstance(self.type, click.Choice):
            return click.Choice([*self.type.choices, self.unset])
        return OrWord(self.type, self.unset)

    def write(self, value: object) -> str:
        """A value as the word of the session's command."""
        return self.unset if value is None else self.written(value)

    def show(self, value: object) -> str:
        """A value for people to read."""
        return self.unset if value is None else self.shown(value)


def tick_text(tick: Ratio) -> str:
    """A tick in seconds: ``0.05 s``, or the ratio where the decimal would not be short."""
    seconds = f"{tick[0] / tick[1]:.6g}"
    return f"{seconds} s" if len(seconds) <= 6 else f"{tick[0]}/{tick[1]} s"


def _number_text(value: float) -> str:
    from epic_cli.formats.writing import number  # a replay writes no settings

    return number(value)


TIMING = (
    TimingSetting(
        "tick",
        TickLength(),
        "Time between rows: 0.05, 1/60, 50ms or 60hz.  [default: {tick}]",
        "Set the time between rows: 0.05, 1/60, 50ms or 60hz.",
        written=lambda tick: f"{tick[0]}/{tick[1]}",
        shown=tick_text,
    ),
    TimingSetting(
        "clock",
        click.Choice(CLOCKS),
        "single adds the tick in single precision, as the demo does, and drifts like it; exact"
        " does not drift.  [default: {clock}]",
        "Choose the clock: single drifts as in the demo, exact does not.",
        unset="auto",
    ),
    TimingSetting(
        "pacing",
        click.Choice(PACINGS),
        "demo draws rows up to 0.15 s past each packet's time at once; arrival applies each"
        " packet when it arrived.  [default: arrival if the first packet has an arrival time, else"
        " demo]",
        "Choose when packets meet rows: as in the demo, or by their arrival times. A row is drawn"
        " when no packet can change it any more: with several entities those of the newest time"
        " wait for the other entities' packets, and by arrival they wait for the next arrival.",
        unset="auto",
    ),
    TimingSetting(
        "latency",
        Seconds(-3600, 3600),
        "Give packets without an arrival time one: the time they were sent plus this; 0.08 or"
        " 80ms.",
        "Let packets without an arrival time arrive this long after they were sent, 0.08 or 80ms;"
        " none: do not.",
        unset="none",
        written=_number_text,
        shown=lambda seconds: f"{_number_text(seconds)} s",
    ),
)
