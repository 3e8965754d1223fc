"""What each strategy would have drawn, as a chart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from epic_cli.session.command_table import command
from epic_cli.session.dialogue import Dialogue
from epic_cli.session.session import Session
from epic_cli.shell.declared import Parsed, propose_strategies
from epic_cli.show.styles import VIEWS, View

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.show.scene import Selection

#: A chart of more points than this shows no more.
_MOST_POINTS = 4000

#: What ``:plot`` calls the views of a scene.
_AXES: dict[str, View] = {"xy" if one == "above" else one: one for one in VIEWS}


def _check_variants(text: str) -> str:
    """``NAME`` or ``NAME+key=value``, checked; raises ``ValueError``."""
    from epic_cli.engine.replay.strategy_spec import read_specs

    read_specs(text.split(","))
    return text


_names_argument = click.argument(
    "names",
    nargs=-1,
    type=Parsed("name", _check_variants, (), propose_strategies),
    metavar="[NAME[+KEY=VALUE]...]...",
)


@command("plot")
@click.argument("axis", default="xy", type=click.Choice(list(_AXES)))
@_names_argument
def plot(dialogue: Dialogue, axis: str, names: tuple[str, ...]) -> None:
    """Draw a chart of what the strategy shows, or of what the NAMEs would.

    xy is the path from above, along the two axes in which the movement goes furthest. All others
    are drawn over time: where packets have a rotation, yaw is where it heads as seen from above,
    angle by how many degrees it is off.
    """
    from epic_cli.metrics.notes import NotEnoughToSay
    from epic_cli.show.chart import scene_chart
    from epic_cli.show.scene import Selection

    session = dialogue.session
    if not session.packets:
        dialogue.screen.say("there are no packets yet")
        return
    candidates = _candidates(session, names or (session.view.strategy.name,))
    try:
        comparison = _compared(session, candidates, Selection(_MOST_POINTS, -math.inf, math.inf))
    except NotEnoughToSay as error:
        dialogue.screen.complain(getattr(error, "why", str(error)))
        return
    height = max(min(dialogue.screen.lines - 8, 18), 5)
    for scene in comparison.scenes:
        dialogue.screen.show(scene_chart(scene, _AXES[axis], height=height))


def _candidates(session: Session, names: tuple[str, ...]) -> list[StrategySpec]:
    from epic_cli.engine.replay.strategy_spec import read_specs

    view = session.view
    # with commas, too: as `epic compare --strategies` has it
    found = read_specs(dict.fromkeys(name for one in names for name in one.split(",")))
    return [
        one._replace(settings={**view.strategy.settings, **one.settings})
        if one.name == view.strategy.name
        else one
        for one in found
    ]


def _compared(
    session: Session, participants: list[StrategySpec], selection: Selection | None
) -> Comparison:
    from epic_cli.metrics.evaluation import CompareSpec, Run, compare_run

    spec = CompareSpec(participants, session.view.timing, selection=selection, intervals=False)
    return compare_run(Run("", session.packets.by_entity()), spec)


COMMANDS = [plot]
