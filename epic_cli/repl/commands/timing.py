"""When rows are drawn and when packets meet them."""

from __future__ import annotations

from typing import Any

import click

from epic_cli.engine.text.rows import FORMATS
from epic_cli.formats.writing import number
from epic_cli.playback import CLOCKS, PACINGS
from epic_cli.repl.changes import change_view
from epic_cli.repl.commands.common import command
from epic_cli.repl.interpreter import Interpreter
from epic_cli.repl.script import tick_text
from epic_cli.terminal.parameters import ParameterType, TickLength


def _change(interpreter: Interpreter, what: str, **timing: Any) -> None:
    view = interpreter.session.view
    change_view(interpreter, view._replace(timing=view.timing._replace(**timing)), what)


@command("tick")
@click.argument("length", required=False, type=TickLength())
def tick(interpreter: Interpreter, length: tuple[int, int] | None) -> None:
    """Set the time between rows: 0.05, 1/60, 50ms or 60hz."""
    before = interpreter.session.view.timing.tick
    if length is None:
        interpreter.screen.say(f"tick {tick_text(before)}")
        return
    _change(interpreter, f"tick {tick_text(before)} -> {tick_text(length)}", tick=length)
    interpreter.record(f":tick {length[0]}/{length[1]}")


@command("clock")
@click.argument("name", required=False, type=click.Choice([*CLOCKS, "auto"]))
def clock(interpreter: Interpreter, name: str | None) -> None:
    """Choose the clock: single drifts as the demo's does, exact does not."""
    session = interpreter.session
    before = session.clock
    if name is None:
        interpreter.screen.say(f"clock {before}")
        return
    _change(interpreter, f"clock {before} -> {name}", clock=None if name == "auto" else name)
    interpreter.record(f":clock {name}")


@command("pacing")
@click.argument("name", required=False, type=click.Choice([*PACINGS, "auto"]))
def pacing(interpreter: Interpreter, name: str | None) -> None:
    """Choose when packets meet rows: as the demo has it, or by their arrival times."""
    session = interpreter.session
    before = session.pacing
    if name is None:
        interpreter.screen.say(f"pacing {before}")
        return
    _change(interpreter, f"pacing {before} -> {name}", pacing=None if name == "auto" else name)
    interpreter.record(f":pacing {name}")


class Latency(ParameterType):
    """Seconds, or ``none``."""

    name = "seconds"
    _range = click.FloatRange(-3600, 3600)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Takes a number of seconds, or ``none``."""
        if value == "none":
            return "none"
        return self._range.convert(value, param, ctx)


@command("latency")
@click.argument("seconds", required=False, type=Latency(), metavar="SECONDS")
def latency(interpreter: Interpreter, seconds: float | str | None) -> None:
    """Give packets without an arrival time one: their stamp plus SECONDS; none: do not."""
    before = interpreter.session.view.timing.latency
    shown = "none" if before is None else f"{number(before)} s"
    if seconds is None:
        interpreter.screen.say(f"latency {shown}")
        return
    after = seconds if isinstance(seconds, float) else None
    text = "none" if after is None else number(after)
    _change(interpreter, f"latency {shown} -> {text}", latency=after)
    interpreter.record(f":latency {text}")


@command("format")
@click.argument("name", required=False, type=click.Choice(FORMATS))
def row_format(interpreter: Interpreter, name: str | None) -> None:
    """Choose how rows are written."""
    screen = interpreter.screen
    if name is None:
        screen.say(f"format {screen.format}")
        return
    screen.choose_format(name)
    if interpreter.session.lines and not interpreter.quiet:
        interpreter.draw_tail()


COMMANDS = [tick, clock, pacing, latency, row_format]
