"""The strategy, its settings and the timing: change them, see what would have been drawn."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click

from epic_cli.engine.parameter_base import Parameter, Value
from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import declaration
from epic_cli.recordings.writing import value_text
from epic_cli.session.command_table import command
from epic_cli.session.dialogue import Dialogue
from epic_cli.session.view import strategy_command
from epic_cli.shell.declared import ParameterType, SettingAssignment, StrategyName


class OwnSetting(SettingAssignment):
    """``key=value`` for the session's strategy; ``key=`` restores the default."""

    def chosen_strategy(self, ctx: click.Context) -> str | None:
        """The strategy of the session."""
        dialogue = ctx.find_object(Dialogue)
        return dialogue.session.view.strategy.name if dialogue else None

    def read(self, text: str, ctx: click.Context | None) -> tuple[str, str]:
        """Checks the name and the range as well, so that a wrong one shows while it is typed."""
        key, value = super().read(text, ctx)
        name = self.chosen_strategy(ctx) if ctx else None
        if name is not None:
            declaration(name).values({key: value} if value else {})
        return key, value


@command("strategy")
@click.argument("name", type=StrategyName())
def strategy(dialogue: Dialogue, name: str) -> None:
    """Replay the packets with another strategy.

    Each strategy keeps the settings that it was given in this session.
    """
    session = dialogue.session
    settings: Mapping[str, Value] = session.stored.get(name, {})
    if name == session.view.strategy.name:
        settings = session.view.strategy.settings
    view = session.view._replace(strategy=StrategySpec(name, settings))
    before = session.view.strategy.name
    dialogue.change_view(view, f"strategy {before} -> {name}")
    dialogue.record(strategy_command(name))


@command("set")
@click.argument("assignments", type=OwnSetting(), nargs=-1, metavar="KEY=VALUE...")
def set_(dialogue: Dialogue, assignments: tuple[tuple[str, str], ...]) -> None:
    """Replay the packets with other settings; KEY= restores a default."""
    if not assignments:
        show_settings(dialogue)
        return
    session = dialogue.session
    declared = declaration(session.view.strategy.name)
    before = session.view.strategy.values
    settings: dict[str, Value] = dict(session.view.strategy.settings)
    for key, text in assignments:
        values = declared.values({key: text} if text else {})
        if key not in values:
            raise ValueError(f"{declared.name} has no setting {key!r}")
        settings[key] = values[key]
        if values[key] == declared.values({}).get(key):
            del settings[key]
    after = declared.values(settings)
    what = ", ".join(
        f"{key} {value_text(before.get(key, ''))} -> {value_text(after.get(key, ''))}"
        for key in dict.fromkeys(key for key, _ in assignments)
    )
    spec = StrategySpec(declared.name, settings)
    dialogue.change_view(session.view._replace(strategy=spec), what)
    words = " ".join(shlex.quote(f"{key}={text}") for key, text in assignments)
    dialogue.record(f":set {words}")


@command("settings")
def show_settings_command(dialogue: Dialogue) -> None:
    """Show the strategy's settings, their values, defaults and ranges."""
    show_settings(dialogue)


def show_settings(dialogue: Dialogue) -> None:
    """Shows the settings of the session's strategy as a table."""
    from rich.console import Group

    from epic_cli.show.text import DescribedRow, described

    name = dialogue.session.view.strategy.name
    declared = declaration(name)
    if not declared.settings:
        dialogue.screen.say(f"{name} has no settings")
        return
    values = dialogue.session.view.strategy.values
    heads = ("setting", "value", "default", "range")
    rows = [DescribedRow(heads, "what it is", ["underline"] * len(heads))]
    for one in declared.settings:
        style = "bold" if values[one.name] != one.default else ""
        cells = (one.name, value_text(values[one.name]), value_text(one.default), one.range)
        rows.append(DescribedRow(cells, one.help, [style] * len(heads)))
    dialogue.screen.show(Group(*described(rows, dialogue.screen.columns)))


class _Word(ParameterType):
    """What a parameter takes, checked while it is typed; it arrives as it is written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Only checks it: the value of a word may be None, which an argument is without one."""
        super().convert(value, param, ctx)
        return value


def _timing_command(setting: Parameter) -> click.Command:
    name = setting.name

    def show(value: Any) -> str:
        unit = " s" if name in ("tick", "latency") and value is not None else ""
        return f"{setting.show(value)}{unit}"

    @command(name, setting.help)
    @click.argument("word", required=False, type=_Word(setting))
    def change(dialogue: Dialogue, word: str | None) -> None:
        session = dialogue.session
        before = show(getattr(session.timing_in_force, name))
        if word is None:
            dialogue.screen.say(f"{name} {before}")
            return
        changed: dict[str, Any] = {name: setting.read(word)}
        view = session.view._replace(timing=session.view.timing._replace(**changed))
        dialogue.change_view(view, f"{name} {before} -> {show(changed[name])}")
        dialogue.record(f":{name} {setting.write(changed[name])}")

    return change


COMMANDS = [
    strategy,
    set_,
    show_settings_command,
    *(_timing_command(setting) for setting in TIMING),
]
