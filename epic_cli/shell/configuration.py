"""The configuration file and the variables: where they are, and what they say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.shell.errors import CannotAccess, WrongUsage

if TYPE_CHECKING:
    import click

#: Variables with the prefix of options that are not options.
NO_OPTIONS = ("EPIC_ALONE", "EPIC_COMPILED", "EPIC_ENGINE", "EPIC_ENTRY_POINTS")

#: The table of the file that has a table for each profile.
PROFILES = "profile"


def read_config(path: str) -> dict[str, object]:
    """What the file says; raises ``CannotAccess``, and ``WrongUsage`` for what is no TOML."""
    import tomllib  # only those who have a configuration wait for it

    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            return tomllib.load(stream)
    except OSError as error:
        raise CannotAccess("read", path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{path}: {error}") from error


def objection(context: click.Context, option: click.Parameter, value: object) -> str:
    """What an option has against a value; empty: nothing."""
    import click  # a plain replay asks only where the file is

    try:
        option.type_cast_value(context, value)
    except (click.ClickException, TypeError, ValueError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        return message or "it is not taken"
    return ""


def is_multiple(option: click.Parameter) -> bool:
    """Whether an option may be given several times."""
    import click  # as above

    return isinstance(option, click.Option) and option.multiple


def config_path() -> str:
    """``$XDG_CONFIG_HOME/epic/config.toml``, or the same below ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - pathlib is slow to load; so below
        base = os.path.expanduser("~/.config")  # noqa: PTH111
    return os.path.join(base, "epic", "config.toml")  # noqa: PTH118


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
