"""Where the value of an option comes from that nobody typed: a variable, or the configuration."""

from __future__ import annotations

from typing import NamedTuple

import click

_KEY = "epic_cli.origins"

#: A shorter value stands in a message by chance.
_TELLING = 3


class Origin(NamedTuple):
    """An option's long name, its value, and the place that gives it, as messages show it.

    ``flags`` is all that the option is called on the command line.
    """

    option: str
    value: object
    place: str
    flags: tuple[str, ...] = ()

    def is_overruled(self, args: list[str]) -> bool:
        """Whether the option stands on the command line, too."""
        short = tuple(flag for flag in self.flags if not flag.startswith("--"))
        return any(
            arg.partition("=")[0] in self.flags or (short and arg.startswith(short)) for arg in args
        )

    def is_meant(self, message: str) -> bool:
        """Whether a message is about this option or its value."""
        values = self.value if isinstance(self.value, list | tuple) else [self.value]
        words = [word for value in values for word in (str(value), str(value).partition("=")[2])]
        return f"--{self.option} " in f"{message} " or any(
            len(word) >= _TELLING and word in message for word in words
        )


def keep_origins(context: click.Context, origins: dict[str, Origin]) -> None:
    """Notes for a run where its options come from, by the names of their parameters."""
    context.meta[_KEY] = origins


def origins(context: click.Context) -> dict[str, Origin]:
    """What was noted."""
    kept: dict[str, Origin] = context.meta.get(_KEY, {})
    return kept
