"""What was typed or loaded, and why it jitters: ``:inspect`` and ``:diagnose``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from epic_cli.session.command_table import command
from epic_cli.session.dialogue import Dialogue
from epic_cli.shell.options.common import layout_options

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.recordings.layout import Layout


@command("inspect")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, readable=True))
@layout_options
def inspect(dialogue: Dialogue, file: str | None, given: Layout | None) -> None:
    """Show what is in FILE, or in the packets so far, how it was read, and what looks wrong."""
    from epic_cli.jobs.inspect.report import report
    from epic_cli.jobs.inspect.run import inspect as run
    from epic_cli.recordings.watch import Watch
    from epic_cli.shell.messages import Messages, Reporter
    from epic_cli.shell.sources import blocks
    from epic_cli.show.text import ReportText

    if file is None and given is not None:
        raise click.UsageError("columns and units are those of a file: give its name")
    silent = Reporter(file or "this session", Messages(quiet=True))
    watch = silent.watch = Watch(thorough=True)

    def typed() -> Iterator[PacketBlock]:
        watch.format = "text"
        for _, block in dialogue.session.packets.blocks():
            watch.observe(block)
            yield block

    packets = typed() if file is None else blocks(file, given=given, reporter=silent)
    dialogue.screen.show(ReportText(report(run(silent.name, packets, watch), ":inspect")))


@command("diagnose")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, readable=True))
def diagnose(dialogue: Dialogue, file: str | None) -> None:
    """Say why FILE, or the packets so far, jitter: causes, evidence and cures.

    FILE is a recording, or a network trace without positions. If the session's strategy has a delay
    buffer, how often it runs empty is looked at, too.
    """
    from epic_cli.jobs.diagnose.command import DiagnoseEach, diagnosed
    from epic_cli.jobs.diagnose.report import report
    from epic_cli.jobs.diagnose.spec import DiagnoseSpec
    from epic_cli.shell.errors import StoppedAtLine, WrongUsage
    from epic_cli.shell.messages import Messages, Reporter
    from epic_cli.show.text import ReportText

    session = dialogue.session
    view = session.view
    strategies = (view.strategy._replace(label=view.strategy.name),)
    name = file or "this session"
    try:
        if file is not None:
            each = DiagnoseEach(strategies=strategies)
            found = each.run(file, Reporter(name, Messages(quiet=True)))
        else:
            found = diagnosed(DiagnoseSpec(session.packets.by_entity(), strategies), name)
    except WrongUsage as error:
        dialogue.screen.say(str(error))
        return
    except StoppedAtLine:  # it is shown
        return
    dialogue.screen.show(ReportText(report(name, found)))


COMMANDS = [inspect, diagnose]
