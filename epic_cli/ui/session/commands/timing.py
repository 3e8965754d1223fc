"""When rows are drawn and when packets meet them: a command for each setting of the timing."""

from __future__ import annotations

from typing import Any

import click

from epic_cli.ui.io.timing import TIMING, TimingSetting
from epic_cli.ui.session.changes import change_view
from epic_cli.ui.session.command_table import command
from epic_cli.ui.session.dialogue import Dialogue


def _command(setting: TimingSetting) -> click.Command:
    name = setting.name

    @command(name, setting.command_help)
    @click.argument(setting.type.name, required=False, type=setting.command_type)
    def change(dialogue: Dialogue, **values: Any) -> None:
        session = dialogue.session
        before = setting.show(getattr(session.timing_in_force, name))
        given = values[setting.type.name]
        if given is None:
            dialogue.screen.say(f"{name} {before}")
            return
        after = None if given == setting.unset else given
        changed: dict[str, Any] = {name: after}
        view = session.view._replace(timing=session.view.timing._replace(**changed))
        change_view(dialogue, view, f"{name} {before} -> {setting.show(after)}")
        dialogue.record(f":{name} {setting.write(after)}")

    return change


COMMANDS = [_command(setting) for setting in TIMING]
