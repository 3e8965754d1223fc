"""The strategies as a list, and one of them explained."""

from __future__ import annotations

import inspect
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.settings import Setting
from epic_cli.engine.strategies import declaration, find, names

#: Where names, defaults and ranges take more columns, the settings' sentences stand below them.
WIDEST_BESIDE_ITS_HELP = 45


def catalogue() -> RenderableType:
    """All strategies, grouped by family."""
    declared = [declaration(name) for name in names()]
    families = list(dict.fromkeys(one.family for one in declared))
    declared.sort(key=lambda one: families.index(one.family))
    parts: list[RenderableType] = []
    for family, members in groupby(declared, key=lambda one: one.family):
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for one in members:
            needs = f" (needs {', '.join(one.needs)})" if one.needs else ""
            table.add_row(one.name, Text.assemble(one.summary, (needs, "dim")))
        parts += [Text(family, style="underline"), Padding(table, (0, 0, 1, 2))]
    parts.append(Text("'epic strategies NAME' explains one."))
    return Group(*parts)


def explanation(name: str) -> RenderableType:
    """What a strategy does, its settings and where it comes from."""
    one = declaration(name)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True, style="bold")
    facts.add_column()
    for label, value in _facts(one):
        if value:
            facts.add_row(label, value)
    parts: list[RenderableType] = [
        Text.assemble((one.name, "bold"), f": {one.summary}"),
        Text(),
        *_documentation(name),
    ]
    if one.settings:
        parts += [Text("Settings", style="underline"), _settings(one.settings), Text()]
    return Group(*parts, facts)


def _facts(one: Declaration) -> list[tuple[str, str]]:
    return [
        ("family", one.family),
        ("needs", ", ".join(one.needs)),
        ("lag", one.lag),
        ("wavers", one.lag_wavers.words if one.lag_wavers else ""),
        ("on loss", one.on_loss),
        ("source", one.source),
        ("proof", one.proof),
    ]


def _documentation(name: str) -> list[RenderableType]:
    """The class's docstring; what is indented there are formulas, whose lines are kept."""
    parts: list[RenderableType] = []
    for paragraph in inspect.cleandoc(find(name).__doc__ or "").split("\n\n"):
        text = paragraph.replace("``", "")
        if not paragraph.startswith(" "):
            text = " ".join(text.split())
        parts += [Padding(Text(text), (0, 0, 0, 2)), Text()]
    return parts


def _settings(settings: tuple[Setting, ...]) -> RenderableType:
    rows = [(one.name, _default(one), one.range) for one in settings]
    width = sum(max(map(len, column)) for column in zip(*rows, strict=True))
    if width > WIDEST_BESIDE_ITS_HELP:
        parts: list[RenderableType] = []
        for one, (name, default, values) in zip(settings, rows, strict=True):
            facts = Text.assemble((name, "bold"), f"  {default}  ({values})")
            parts += [facts, Padding(Text(one.help), (0, 0, 0, 4))]
        return Padding(Group(*parts), (0, 0, 0, 2))
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for one, (name, default, values) in zip(settings, rows, strict=True):
        table.add_row(Text(name, style="bold"), default, values, one.help)
    return Padding(table, (0, 0, 0, 2))


def _default(one: Setting) -> str:
    return f"{one.default:g}" if isinstance(one.default, float | int) else one.default
