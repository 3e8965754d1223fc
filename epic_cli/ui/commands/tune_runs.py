"""The recordings of ``epic tune``: all in memory, since they are judged again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.analysis.compare.spec import Run
from epic_cli.engine.text.widths import printable
from epic_cli.formats.layout import begun_together
from epic_cli.ui.commands.recordings import given_truths, of_entity
from epic_cli.ui.io.errors import CannotAccess, WrongUsage, say
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load, source_name
from epic_cli.ui.options.compare import Inputs

if TYPE_CHECKING:
    from epic_cli.ui.io.profiles import Saving


def recorded_runs(
    names: list[str],
    inputs: Inputs,
    remarks: Messages,
    saving: Saving | None,
    color: bool,
    allowed_failures: int,
) -> tuple[list[Run], bool]:
    """The runs of these recordings, and whether lines were refused or too many were left out.

    Raises ``WrongUsage`` and ``CannotAccess`` for the only one; of several it is said, and the
    others are taken.
    """
    together = begun_together(inputs.given) if inputs.truth else None
    truths, incomplete = given_truths(inputs, together, remarks, color)
    runs, left_out = [], 0
    for file in names:
        name = source_name(file)
        given = together or begun_together(inputs.given)
        try:
            with Reporter(name, remarks, color) as reporter:
                packets = load(file, inputs.input_format, reporter, given)
                reporter.save(saving, inputs.given)
                if any(block.lacks_velocity() for block in packets.values()):
                    reporter.estimated()
            incomplete |= reporter.refused
            runs.append(Run(name, of_entity(packets, inputs.entity, name), truths))
        except (CannotAccess, WrongUsage) as error:
            if len(names) == 1:
                raise
            left_out += 1
            say(f"epic: {printable(str(error))}; it is left out\n")
    return runs, incomplete or left_out > allowed_failures
