"""``epic compare``: which strategy, how much better, at what latency."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from epic_cli.cli.options.common import (
    color_option,
    remarks_options,
    saving_options,
    timing_options,
)
from epic_cli.cli.options.compare import (
    Inputs,
    Judging,
    Layout,
    Participants,
    Pictures,
    inputs_options,
    judging_options,
    layout_options,
    participants_options,
    pictures_options,
    threads_option,
)
from epic_cli.engine.text.widths import printable
from epic_cli.playback import Timing
from epic_cli.terminal.color import ColorChoice, use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage
from epic_cli.terminal.remarks import Remarks, Reporter
from epic_cli.terminal.sources import load, source_name
from epic_cli.views.metric_list import metric_lines

if TYPE_CHECKING:
    from epic_cli.analysis.notes import NotEnoughToSay
    from epic_cli.analysis.truth import Truth
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.terminal.profiles import Saving

_METRICS = """\b
Metrics, each with its name in --sort, csv and jsonl, its column in tables
(* marks the best) and its unit; "length" is the recording's unit of length:
"""

_EXAMPLES = """\b
Examples:
  epic compare sample_inputs/jitter.txt
  epic compare --chart above --chart error sample_inputs/turn.txt
  epic compare -s epic,epic+calc_ahead=0.3 sample_inputs/turn.txt
  epic compare --format markdown < sample_inputs/hop.jsonl
  epic compare --tick 1/60 --html tanks.html sample_inputs/two_tanks.csv
"""

EPILOG = _METRICS + "".join(f"  {line}\n" for line in metric_lines()) + "\n" + _EXAMPLES


@click.command(epilog=EPILOG)
@inputs_options
@participants_options
@timing_options
@judging_options
@layout_options
@pictures_options
@threads_option
@saving_options
@remarks_options
@color_option
def compare(
    inputs: Inputs,
    participants: Participants,
    timing: Timing,
    judging: Judging,
    layout: Layout,
    pictures: Pictures,
    threads: int | None,
    saving: Saving | None,
    remarks: Remarks,
    color: ColorChoice,
) -> int:
    """Say which strategy draws a recording best, and by how much.

    RECORDING is packet text, CSV or JSON lines, from a file or, without it, from standard input,
    with arrival times or a --latency to derive them from. What each strategy draws at each tick is
    compared with the truth at that time.

    Exit status: 0 all packets accepted, 1 some lines were refused, 2 wrong usage, or not enough
    in the data to say anything, 3 a file cannot be read or written, 4 a strategy of somebody's
    own failed, 130 interrupted.
    """
    from epic_cli.analysis.compare import compare as run
    from epic_cli.analysis.notes import NotEnoughToSay
    from epic_cli.cli.compare_output import write
    from epic_cli.engine.replay.trace import TooManyRows
    from epic_cli.terminal.progress import Progress
    from epic_cli.terminal.report import report_left_out
    from epic_cli.views.page_words import About

    if not participants.strategies:
        report_left_out()
    candidates = participants.candidates()
    shown = pictures.shown(candidates)
    error_color = use_color(color, sys.stderr)
    name = source_name(inputs.recording)
    with Reporter(name, remarks, error_color) as reporter:
        packets = load(inputs.recording, inputs.input_format, reporter, inputs.given)
        reporter.save(saving, inputs.given)
        if any(block.lacks_velocity() for block in packets.values()):
            reporter.estimated()
        packets = _of_entity(packets, inputs.entity, name)
        truths, truth_refused = _truths(inputs, remarks, error_color)
        try:
            with Progress("comparing") as progress:
                comparison = run(
                    packets,
                    candidates,
                    timing,
                    truths,
                    weights=judging.weights,
                    offset=inputs.truth_offset,
                    warm_up=judging.warm_up,
                    selection=pictures.selection,
                    threads=threads,
                    progress=progress,
                )
            reporter.refuse(comparison.refused)
            truth = "" if inputs.truth is None else source_name(inputs.truth)
            about = About(name, truth, f"epic {shlex.join(sys.argv[1:])}")
            write(comparison, layout, pictures, shown, color, about)
        except NotEnoughToSay as error:
            raise WrongUsage(_not_enough(error)) from error
        except TooManyRows as error:
            raise WrongUsage(f"{error} for one entity; choose a longer --tick") from error
    if any(one.failed for one in comparison.results):
        return ExitStatus.STRATEGY_FAILED
    refused = reporter.refused or truth_refused
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


def _of_entity(
    packets: dict[str, PacketBlock], entity: str | None, name: str
) -> dict[str, PacketBlock]:
    if entity is None:
        return packets
    if entity not in packets:
        there = ", ".join(sorted(filter(None, packets))[:8]) or "no named ones"
        raise WrongUsage(f"{name}: there is no entity {entity!r}; there are: {there}")
    return {entity: packets[entity]}


def _truths(
    inputs: Inputs, remarks: Remarks, color: bool
) -> tuple[Mapping[str, Truth] | None, bool]:
    """The given truth by entity, if there is one, and whether lines of it were refused."""
    from epic_cli.analysis.truth import truths_of
    from epic_cli.views.comparison_words import why

    if inputs.truth is None:
        return None, False
    name = source_name(inputs.truth)
    given = inputs.given and inputs.given._replace(unless_own=True)
    with Reporter(name, remarks, color) as reporter:
        states = load(inputs.truth, "auto", reporter, given)
    truths, missing = truths_of(states, "given", inputs.truth_offset)
    for note in missing:
        place = f"{name}: {note.entity}" if note.entity else name
        reporter.say(f"epic: {printable(place)}: {printable(why(note))}\n")
    if not truths:
        raise WrongUsage(f"not enough to say: {name} has no movement to compare with")
    return truths, reporter.refused


def _not_enough(error: NotEnoughToSay) -> str:
    from epic_cli.analysis.notes import NothingJudged, Unjudged
    from epic_cli.views.comparison_words import not_enough_words

    apart = isinstance(error, NothingJudged) and any(
        note.reason is Unjudged.NO_OVERLAP for note in error.notes
    )
    hint = "; --truth-offset moves the truth" if apart else ""
    return f"not enough to say: {not_enough_words(error)}{hint}"
