"""What each strategy would have drawn: figures side by side, and charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from epic_cli.repl.changes import position_text
from epic_cli.repl.command_table import command
from epic_cli.repl.dialogue import Dialogue
from epic_cli.repl.session import Session, View
from epic_cli.terminal.parameters import StrategyName

if TYPE_CHECKING:
    from rich.table import Table

    from epic_cli.analysis.compare import Comparison, Result
    from epic_cli.analysis.contenders import Contender
    from epic_cli.analysis.scene import Selection

#: A chart of more points than this shows no more.
_MOST_POINTS = 4000


class Variant(StrategyName):
    """A strategy, possibly with settings: ``NAME`` or ``NAME+key=value``."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks the name and the settings."""
        from epic_cli.analysis.contenders import contenders

        try:
            contenders(str(value).split(","))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


@command("compare")
@click.argument("names", nargs=-1, type=Variant(), metavar="[NAME[+KEY=VALUE]...]...")
def compare(dialogue: Dialogue, names: tuple[str, ...]) -> None:
    """Show what each strategy would have drawn for the packets so far.

    Final positions, largest jump, error, lag and score, best first; without NAMEs, all
    strategies. The session's own settings hold for its strategy.
    """
    session = dialogue.session
    if not session.lines:
        dialogue.screen.say("there are no packets yet")
        return
    taking_part = _contenders(session, names)
    try:
        comparison = _compared(session, taking_part, None)
    except ValueError as error:  # too few packets to measure anything: the positions still differ
        comparison = None
        dialogue.screen.warn(f"no figures: {error}")
    dialogue.screen.show(_table(session, taking_part, comparison))
    for note in comparison.notes if comparison else []:
        dialogue.screen.say(note, "dim")


@command("plot")
@click.argument("axis", default="xy", type=click.Choice(["x", "y", "z", "xy", "error"]))
@click.argument("names", nargs=-1, type=Variant(), metavar="[NAME[+KEY=VALUE]...]...")
def plot(dialogue: Dialogue, axis: str, names: tuple[str, ...]) -> None:
    """Draw a chart of what the strategy shows, or of what the NAMEs would.

    x, y, z and error are drawn over time; xy is the path from above, along the two axes in which
    the movement goes furthest.
    """
    from epic_cli.analysis.scene import Selection
    from epic_cli.views.scenes import scene_chart

    session = dialogue.session
    if not session.lines:
        dialogue.screen.say("there are no packets yet")
        return
    taking_part = _contenders(session, names or (session.view.strategy,))
    selection = Selection(_MOST_POINTS, -math.inf, math.inf)
    comparison = _compared(session, taking_part, selection)
    height = max(min(dialogue.screen.lines - 8, 18), 5)
    for scene in comparison.scenes:
        view: Any = "above" if axis == "xy" else axis
        dialogue.screen.show(scene_chart(scene, view, height=height))


def _contenders(session: Session, names: tuple[str, ...]) -> list[Contender]:
    from epic_cli.analysis.contenders import Contender, contenders

    view = session.view
    # with commas, too: as `epic compare --strategies` has it
    found = contenders(dict.fromkeys(name for one in names for name in one.split(",")))
    return [
        Contender(one.label, one.strategy, {**view.settings, **one.settings})
        if one.strategy == view.strategy
        else one
        for one in found
    ]


def _compared(
    session: Session, taking_part: list[Contender], selection: Selection | None
) -> Comparison:
    from epic_cli.analysis.compare import compare as compare_all
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.trace import separate

    entities: dict[str, PacketBlock] = {}
    separate(session.packets.part(len(session.packets)), entities)
    return compare_all(entities, taking_part, session.view.timing, selection=selection)


def _table(session: Session, taking_part: list[Contender], comparison: Comparison | None) -> Table:
    from rich.table import Table

    results = {one.label: one for one in comparison.results} if comparison else {}
    table = Table.grid(padding=(0, 2))
    for _ in range(2):
        table.add_column(no_wrap=True)
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_row("strategy", "ends at", "jump", "error", "lag ms", "score", style="underline")
    for one in sorted(taking_part, key=lambda one: _rank(results.get(one.label))):
        view = View(one.strategy, one.settings, session.view.timing)
        mine = one.label == session.view.strategy
        figures = _figures(results.get(one.label))
        table.add_row(one.label, _end(session, view), *figures, style="bold" if mine else "")
    return table


def _rank(result: Result | None) -> float:
    return math.inf if result is None or math.isnan(result.score) else -result.score


def _figures(result: Result | None) -> list[str]:
    if result is None or result.figures is None:
        return ["-", "-", "-", "-"]
    figures = result.figures
    values = (figures.largest_jump, figures.error, figures.lag * 1000, result.score)
    return ["-" if math.isnan(one) else f"{one:.{digits}f}" for one, digits in zip(
        values, (2, 2, 0, 1), strict=True)]  # fmt: skip


def _end(session: Session, view: View) -> str:
    """Where a strategy leaves what it draws."""
    last = None
    for samples in session.samples(view):
        last = samples.last(session.entities)
    return position_text(last) or "-"


COMMANDS = [compare, plot]
