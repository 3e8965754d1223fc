"""The catalogue of strategies, and the description of one strategy."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Setting
from epic_cli.engine.strategies import find_class, get_declaration, list_names, list_system_names
from epic_cli.engine.strategies.calls import find_calls
from epic_cli.engine.strategies.systems import (
    CLOSED,
    ClosedSystem,
    EngineWord,
    FoundWord,
    System,
    find_setting,
    find_system,
    find_word,
)
from epic_cli.show.report import Column, Data, Report, Table
from epic_cli.show.text import DescribedRow, wrap_paragraph, write_definitions, write_described_rows

_INDENT = "  "


def list_strategies(room: int) -> RenderableType:
    """Return all strategies, grouped by family, in lines of at most ``room`` columns."""
    declared = [get_declaration(name) for name in list_names()]
    families = list(dict.fromkeys(each.family for each in declared))
    declared.sort(key=lambda one: families.index(one.family))
    lines: list[Text] = []
    for family, members in groupby(declared, key=lambda one: one.family):
        lines += wrap_paragraph(family, room, style="underline")
        lines += write_definitions(
            [(member.name, _summarize_strategy(member)) for member in members], room, _INDENT
        )
        lines.append(Text())
    lines += wrap_paragraph("the same as", room, style="underline")
    systems = [find_system(name) for name in list_system_names()]
    lines += write_definitions(
        [(system.name, system.title) for system in systems if system], room, _INDENT
    )
    lines.append(Text())
    closed = ", ".join(system.title for system in CLOSED)
    hint = (
        "'epic strategies NAME' explains one. '--find WORD' looks for a word of an engine's users,"
        f" or a call such as SmoothDamp, and says what comes near to closed ones: {closed}."
    )
    return Group(*lines, *wrap_paragraph(hint, room))


def find_engines(text: str, room: int) -> RenderableType:
    """Return the strategies that stand for an engine's own setting, such as ``cl_interp 0.1``."""
    rows = [(row["engine"], _write_found_system(row)) for row in _find_systems(text)]
    unknown = (
        f"No engine's users are known to say {text!r}, nor is it a call that smooths. 'epic"
        " strategies' lists the engines."
    )
    return Group(*(write_definitions(rows, room) if rows else wrap_paragraph(unknown, room)))


def _write_found_system(row: dict[str, str]) -> str:
    option = f"-s {row['strategy']}"
    if row["same"] == "yes":
        return f"{option} ({row['note']})" if row["note"] else option
    near = f"{option} comes near, but is not the same: " if row["strategy"] else ""
    return f"{near}{row['note']}"


def _find_systems(text: str) -> list[dict[str, str]]:
    """Return calls and systems of a word, as records of engine, strategy and note."""
    head, _, last = text.strip().rpartition(" ")
    found = find_word(text)
    value = ""
    if not found and head:
        found, value = find_word(head.rstrip("= ")), last
    calls = [(call.title, call.strategy, "yes", "") for call in find_calls(text)]
    return [
        dict(zip(("engine", "strategy", "same", "note"), row, strict=True))
        for row in (*calls, *(_describe_match(each, value) for each in found))
    ]


def _describe_match(found: FoundWord, value: str) -> tuple[str, str, str, str]:
    system, word = found
    if isinstance(system, ClosedSystem):
        return system.title, system.nearest, "no", system.documented
    if word is None:
        return system.title, system.name, "yes", system.strategy if system.is_composition else ""
    setting = find_setting(word, get_declaration(system.name).settings)
    ours = f"{system.name}+{setting.name}="
    if not value:
        note = _describe_word(word, setting).partition(": ")[2]
        return system.title, f"{ours}...", "yes", note
    written = word.convert(value)
    setting.check(written)
    return system.title, f"{ours}{written}", "yes", ""


