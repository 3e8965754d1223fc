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
    from epic_cli.checking.case import CASE_FILE, BrokenCase
    from epic_cli.checking.writing import CaseExists, make_case, spec_values
    from epic_cli.engine.text import RowWriter

    session = dialogue.session
    if not len(session.packets):
        raise click.UsageError("there are no packets yet")
    packets, writer = b"".join(session.packets.texts()), RowWriter("tsv")
    rows = [writer.rows(samples, session.entities) for samples in session.samples()]
    drawn = writer.header() + b"".join(rows)
    try:
        path, count = make_case(name, [], spec_values(name, session.view), packets, drawn)
    except (CaseExists, BrokenCase) as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise CannotAccess("write to", os.path.join(name, CASE_FILE), error) from error  # noqa: PTH118
    dialogue.screen.say(
        f"{path}: {counted(len(session.packets), 'packet')}, {counted(count, 'row')}"
    )


COMMANDS = [golden]
