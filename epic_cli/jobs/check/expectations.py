"""What a case expects: ``[tolerance]`` and ``[expect]`` of ``case.toml``."""

from __future__ import annotations

from typing import Any

from epic_cli.engine.parameter_base import SettingError
from epic_cli.engine.parameters import Number
from epic_cli.jobs.check.case import NUMBERS, Tolerance, Tolerances, Truth
from epic_cli.jobs.check.toml_file import TomlFile, path_from
from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import (
    Condition,
    ConditionError,
    check_strategies,
    expectation,
)

_TIMES = (
    Number("truth-offset", 0.0, "Seconds to add to the times of the truth.", "s", -1e9, 1e9),
    Number("warm-up", 0.0, "Seconds at first that do not count.", "s", 0, 1e9),
)
_TRUTH = ("truth", *(one.name for one in _TIMES))


class Expectations:
    """The two tables of one file; each method raises ``BrokenCase``."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file

    def tolerances(self) -> Tolerances:
        """What numbers may differ by."""
        table = self._sub_table("tolerance")
        self._file.check_keys(table, ("atol", "rtol", *NUMBERS), "tolerance")
        default = self._tolerance(table, ("tolerance",), Tolerance())
        columns = {}
        for column in NUMBERS:
            if column in table:
                one = table[column]
                if not isinstance(one, dict):
                    one = {"atol": one}
                self._file.check_keys(one, ("atol", "rtol"), "tolerance", column)
                columns[column] = self._tolerance(one, ("tolerance", column), default)
        return Tolerances(default, columns)

    def _tolerance(
        self, table: dict[str, Any], keys: tuple[str, ...], default: Tolerance
    ) -> Tolerance:
        found = default
        for key in ("atol", "rtol"):
            if key not in table:
                continue
            value = table[key]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise self._file.broken(f"is a number from 0 on, and not {value!r}", *keys, key)
            found = found._replace(**{key: float(value)})
        return found

    def figures(self, labels: list[str]) -> tuple[tuple[Condition, ...], Truth]:
        """The conditions on the strategies of these labels, and what is measured against."""
        table = self._sub_table("expect")
        known = [one.name for one in METRICS]
        self._file.check_keys(table, (*known, *_TRUTH, *labels), "expect")
        found = []
        for key, value in table.items():
            inner = value if isinstance(value, dict) else {key: value}
            keys = ("expect", key) if isinstance(value, dict) else ("expect",)
            if key in _TRUTH:
                continue
            self._file.check_keys(inner, known, *keys)
            for metric, limits in inner.items():
                label = key if isinstance(value, dict) else None
                for text in limits if isinstance(limits, list) else [limits]:
                    try:
                        found.append(expectation(metric, str(text), label))
                        check_strategies(found[-1:], labels)
                    except ConditionError as error:
                        raise self._file.broken(str(error), *keys, metric) from error
        return tuple(found), self._truth(table)

    def _truth(self, table: dict[str, Any]) -> Truth:
        path = table.get("truth")
        if path is not None and not isinstance(path, str):
            raise self._file.broken("is a path", "expect", "truth")
        times = {}
        for one in _TIMES:
            if one.name in table:
                try:
                    times[one.name] = one.read(str(table[one.name]))
                except SettingError as error:
                    raise self._file.broken(str(error), "expect", one.name) from error
        return Truth(
            None if path is None else path_from(self._file, path),
            times.get("truth-offset", 0.0),
            times.get("warm-up"),
        )

    def _sub_table(self, key: str) -> dict[str, Any]:
        table = self._file.table.get(key, {})
        if not isinstance(table, dict):
            raise self._file.broken(f"is a table: write [{key}]", key)
        return table
