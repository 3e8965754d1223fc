"""The options that say how a table or JSON lines are laid out, for commands and for ``:load``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from epic_cli.ui.io.errors import WrongUsage, printable
from epic_cli.ui.io.parameters import ParameterType
from epic_cli.ui.io.quantities import FiniteRange

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout
    from epic_cli.ui.io.profiles import Saving

# The layout itself is loaded when one of the options is given: packet text must start fast.


class LayoutPart(ParameterType):
    """A part of a layout, as ``formats.layout`` parses it."""

    def __init__(self, metavar: str, parse: Callable[[Any, str], Any]) -> None:
        self.name = metavar
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuses what is none."""
        if isinstance(value, tuple):
            return value
        from epic_cli.formats import layout

        try:
            return self._parse(layout, str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _time_unit(layout: Any, text: str) -> str:
    layout.parse_time_unit(text)
    return text


class LayoutOption(NamedTuple):
    """One of the options."""

    name: str
    type: click.ParamType[Any]
    help: str

    def decorate(self, command: Callable[..., Any]) -> Callable[..., Any]:
        """A command with this option."""
        return click.option(f"--{self.name}", type=self.type, default=None, help=self.help)(command)


LAYOUT_OPTIONS = (
    LayoutOption(
        "pattern",
        LayoutPart("REGEX", lambda layout, text: layout.parse_pattern(text)),
        "Where a log's lines have the fields: a group for each, (?P<time>...).",
    ),
    LayoutOption(
        "columns",
        LayoutPart("FIELD=COLUMN,...", lambda layout, text: layout.parse_columns(text)),
        "Which column of a table, or path in a JSON object, is which field:"
        " time=timestamp_ms,x=pos.0,entity=player. A * is each of several entities in one row:"
        " x=*_x, x=players.*.x.  [default: by the usual names]",
    ),
    LayoutOption(
        "time-unit",
        LayoutPart("UNIT", _time_unit),
        "The unit of its times: s, ms, us, ns, ticks@HZ or iso.",
    ),
    LayoutOption(
        "time-origin",
        LayoutPart("first|SECONDS", lambda layout, text: layout.parse_time_origin(text)),
        "The time that becomes 0: that of the first packet, or one in seconds.",
    ),
    LayoutOption(
        "axes",
        LayoutPart("AXES", lambda layout, text: layout.parse_axes(text)),
        "Its axes that become x, y and z: xy in two dimensions, xzy where y is up.",
    ),
    LayoutOption(
        "scale",
        FiniteRange(1e-9, 1e9),
        "What its lengths are multiplied by, as 0.01 for centimetres.",
    ),
)


def profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--profile``, which gives the others their defaults."""
    return click.option(
        "--profile",
        metavar="NAME",
        is_eager=True,
        callback=_use_profile,
        help="Take options from [profile.NAME] of the configuration file.",
    )(command)


def _use_profile(context: click.Context, option: click.Parameter, name: str | None) -> str | None:
    if name is None:
        return None
    from epic_cli.ui.io.profiles import use_profile

    return use_profile(context, option, name)


def layout_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with all of them; ``make_layout`` takes their values."""
    for option in reversed(LAYOUT_OPTIONS):
        command = option.decorate(command)
    return profile_option(command)


def make_layout(
    pattern: str | None = None,
    columns: Any = None,
    time_unit: str | None = None,
    time_origin: Any = None,
    axes: str | None = None,
    scale: float | None = None,
    profile: str | None = None,
) -> Layout | None:
    """The layout that was given; None: none of it was. The ``profile`` has had its say before."""
    del profile
    if all(one is None for one in (pattern, columns, time_unit, time_origin, axes, scale)):
        return None
    from epic_cli.formats.layout import Layout

    return Layout(columns, time_unit, time_origin, axes, 1.0 if scale is None else scale, pattern)


def make_saving(save_profile: str | None, replace_profile: bool) -> Saving | None:
    """What is to be done about a profile; None: nothing."""
    if save_profile is None:
        if replace_profile:
            raise WrongUsage("--replace-profile needs --save-profile")
        return None
    from epic_cli.ui.io.profiles import Saving

    return Saving(save_profile, replace_profile)


def layout_words(name: str, layout: Layout) -> str:
    """How the recording ``name`` is read, in the words of the options: a line for stderr."""
    return f"epic: {_shown(name)}: read with {_shown(layout.options())}\n"


def velocities_estimated_words(name: str) -> str:
    """That a strategy uses velocities which the recording ``name`` has not: a line for stderr."""
    return (
        f"epic: {_shown(name)}: packets without a velocity get one from the position before"
        " theirs\n"
    )


def _shown(text: str) -> str:
    return printable(text.encode("utf-8", "surrogateescape"))
