"""The packets so far and what is drawn of them, as a case for ``epic check``."""

from __future__ import annotations

import os

import click

from epic_cli.analysis.digits import counted
from epic_cli.ui.io.errors import CannotAccess
from epic_cli.ui.session.command_table import command
from epic_cli.ui.session.dialogue import Dialogue


@command("golden")
@click.argument("name", type=click.Path())
def golden(dialogue: Dialogue, name: str) -> None:
    """Make a case for "epic check" of the packets so far, in the folder NAME."""
    from epic_cli.checking.discovery import CASE_FILE, beside
    from epic_cli.checking.run import write
    from epic_cli.checking.writing import CaseExists, new_case
    from epic_cli.engine.text.rows import RowWriter
    from epic_cli.ui.io.case_values import case_values

    session = dialogue.session
    if not len(session.packets):
        raise click.UsageError("there are no packets yet")
    view = session.view
    values = case_values(name, view.strategy.name, view.strategy.settings, view.timing)
    writer = RowWriter("tsv")
    rows = [writer.rows(samples, session.entities) for samples in session.samples()]
    try:
        path = new_case(name, [], values, b"".join(session.packets.texts()))
        write(beside(path, "tsv"), writer.header() + b"".join(rows))
    except CaseExists as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise CannotAccess("write to", os.path.join(name, CASE_FILE), error) from error  # noqa: PTH118
    count = sum(one.count(b"\n") for one in rows)
    dialogue.screen.say(
        f"{path}: {counted(len(session.packets), 'packet')}, {counted(count, 'row')}"
    )


COMMANDS = [golden]
