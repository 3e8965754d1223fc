"""Addresses as parameters of commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.live.addresses import Address
from epic_cli.terminal.parameters import ParameterType


class AddressType(ParameterType):
    """An address, as a function parses it."""

    def __init__(self, name: str, parse: Callable[[str], Address]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address:
        """Refuses what is none."""
        if isinstance(value, Address):
            return value
        try:
            return self._parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