def report(name: str | None, text: str | None = None) -> Report:
    """Return records for programs.

    All strategies, one strategy's settings, or the systems of a word.
    """
    rows: list[dict[str, Any]]
    if text:
        rows = list(_find_systems(text))
    elif name is None:
        rows = [
            {"strategy": word.name, "summary": word.summary, **dict(_list_facts(word))}
            for word in map(get_declaration, (*list_names(), *list_system_names()))
        ]
    else:
        rows = [
            {
                "setting": setting.name,
                "default": setting.default,
                "range": setting.range,
                "help": setting.help,
            }
            for setting in get_declaration(name).settings
        ]
    fields = list(rows[0]) if rows else []
    columns = [Column(field, [str(row[field]) for row in rows]) for field in fields]
    return Report(parts=[Table(columns)], data=Data(fields, lambda: rows, lambda: rows))


def _summarize_strategy(one: Declaration) -> str:
    return one.summary + (f" (needs {', '.join(one.needs_words)})" if one.needs_words else "")


def explain_strategy(name: str, room: int) -> RenderableType:
    """Return a strategy's method, settings and source, in lines of ``room`` columns."""
    one = get_declaration(name)
    lines = [*wrap_paragraph(f"{one.name}: {one.summary}", room)]
    lines[0].stylize("bold", 0, len(one.name))
    system = find_system(name)
    if system is not None:
        lines += [Text(), *_format_engine(system, one, room)]
    settings = one.settings
    if system is not None and system.is_composition:
        base = {other.name: other.default for other in get_declaration(system.base).settings}
        settings = tuple(each for each in settings if each.default != base[each.name])
        words = f"'epic strategies {system.base}' explains the parts and all settings."
        lines += [Text(), *wrap_paragraph(words, room, _INDENT), Text()]
    else:
        lines += [Text(), *_format_documentation(name, room)]
    if settings:
        lines += [
            Text("Settings", style="underline"),
            *_format_settings(settings, room),
            Text(),
        ]
    return Group(*lines, *write_definitions([fact for fact in _list_facts(one) if fact[1]], room))


def _format_engine(system: System, one: Declaration, room: int) -> Iterator[Text]:
    """Yield lines on a system: an example, and its settings in the words of its users."""
    theirs, ours = system.write_example()
    yield from wrap_paragraph(f"{theirs} -> -s {ours}", room, _INDENT)
    rows = [
        (word.words, _describe_word(word, find_setting(word, one.settings)))
        for word in system.words
    ]
    if rows:
        yield Text()
        yield from write_definitions(rows, room, _INDENT)


def _describe_word(word: EngineWord, setting: Setting) -> str:
    """Return the setting that stands for an engine's word, with units and range."""
    if not word.unit:
        return f"{setting.name}: {setting.range}"
    unit = getattr(setting, "unit", "")
    ours = f"1 / {word.unit}, in {unit}" if word.is_rate else f"in {unit}, not {word.unit}"
    return f"{setting.name}: {ours}"


def _describe_reading(system: System | None) -> str:
    if system is None or system.reads_by_frames is None:
        return ""
    if system.reads_by_frames:
        return "read at the start of a frame, and stamped with its time: --pacing frame"
    return "stamped when they arrive, between frames: --pacing arrival"


def _list_facts(one: Declaration) -> list[tuple[str, str]]:
    return [
        ("family", one.family),
        ("needs", ", ".join(one.needs_words)),
        ("lag", one.lag),
        ("lag varies", one.lag_varies.words if one.lag_varies else ""),
        ("on loss", one.on_loss),
        ("turns", one.rotates),
        ("connection", one.connection),
        ("packets", _describe_reading(find_system(one.name))),
        ("source", one.source),
        ("proof", one.proof),
    ]


def _format_documentation(name: str, room: int) -> Iterator[Text]:
    """Yield the lines of a strategy's docstring; indented formulas keep their lines."""
    for part in inspect.cleandoc(find_class(name).__doc__ or "").replace("``", "").split("\n\n"):
        if not part.startswith(" "):
            yield from wrap_paragraph(part, room, _INDENT)
        else:
            for line in part.splitlines():
                if len(line) + len(_INDENT) <= room:
                    yield Text(_INDENT + line)
                else:
                    yield from wrap_paragraph(line, room, _INDENT + "    ")
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
    yield from write_described_rows(rows, room, _INDENT)
