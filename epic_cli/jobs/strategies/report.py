"""The catalogue of strategies, and the description of one strategy."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Setting
from epic_cli.engine.strategies import declaration, find, names
from epic_cli.show.report import Column, Data, Report, Table
from epic_cli.show.text import DescribedRow, definitions, described, paragraph

_INDENT = "  "


def catalogue(room: int) -> RenderableType:
    """Return all strategies, grouped by family, in lines of at most ``room`` columns."""
    declared = [declaration(name) for name in names()]
    families = list(dict.fromkeys(each.family for each in declared))
    declared.sort(key=lambda one: families.index(one.family))
    lines: list[Text] = []
    for family, members in groupby(declared, key=lambda one: one.family):
        lines += paragraph(family, room, style="underline")
        lines += definitions(
            [(member.name, _summarize_strategy(member)) for member in members], room, _INDENT
        )
        lines.append(Text())
    return Group(*lines, *paragraph("'epic strategies NAME' explains one.", room))


def report(name: str | None) -> Report:
    """Return all strategies, or the settings of one strategy, as records for programs."""
    if name is None:
        rows = [
            {"strategy": word.name, "summary": word.summary, **dict(_list_facts(word))}
            for word in map(declaration, names())
        ]
    else:
        rows = [
            {
                "setting": setting.name,
                "default": setting.default,
                "range": setting.range,
                "help": setting.help,
            }
            for setting in declaration(name).settings
        ]
    fields = list(rows[0]) if rows else []
    columns = [Column(field, [str(row[field]) for row in rows]) for field in fields]
    return Report(parts=[Table(columns)], data=Data(fields, lambda: rows, lambda: rows))


def _summarize_strategy(one: Declaration) -> str:
    return one.summary + (f" (needs {', '.join(one.needs_words)})" if one.needs_words else "")


def explanation(name: str, room: int) -> RenderableType:
    """Return a strategy's method, settings and source, in lines of ``room`` columns."""
    one = declaration(name)
    lines = [*paragraph(f"{one.name}: {one.summary}", room)]
    lines[0].stylize("bold", 0, len(one.name))
    lines += [Text(), *_format_documentation(name, room)]
    if one.settings:
        lines += [
            Text("Settings", style="underline"),
            *_format_settings(one.settings, room),
            Text(),
        ]
    return Group(*lines, *definitions([fact for fact in _list_facts(one) if fact[1]], room))


def _list_facts(one: Declaration) -> list[tuple[str, str]]:
    return [
        ("family", one.family),
        ("needs", ", ".join(one.needs_words)),
        ("lag", one.lag),
        ("lag varies", one.lag_varies.words if one.lag_varies else ""),
        ("on loss", one.on_loss),
        ("turns", one.rotates),
        ("connection", one.connection),
        ("source", one.source),
        ("proof", one.proof),
    ]


def _format_documentation(name: str, room: int) -> Iterator[Text]:
    """Yield the lines of a strategy's docstring; indented formulas keep their lines."""
    for part in inspect.cleandoc(find(name).__doc__ or "").replace("``", "").split("\n\n"):
        if not part.startswith(" "):
            yield from paragraph(part, room, _INDENT)
        else:
            for line in part.splitlines():
                if len(line) + len(_INDENT) <= room:
                    yield Text(_INDENT + line)
                else:
                    yield from paragraph(line, room, _INDENT + "    ")
        yield Text()


def _format_settings(settings: tuple[Setting, ...], room: int) -> Iterator[Text]:
    rows = []
    for setting in settings:
        default = (
            f"{setting.default:g}" if isinstance(setting.default, float | int) else setting.default
        )
        rows.append(
            DescribedRow((setting.name, default, setting.range), setting.help, ("bold", "", ""))
        )
    yield from described(rows, room, _INDENT)
