"""The configuration file: where it is, and what it says."""

from __future__ import annotations

import click

from epic_cli.ui.io.errors import CannotAccess, WrongUsage

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
    try:
        option.type_cast_value(context, value)
    except (click.ClickException, TypeError, ValueError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        return message or "it is not taken"
    return ""


def is_multiple(option: click.Parameter) -> bool:
    """Whether an option may be given several times."""
    return isinstance(option, click.Option) and option.multiple
