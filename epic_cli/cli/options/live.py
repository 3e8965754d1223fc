"""The types of the commands with sockets: addresses, and binary records."""

from __future__ import annotations

from typing import Any

import click

from epic_cli.live.addresses import parse_address, parse_sender
from epic_cli.live.binary import RecordLayout
from epic_cli.terminal.addresses import AddressType
from epic_cli.terminal.parameters import ParameterType

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
