"""The types of the commands with sockets: addresses, and binary records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from epic_cli.live.addresses import Address, parse_address, parse_sender
from epic_cli.live.binary import RecordLayout
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


ADDRESS = AddressType("[HOST:]PORT", parse_address)
SENDER = AddressType("HOST[:PORT]", parse_sender)


class RecordLayoutType(ParameterType):
    """The fields of binary records."""

    name = "FIELDS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> RecordLayout:
        """Refuses what is no layout."""
        if isinstance(value, RecordLayout):
            return value
        try:
            return RecordLayout(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
