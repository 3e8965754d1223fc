"""A view as the commands that make it: what the journal begins with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from epic_cli.engine.settings import Value
from epic_cli.formats.writing import number
from epic_cli.ui.io.timing import TIMING
from epic_cli.ui.session.session import View


def view_commands(view: View) -> list[str]:
    """The commands that lead from the defaults to this view."""
    defaults = View()
    lines = []
    if view.strategy != defaults.strategy:
        lines.append(f":strategy {shlex.quote(view.strategy)}")
    if view.settings:
        lines.append(f":set {assignments(view.settings)}")
    for setting in TIMING:
        value = getattr(view.timing, setting.name)
        if value != setting.default:
            lines.append(f":{setting.name} {setting.write(value)}")
    return lines


def assignments(settings: Mapping[str, Value]) -> str:
    """Settings as the words of ``:set`` and ``--set``."""
    return " ".join(shlex.quote(f"{name}={value_text(value)}") for name, value in settings.items())


def value_text(value: Value) -> str:
    """A setting's value as it is typed."""
    return value if isinstance(value, str) else number(float(value))
