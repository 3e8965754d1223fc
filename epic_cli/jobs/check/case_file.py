"""``case.toml``: the options of ``epic replay``, under their names, and what is expected."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from typing import Any

from epic_cli.engine.parameters import Choice, Switch
from epic_cli.engine.places import BY_OPTION, named_in_data
from epic_cli.engine.replay.playback import TIMING, Timing
from epic_cli.engine.replay.strategy_spec import (
    StrategySpec,
    read_specs,
)
from epic_cli.engine.strategies import DEFAULT, remote_names
from epic_cli.engine.text import COLUMNS, FORMATS
from epic_cli.jobs.check.case import (
    ROW_FORMATS,
    BrokenCase,
    Case,
    DrawSpec,
    Recording,
    beside,
    case_name,
    expected_files,
)
from epic_cli.jobs.check.expectations import Expectations
from epic_cli.jobs.check.toml_file import TomlFile, path_from, read_toml
from epic_cli.metrics.conditions import Condition
from epic_cli.recordings import input_formats, layout_options
from epic_cli.recordings.layout import Layout

Reader = Callable[[str], Any]

#: What stands for all built-in strategies.
ALL = "all"


#: How the keys are read: those of the timing, of the layout, and all others. What a case cannot
#: say of a replay is where its rows go, how messages look, and whose configuration counts.
LAYOUT: dict[str, Reader] = {one.name.replace("_", "-"): one.read for one in layout_options.LAYOUT}
SWITCHES = {one.name for one in layout_options.LAYOUT if isinstance(one, Switch)}
READERS: dict[str, Reader] = {
    **{one.name: one.read for one in TIMING},
    **LAYOUT,
    "format": Choice("format", "", "", FORMATS).read,
    "entity": str,
    "input-format": Choice("input-format", "", "", input_formats()).read,
    "file-column": str,
}

#: All keys that a replay has, too; and what a case has besides.
KEYS = (*READERS, "strategy", "strict")
OWN = ("recording", "expected", "tolerance", "expect")


def read_case(
    path: str, trust: bool = False, remedy: str = BY_OPTION, text: str | None = None
) -> Case:
    """The case in a file, or that will be there with this text; raises ``BrokenCase``.

    Only with ``trust`` it may name code, and ``remedy`` says how to give it. Raises
    ``StrategyFailed`` where the code of a custom strategy did when it was made.
    """
    file = read_toml(path) if text is None else TomlFile(path, text, tomllib.loads(text))
    with named_in_data(trust, remedy):
        return _Reading(file).case()


class _Reading:
    """One file on its way to a case."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._table = file.table
        file.check_keys(file.table, (*OWN, *KEYS))
        self._values = {
            key: self._value(key, read) for key, read in READERS.items() if key in self._table
        }

    def case(self) -> Case:
        """The whole case."""
        file, recordings = self._file, self._recordings()
        candidates, several = self._candidates()
        if several and len(recordings) > 1:
            what = "several strategies and several recordings: rows name one of them only"
            raise file.broken(what, "strategy")
        expectations = Expectations(file)
        conditions, truth = expectations.figures([one.label for one in candidates])
        if conditions and len(recordings) > 1:
            raise file.broken("figures are of one recording: give one", "expect")
        expected, row_format = self._expected(conditions)
        if row_format == "epic" and several:
            what = "epic rows do not name their strategy: give one strategy, or another format"
            raise file.broken(what, "strategy")
        drawing = DrawSpec(
            recordings,
            candidates,
            several,
            self._timing(),
            row_format,
            self._values.get("entity"),
            self._values.get("input-format", "auto"),
            self._layout(),
            self._strict(),
            self._file_column(len(recordings) > 1, row_format),
        )
        tolerances = expectations.tolerances()
        name = case_name(file.path)
        return Case(name, file.path, drawing, expected, tolerances, conditions, truth)

    # ------------------------------------------------------------ what is drawn

    def _value(self, key: str, read: Reader) -> Any:
        value = self._table[key]
        if isinstance(value, bool) and key in SWITCHES:
            value = "on" if value else "off"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self._file.broken(f"takes one value, and not {value!r}", key)
        try:
            return read(str(value))
        except ValueError as error:
            raise self._file.broken(str(error), key) from error

    def _recordings(self) -> tuple[Recording, ...]:
        if "recording" not in self._table:
            raise self._file.broken("it names no recording: recording = 'FILE'")
        named = self._table["recording"]
        written = named if isinstance(named, list) else [named]
        if not written or not all(isinstance(one, str) and one for one in written):
            raise self._file.broken("is a path, or a list of paths", "recording")
        return tuple(Recording(one, path_from(self._file, one)) for one in written)

    def _timing(self) -> Timing:
        timing = Timing(
            **{one.name: self._values[one.name] for one in TIMING if one.name in self._values}
        )
        if timing.latency is not None and timing.pacing == "demo":
            what = "sets arrival times, which pacing = 'demo' ignores"
            raise self._file.broken(what, "latency")
        return timing

    def _layout(self) -> Layout | None:
        given = {key.replace("-", "_"): self._values[key] for key in LAYOUT if key in self._values}
        return Layout(**given) if given else None

    def _strict(self) -> bool:
        strict = self._table.get("strict", False)
        if not isinstance(strict, bool):
            raise self._file.broken("is true or false", "strict")
        return strict

    def _file_column(self, several: bool, row_format: str) -> str | None:
        """The column that names the file of each row; None: there is none."""
        name: str | None = self._values.get("file-column")
        if name is None:
            return "file" if several and row_format != "epic" else None
        if name == "no":
            return None
        if row_format == "epic":
            raise self._file.broken("is for formats with columns: choose another", "file-column")
        if not name or name in COLUMNS:
            what = f"cannot be {name!r}: rows have {', '.join(COLUMNS)}"
            raise self._file.broken(what, "file-column")
        return name

    def _strategy(self, text: str) -> str:
        """A strategy's text; the file of a custom one is seen from the case's folder."""
        name, plus, settings = text.partition("+")
        path, colon, rest = name.rpartition(":")
        if not (colon and path.endswith(".py")):
            return text
        return f"{os.path.abspath(path_from(self._file, path))}:{rest}{plus}{settings}"  # noqa: PTH100

    def _candidates(self) -> tuple[tuple[StrategySpec, ...], bool]:
        """The strategies that take part, and whether they are a list."""
        listed = self._table.get("strategy", DEFAULT)
        several = isinstance(listed, list) or listed == ALL
        labels: list[str] = []
        for text in listed if isinstance(listed, list) else [listed]:
            labels += sorted(remote_names()) if text == ALL else [str(text)]
        if not labels:
            what = f"is NAME or NAME+key=value, a list of these, or {ALL!r}"
            raise self._file.broken(what, "strategy")
        try:
            found = read_specs(map(self._strategy, labels))
        except ValueError as error:
            raise self._file.broken(str(error), "strategy") from error
        specs = zip(found, labels, strict=True)
        return tuple(
            StrategySpec(spec.name, spec.settings, label) for spec, label in specs
        ), several

    # ------------------------------------------------------------ what is expected

    def _expected(self, conditions: tuple[Condition, ...]) -> tuple[str | None, str]:
        """Where rows are expected, and their format, which the file's name says if nothing does."""
        given = self._values.get("format")
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
