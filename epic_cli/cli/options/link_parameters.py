"""What the options of a link look like that are more than a number, as parameter types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from epic_cli.network.conditions import QueueLimit
from epic_cli.network.presets import PRESETS, Preset, find_preset
from epic_cli.network.words import LINK_WORDS, parse_link_word, read_rate
from epic_cli.terminal.parameters import ParameterType, completions
from epic_cli.terminal.quantities import Seconds

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Read(ParameterType):
    """What a function makes of a text; it raises ``ValueError``."""

    def __init__(self, name: str, read: Callable[[str], object]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reads it."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


BIT_RATE = _Read("bits", read_rate)
QUEUE = _Read("seconds|packets", QueueLimit.parse)
LINK_WORD = _Read("word=value", parse_link_word)


class PresetName(ParameterType):
    """The name of a preset, which stands for it."""

    name = "name"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Preset:
        """Refuses an unknown name with the nearest one."""
        if isinstance(value, Preset):
            return value
        try:
            return find_preset(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names, each with what it is."""
        del ctx, param
        return completions(((one.name, one.meaning) for one in PRESETS.values()), incomplete)


class _TimeAndWords(click.Tuple):
    """A time and words; in a variable the pairs have semicolons between them."""

    envvar_list_splitter = ";"

    def __init__(self) -> None:
        super().__init__([Seconds(0, 1e9), click.STRING])


class At(click.Option):
    """``--at TIME WORDS``, as often as there are changes; in a configuration one string each."""

    def __init__(self, names: Sequence[str], **more: Any) -> None:
        super().__init__(names, type=_TimeAndWords(), multiple=True, **more)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Takes strings, too, in which the time stands first."""
        parts = [value] if isinstance(value, str) else list(value or ())
        pairs = [
            (*part.split(maxsplit=1), "")[:2] if isinstance(part, str) else part for part in parts
        ]
        return super().type_cast_value(ctx, pairs)


#: The words that follow ``--at``, ``--up`` and ``--down``.
WORDS = ", ".join([*LINK_WORDS, "preset"])
