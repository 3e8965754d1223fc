"""A view as the commands that make it: what the journal begins with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from epic_cli.engine.settings import Value
from epic_cli.formats.writing import number
from epic_cli.playback import DEFAULT_TICK, Ratio
from epic_cli.repl.session import View


def view_commands(view: View) -> list[str]:
    """The commands that lead from the defaults to this view."""
    defaults = View()
    timing = view.timing
    lines = []
    if view.strategy != defaults.strategy:
        lines.append(f":strategy {shlex.quote(view.strategy)}")
    if view.settings:
        lines.append(f":set {assignments(view.settings)}")
    if timing.tick != DEFAULT_TICK:
        lines.append(f":tick {timing.tick[0]}/{timing.tick[1]}")
    if timing.clock:
        lines.append(f":clock {timing.clock}")
    if timing.pacing:
        lines.append(f":pacing {timing.pacing}")
    if timing.latency is not None:
        lines.append(f":latency {number(timing.latency)}")
    return lines


def assignments(settings: Mapping[str, Value]) -> str:
    """Settings as the words of ``:set`` and ``--set``."""
    return " ".join(shlex.quote(f"{name}={value_text(value)}") for name, value in settings.items())


def value_text(value: Value) -> str:
    """A setting's value as it is typed."""
    return value if isinstance(value, str) else number(float(value))


def tick_text(tick: Ratio) -> str:
    """A tick in seconds: ``0.05 s``, or the ratio where the decimal would not be short."""
    seconds = f"{tick[0] / tick[1]:.6g}"
    return f"{seconds} s" if len(seconds) <= 6 else f"{tick[0]}/{tick[1]} s"
