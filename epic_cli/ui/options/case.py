"""``case.toml``: all that ``epic replay`` can be told, under the names of its options, and more.

The options are those of ``epic replay``, with their types, so that what one of them takes is
declared once.
"""

from __future__ import annotations

import os
from typing import Any

import click

from epic_cli.analysis.conditions import Condition
from epic_cli.checking.case import (
    ROW_FORMATS,
    Case,
    Drawing,
    Recording,
)
from epic_cli.checking.discovery import beside, case_name, expected_files
from epic_cli.checking.toml_file import BrokenCase, TomlFile, path_from, read_toml
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_owned_assignment, read_specs
from epic_cli.engine.strategies import names
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.replaying import ReplayOptions
from epic_cli.ui.options.expectations import Expectations
from epic_cli.ui.options.replay import replay_options

#: What a case cannot say of the options of ``epic replay``, and why.
EXCUSED = {
    "output": "rows go beside the case",
    "profile": "a case must not depend on whose configuration it is run with",
    "save-profile": "it changes the configuration",
    "replace-profile": "it changes the configuration",
    "all-errors": "a case has no messages on the way",
    "quiet": "a case has no messages on the way",
    "color": "rows in files have none",
}

#: What a case has besides.
OWN = ("recording", "strategies", "expected", "tolerance", "expect")

#: What stands for all built-in strategies.
ALL = "all"


@click.command(add_help_option=False)
@replay_options
def _replay(options: ReplayOptions) -> ReplayOptions:
    return options


def option_names() -> dict[str, click.Option]:
    """The options of ``epic replay`` that a case can have, by their names without dashes."""
    return {
        flag[2:]: one
        for one in _replay.params
        if isinstance(one, click.Option)
        for flag in one.opts
        if flag.startswith("--") and flag[2:] not in EXCUSED
    }


def read_case(path: str) -> Case:
    """The case in a file; raises ``BrokenCase``.

    Raises ``StrategyFailed`` where the code of a strategy of somebody's own did when it was made.
    """
    return _Reading(read_toml(path)).case()


