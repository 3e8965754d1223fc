"""What the commands with datagrams share: addresses, and binary records."""

from __future__ import annotations

from typing import Any

import click

from epic_cli.cli.options.groups import Decorator
from epic_cli.live.addresses import parse_address, parse_sender
from epic_cli.live.binary import RecordLayout
from epic_cli.live.forwarding import Target, parse_target
from epic_cli.terminal.addresses import AddressType
from epic_cli.terminal.parameters import ParameterType

ADDRESS = AddressType("[HOST:]PORT", parse_address)
SENDER = AddressType("HOST[:PORT]", parse_sender)


class TargetType(ParameterType):
    """A program that plots."""

    name = "PROGRAM[:HOST:PORT]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Target:
        """Refuses what is none."""
        if isinstance(value, Target):
            return value
        try:
            return parse_target(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


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


#: As ``records: RecordLayout | None``.
record_layout_option = click.option(
    "--layout",
    "records",
    type=RecordLayoutType(),
    help="Datagrams are binary records of these fields: 'time:u32*0.001 x:f32 y:f32 z:f32"
    " id:u16'; little-endian unless it begins with big.",
)


def sender_option(help_text: str) -> Decorator:
    """``--from``, as ``sender: Address | None``."""
    return click.option("--from", "sender", type=SENDER, help=help_text)
