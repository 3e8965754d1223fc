"""Write a strategy in a programming language."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from epic_cli.engine.declaration import Declaration
from epic_cli.engine.failures import Portable
from epic_cli.engine.parameters import Number, Setting
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.engine.text.widths import some
from epic_cli.jobs.code.languages import load_languages
from epic_cli.jobs.code.sources import words
from epic_cli.jobs.code.spec import CodeSpec, find_equivalent, strategies
from epic_cli.jobs.code.translate import ParsedSource, parse

_WIDTH = 96

#: The types of constants.
_KINDS = {"float": float, "int": int, "bool": bool, "str": str}


class NoCode(Portable, ValueError):
    """An error for a strategy that ``epic code`` cannot write; it names strategies that it can."""

    def __init__(self, name: str, equivalent: str) -> None:
        instead = f"{equivalent} draws the same: epic code {equivalent}"
        able = f"no composition of {some(strategies(), 9)} is known to draw the same"
        super().__init__(f"cannot write code for {name}: {instead if equivalent else able}")


class NoRotations(Portable, ValueError):
    """An error for settings whose rotations ``epic code`` cannot write."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"cannot write code for the rotations of {what}: choose from {instead}")


class NoEngine(Portable, ValueError):
    """An error for ``--vectors engine`` with a language that no engine is known for."""

    def __init__(self, language: str, able: str) -> None:
        super().__init__(f"no engine's vectors are known for {language}: choose from {able}")


def run(spec: CodeSpec, command: str) -> str:
    """Return the text of the file; its first lines give the ``command`` that writes the file again.

    Raise ``NoCode``, ``NoRotations``, ``NoEngine``, ``SettingError``.
    """
    spec = spec._replace(strategy=spec.strategy.composed)
    name = spec.strategy.name
    if name not in strategies():
        raise NoCode(name, find_equivalent(spec.strategy))
    declared = get_declaration(name)
    source = importlib.import_module(f"epic_cli.jobs.code.sources.{name.replace('-', '_')}")
    if spec.rotations:
        _check_turns(source.TURNS, spec.strategy)
    text = inspect.getsource(source) + inspect.getsource(words)
    values = _collect_values(text, declared, source, spec)
    program = parse(text, values, _collect_comments(text, declared, values))
    writer = load_languages()[spec.language]
    if spec.engine and not writer.engine:
        able = sorted(name for name, other in load_languages().items() if other.engine)
        raise NoEngine(spec.language, ", ".join(able))
    single = bool(source.SINGLE)
    head = [
        f"{name}: {declared.summary}",
        "",
        *program.doc.splitlines(),
        "",
        *textwrap.wrap(_describe_clocks(source, spec.strategy, program), _WIDTH),
        *textwrap.wrap(f"Source: {declared.source}", _WIDTH, break_on_hyphens=False),
        f"Made by: {command}",
    ]
    if spec.main:
        head += writer.list_proof_commands(
            spec.strategy.label, spec.file or f"smoothing{writer.suffix}"
        )
    head += ["", *str(source.LICENSE).strip().splitlines()]
    return writer(program, single, spec.engine, Path(spec.file).stem).write(head, spec.main)


def _describe_clocks(source: ModuleType, strategy: StrategySpec, program: ParsedSource) -> str:
    """Return a sentence on the clocks of the times that callers pass to the written code."""
    taken = [parameter.name for parameter in program.method("receive").parameters]
    by_arrival = "arrival" in taken
    if source.needs_one_clock(strategy.values):
        times = "time, arrival and now" if by_arrival else "time and now"
        return (
            f"Clocks: {times} (s) must come from one clock, which sender and receiver share: no"
            " offset between two clocks is estimated."
        )
    local = "arrival and now" if by_arrival else "now"
    return f"Clocks: time (s) is read from the sender's clock, {local} (s) from the receiver's."


def _check_turns(turns: Mapping[str, Sequence[str]], strategy: StrategySpec) -> None:
    if not turns:
        raise NoRotations(strategy.name, "buffer and chase")
    for key, able in turns.items():
        value = str(strategy.values[key])
        if value not in able:
            raise NoRotations(f"{key}={value}", f"{key}={some(able, 9)}")


def _collect_values(
    text: str, declared: Declaration, source: ModuleType, spec: CodeSpec
) -> dict[str, object]:
    """Return a value for each constant that the source declares, in its order."""
    written = spec.strategy.values
    used = declared.converted(written)
    numbers = {each.name for each in declared.settings if isinstance(each, Number)}
    derived = source.constants({**written, **{name: used[name] for name in numbers}})
    derived["ROTATIONS"] = spec.rotations
    derived |= {name: value for name, _, _, value in _list_constants(text) if value is not None}
    return {
        name: _KINDS[kind](
            derived[name] if name in derived
            else used[name.lower()] if kind != "str" else written[name.lower()]
        )
        for name, kind, *_ in _list_constants(text)
        if name in derived or name.lower() in used  # else one of the words that are not used
    }  # fmt: skip


def _collect_comments(
    text: str, declared: Declaration, values: Mapping[str, object]
) -> dict[str, str]:
    """Return the meaning of each constant: the help of its setting, or the source's comment."""
    meant = {
        setting.name: _describe_setting(
            setting, bool(values.get(f"{setting.name.upper()}_IN_INTERVALS"))
        )
        for setting in declared.settings
    }
    return {
        name: (comment or meant.get(name.lower(), "")).partition(";")[0]
        for name, _, comment, _ in _list_constants(text)
    }


def _describe_setting(setting: Setting, in_intervals: bool) -> str:
    unit = "send intervals" if in_intervals else getattr(setting, "unit", "")
    meaning = re.sub(r", in seconds or send intervals( \([^)]*\))?", "", setting.help)
    # the settings chose this code
    meaning = re.sub(r", with \w+=[\w-]+((, [\w-]+)* or [\w-]+)?", "", meaning)
    return f"{unit}, {meaning}" if unit else meaning


@cache
def _list_constants(text: str) -> tuple[tuple[str, str, str, object], ...]:
    """Return the constants of a source: name, type, comment, value (None: given by a setting)."""
    lines = text.splitlines()
    return tuple(
        (
            node.target.id,
            ast.unparse(node.annotation),
            lines[node.lineno - 1].partition("# ")[2],
            None if node.value is None else ast.literal_eval(node.value),
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and ast.unparse(node.annotation) in _KINDS
    )
