"""What the options of a link look like that are more than a number, as parameter types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from epic_cli.network.conditions import QueueLimit
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.presets import PRESETS, Preset, find_preset
from epic_cli.network.words import LINK_WORDS, parse_link_word, read_rate
from epic_cli.ui.io.parameters import Parsed, completions
from epic_cli.ui.io.quantities import Seconds

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


BIT_RATE = Parsed("bits", read_rate)
QUEUE = Parsed("seconds|packets", QueueLimit.parse, QueueLimit)
LINK_WORD = Parsed("word=value", parse_link_word, tuple)
GILBERT_ELLIOTT = Parsed("p,r[,1-h[,1-k]]", GilbertElliott.parse, GilbertElliott)


class PresetName(Parsed):
    """The name of a preset, which stands for it."""

    def __init__(self) -> None:
        super().__init__("name", find_preset, Preset)

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
