"""What each strategy would have drawn: figures side by side (``:compare``), and charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.replay.playback import ReplaySpec
from epic_cli.session.command_table import command
from epic_cli.session.dialogue import Dialogue
from epic_cli.session.session import Session
from epic_cli.session.wording import position_text
from epic_cli.shell.parameters import Parsed, propose_strategies
from epic_cli.show.styles import VIEWS, View

if TYPE_CHECKING:
    from rich.console import Group

    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.metrics.evaluation.result import Comparison
    from epic_cli.show.scene import Selection

#: A chart of more points than this shows no more.
_MOST_POINTS = 4000

#: What ``:plot`` calls the views of a scene.
_AXES: dict[str, View] = {"xy" if one == "above" else one: one for one in VIEWS}

#: Lines around the best strategies in a window, and so many of these in any.
_AROUND, _FEWEST = 8, 3

#: The metrics that fit beside the final position.
_METRICS = ("largest_jump", "error", "lag", "score")


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


@command("compare")
@_names_argument
def compare(dialogue: Dialogue, names: tuple[str, ...]) -> None:
    """Show what each strategy would have drawn for the packets so far.

    Final positions, largest jump, error, lag and score, best first; without NAMEs, all
    strategies. The session's own settings hold for its strategy.
    """
    from epic_cli.engine.replay import TooManyRows
    from epic_cli.jobs.compare.notes import not_enough_words, notes_words, result_words
    from epic_cli.jobs.compare.sentences import verdict
    from epic_cli.metrics.notes import NotEnoughToSay

    session = dialogue.session
    if not session.packets:
        dialogue.screen.say("there are no packets yet")
        return
    candidates = _candidates(session, names)
    comparison = None
    try:
        comparison = _compared(session, candidates, None)
    except (NotEnoughToSay, TooManyRows) as error:  # the final positions can still be shown
        dialogue.screen.warn(f"no figures: {not_enough_words(error)}")
    most = max(dialogue.screen.lines - _AROUND, _FEWEST) if not names else len(candidates)
    table, left_out = _table(session, candidates, comparison, dialogue.screen.columns, most)
    dialogue.screen.show(table)
    for words in verdict(comparison)[:1] if comparison is not None else ():
        dialogue.screen.say(words)
    if left_out:
        dialogue.screen.say(left_out, "dim")
    for words in notes_words(comparison.notes) if comparison else ():
        dialogue.screen.say(words, "dim")
    for result in comparison.results if comparison else ():
        if result.failed and result.note:
            dialogue.screen.warn(f"{result.label}: {result_words(result.note)}")


@command("plot")
@click.argument("axis", default="xy", type=click.Choice(list(_AXES)))
@_names_argument
def plot(dialogue: Dialogue, axis: str, names: tuple[str, ...]) -> None:
    """Draw a chart of what the strategy shows, or of what the NAMEs would.

    xy is the path from above, along the two axes in which the movement goes furthest. All others
    are drawn over time: where packets have a rotation, yaw is where it heads as seen from above,
    angle by how many degrees it is off.
    """
    from epic_cli.jobs.compare.notes import not_enough_words
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
        dialogue.screen.complain(not_enough_words(error))
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
    from epic_cli.metrics.evaluation.run import compare_run
    from epic_cli.metrics.evaluation.spec import CompareSpec, Run

    spec = CompareSpec(participants, session.view.timing, selection=selection, intervals=False)
    return compare_run(Run("", session.packets.by_entity()), spec)


def _table(
    session: Session,
    candidates: list[StrategySpec],
    comparison: Comparison | None,
    room: int,
    most: int,
) -> tuple[Group, str]:
    """The table, of ``most`` strategies, and what it has no room for."""
    from rich.console import Group

    from epic_cli.jobs.compare.report import sort_results
    from epic_cli.metrics import named
    from epic_cli.metrics.evaluation.result import Result
    from epic_cli.recordings.wording import left_out_words
    from epic_cli.show.report import KEPT, Column
    from epic_cli.show.text import fit

    found = comparison.results if comparison else [Result(one.label, None) for one in candidates]
    by_label = {one.label: one for one in candidates}
    results = sort_results(found, "score")
    hidden, results = results[most:], results[:most]
    ends = [_final_position(session, by_label[one.label]) for one in results]
    styles = ["bold" if one.label == session.view.strategy.name else "" for one in results]
    metrics = [named(name) for name in _METRICS]
    score = metrics[-1]
    columns = [
        Column("strategy", [one.label for one in results], text=True, styles=styles),
        Column("ends at", ends, score.weight - 1, styles=styles),
        *(
            Column(
                one.title,
                [one.cell(result.value(one.name)) for result in results],
                KEPT if one is score else one.weight,
                right=True,
                styles=styles,
            )
            for one in metrics
        ),
    ]
    fitted = fit(columns, room)
    words = left_out_words(fitted.left_out, room, "a wider window")
    if hidden:
        more = f"... {len(hidden)} more strategies; :compare NAME shows one"
        words = f"{more}. {words}".rstrip()
    return Group(*fitted.lines("underline")), words


def _final_position(session: Session, candidate: StrategySpec) -> str:
    """Where a strategy leaves what it draws."""
    view = ReplaySpec(candidate, session.view.timing)
    last = None
    try:
        for samples in session.samples(view):
            last = samples.last(session.entities)
    except StrategyFailed:
        return "failed"
    return position_text(last) or "-"


COMMANDS = [compare, plot]
