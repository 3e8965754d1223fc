"""Groups of options: the values that a command receives, and their order in help."""

from __future__ import annotations

from dataclasses import dataclass

import click
from click.testing import CliRunner

from epic_cli.shell.declared import OptionGroup


@dataclass(frozen=True)
class Size:
    """The inner group."""

    width: int
    height: int


@dataclass(frozen=True)
class Box:
    """The outer group, with a group among its options."""

    name: str
    size: Size


size_options = OptionGroup(
    "size",
    Size,
    click.option("--width", type=int, default=1),
    click.option("--height", type=int, default=2),
)
box_options = OptionGroup("box", Box, click.option("--name", default="box"), size_options)


@click.command()
@box_options
@click.option("--loud", is_flag=True)
def show(box: Box, loud: bool) -> None:
    """Show what arrived."""
    click.echo(f"{box} {loud}")


def test_the_values_of_nested_groups_arrive_as_one() -> None:
    done = CliRunner().invoke(show, ["--height", "5", "--name", "crate", "--loud"])
    assert done.output == f"{Box('crate', Size(1, 5))} True\n"


def test_options_stand_in_the_order_given() -> None:
    assert [param.name for param in show.params] == ["name", "width", "height", "loud"]