class _Reading:
    """One file on its way to a case."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._table = file.table
        self._options = option_names()
        file.check_keys(file.table, (*OWN, *self._options))

    def case(self) -> Case:
        """The whole case."""
        recordings = self._recordings()
        options = self._replay_options(tuple(one.name for one in recordings))
        several, taking_part = self._candidates(options)
        if several and len(recordings) > 1:
            what = "several strategies and several recordings: rows name one of them only"
            raise self._file.broken(what, "strategies")
        expectations = Expectations(self._file)
        conditions, truth = expectations.figures([one.label for one in taking_part])
        if conditions and len(recordings) > 1:
            raise self._file.broken("figures are of one recording: give one", "expect")
        expected, row_format = self._expected(conditions, options)
        if row_format == "epic" and several:
            what = "epic rows do not name their strategy: give one strategy, or another format"
            raise self._file.broken(what, "strategies")
        try:
            column = options.named_file_column(row_format)
        except WrongUsage as error:
            raise self._file.broken(str(error), "file-column") from error
        drawing = Drawing(
            recordings,
            taking_part,
            several,
            options.timing,
            row_format,
            options.entity,
            options.input_format,
            options.given,
            options.strict,
            column,
        )
        return Case(
            case_name(self._file.path),
            self._file.path,
            drawing,
            expected,
            expectations.tolerances(),
            conditions,
            truth,
        )

    # ------------------------------------------------------------ what is drawn

    def _recordings(self) -> tuple[Recording, ...]:
        if "recording" not in self._table:
            raise self._file.broken("it names no recording: recording = 'FILE'")
        named = self._table["recording"]
        written = named if isinstance(named, list) else [named]
        if not written or not all(isinstance(one, str) and one for one in written):
            raise self._file.broken("is a path, or a list of paths", "recording")
        return tuple(Recording(one, path_from(self._file, one)) for one in written)

    def _replay_options(self, files: tuple[str, ...]) -> ReplayOptions:
        """What click makes of the keys, as it does of a command line."""
        words: list[str] = []
        for key, value in self._table.items():
            if key in self._options and not (key == "set" and "strategies" in self._table):
                words += self._words(key, self._options[key], value)
        strategy = self._table.get("strategy")
        if isinstance(strategy, str):
            words.append(f"--strategy={self._strategy(strategy)}")  # the last one counts
        try:
            with _replay.make_context("case", [*words, "--", *files]) as context:
                options: ReplayOptions = _replay.invoke(context)
            options.chosen.maker()
        except click.UsageError as error:
            option = error.param if isinstance(error, click.BadParameter) else None
            keys = [key for key, one in self._options.items() if one is option]
            raise self._file.broken(error.message, *keys[:1]) from error
        except (WrongUsage, ValueError) as error:
            raise self._file.broken(str(error), *self._blamed(str(error))) from error
        if options.timing.latency is not None and options.timing.pacing == "demo":
            what = "sets arrival times, which pacing = 'demo' ignores"
            raise self._file.broken(what, "latency")
        return options

    def _blamed(self, words: str) -> list[str]:
        """The keys that lead to what is wrong with a strategy or its settings."""
        settings = self._table.get("set")
        if settings is None:
            return ["strategy"]
        named = [one for one in settings if one in words] if isinstance(settings, dict) else []
        return ["set", *named[:1]]

    def _words(self, key: str, option: click.Option, value: object) -> list[str]:
        if option.is_flag:
            if not isinstance(value, bool):
                raise self._file.broken("is true or false", key)
            return [f"--{key}"] if value else []
        if option.multiple:
            return [f"--{key}={one}" for one in self._assignments(key, value)]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self._file.broken(f"takes one value, and not {value!r}", key)
        return [f"--{key}={value}"]

    def _assignments(self, key: str, value: object, before: str = "") -> list[str]:
        """``key=value`` of a list of these, or of a table; in a table in it after its name."""
        if isinstance(value, dict):
            found = []
            for name, one in value.items():
                if isinstance(one, dict):
                    found += self._assignments(key, one, f"{before}{name}.")
                elif isinstance(one, bool):
                    found.append(f"{before}{name}={str(one).lower()}")
                else:
                    found.append(f"{before}{name}={one}")
            return found
        written = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in written):
            raise self._file.broken("is a table, or a list of 'key=value'", key)
        return list(written)

    def _strategy(self, name: str) -> str:
        """A strategy's name; that of a file as it is seen from the case's folder."""
        path, colon, rest = name.rpartition(":")
        is_file = colon and path.endswith(".py")
        return f"{os.path.abspath(path_from(self._file, path))}:{rest}" if is_file else name  # noqa: PTH100

    def _candidates(self, options: ReplayOptions) -> tuple[bool, tuple[StrategySpec, ...]]:
        """Whether there may be several strategies, and which there are."""
        if "strategies" not in self._table:
            chosen = options.chosen
            label = self._table.get("strategy", chosen.name)
            return False, (chosen._replace(label=label),)
        if "strategy" in self._table:
            raise self._file.broken("give strategy or strategies, and not both", "strategies")
        listed = self._table["strategies"]
        listed = [listed] if isinstance(listed, str) else listed
        if not isinstance(listed, list) or not listed:
            what = f"is a list of strategies, NAME or NAME+key=value, or {ALL!r}"
            raise self._file.broken(what, "strategies")
        labels: list[str] = []
        for one in listed:
            labels += sorted(names()) if one == ALL else [str(one)]
        settings: dict[tuple[str, str], Any] = {}
        for text in self._assignments("set", self._table.get("set", {})):
            try:
                strategy, key, value = read_owned_assignment(text)
            except ValueError as error:
                raise self._file.broken(f"with strategies, {error}", "set") from error
            settings[strategy, key] = value
        try:
            found = read_specs([self._strategy(one) for one in labels], settings)
        except ValueError as error:
            raise self._file.broken(str(error), "strategies") from error
        return True, tuple(
            one._replace(label=label) for one, label in zip(found, labels, strict=True)
        )

    # ------------------------------------------------------------ what is expected

    def _expected(
        self, conditions: tuple[Condition, ...], options: ReplayOptions
    ) -> tuple[str | None, str]:
        """Where rows are expected, and their format, which the file's name says if nothing does."""
        given = options.row_format if "format" in self._table else None
        if given is not None and given not in ROW_FORMATS:
            what = f"{given} rows are cut to a screen: choose from {', '.join(ROW_FORMATS)}"
            raise self._file.broken(what, "format")
        named = self._table.get("expected")
        if named is not None:
            if not isinstance(named, str) or not named:
                raise self._file.broken("is a path", "expected")
            ending = named.rpartition(".")[2]
            row_format = given or (ending if ending in ROW_FORMATS else "tsv")
            return path_from(self._file, named), row_format
        there = expected_files(self._file.path)
        if given is not None:
            there = [one for one in there if one.endswith(f".{given}")]
        if len(there) > 1:
            what = f"{' and '.join(there)} are both there: give the format, or remove one"
            raise BrokenCase(self._file.path, what)
        if there:
            return there[0], there[0].rpartition(".")[2]
        row_format = given or "tsv"
        return None if conditions else beside(self._file.path, row_format), row_format
