"""Rows of a table as one test: an item for each would take longer than most rows do.

A test that has no other arguments than those of ``pytest.mark.parametrize`` runs five rows as one
item (``TEST[0..4]``), and the message of one that fails ends with the row. Where the command
names this test (``FILE::TEST``) or one of its rows, each row is an item.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from inspect import Signature
from typing import Any

import pytest

#: How many rows are an item.
TOGETHER = 5

Row = Mapping[str, Any]

_MARKED = type(pytest.param())
_TOGETHER = re.compile(r"\[\d+\.\.\d+\]$")
_ROW = re.compile(r"\[.*", re.DOTALL)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: Any
) -> list[pytest.Function] | None:
    """Return the items of a test with many rows; None where pytest shall make them."""
    marks = getattr(obj, "pytestmark", None)
    if not marks or not collector.istestfunction(obj, name):
        return None
    begun = collector.config.invocation_params.dir
    named = (one.partition("::") for one in collector.config.args)
    own = (test for file, _, test in named if test and begun / file == collector.path)
    if any(_ROW.sub("", one).endswith(name) and not _TOGETHER.search(one) for one in own):
        return None
    tables = [list_rows(mark) for mark in marks if mark.name == "parametrize"]
    if not tables or None in tables:
        return None
    given = {key for table in tables for row in (table or [])[:1] for key in row}
    rows = [
        {key: value for part in parts for key, value in part.items()}
        for parts in itertools.product(*filter(None, reversed(tables)))
    ]
    known = collector.session._fixturemanager.getfixtureinfo(collector, obj, None)  # type: ignore[arg-type]
    if len(rows) < 2 or set(known.names_closure) - given:
        return None
    rest = [mark for mark in marks if mark.name != "parametrize"]
    return [
        pytest.Function.from_parent(
            collector,
            name=f"{name}[{first}..{min(first + TOGETHER, len(rows)) - 1}]",
            callobj=run_rows(obj, rows[first : first + TOGETHER], rest),
        )
        for first in range(0, len(rows), TOGETHER)
    ]


def list_rows(mark: pytest.Mark) -> list[Row] | None:
    """Return the arguments of each row of a table; None if a row has marks of its own."""
    if (
        mark.kwargs.keys() - {"ids"}
        or len(mark.args) != 2
        or not isinstance(mark.args[1], Collection)
    ):
        return None
    names = mark.args[0]
    names = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)
    rows: list[Row] = []
    for values in mark.args[1]:
        if isinstance(values, _MARKED):
            if values.marks:
                return None
            values = values.values  # noqa: PLW2901
        elif len(names) == 1:
            values = (values,)  # noqa: PLW2901
        rows.append(dict(zip(names, values, strict=True)))
    return rows


def run_rows(test: Callable[..., None], rows: Sequence[Row], marks: list[pytest.Mark]) -> Any:
    """Return a test that runs one with each of these rows; it is skipped if all are."""

    @wraps(test)
    def run() -> None:
        skipped: list[BaseException] = []
        for row in rows:
            try:
                test(**row)
            except pytest.skip.Exception as reason:
                skipped.append(reason)
            except BaseException as error:
                error.add_note(
                    f"with {', '.join(f'{key}={value!r}' for key, value in row.items())}"
                )
                raise
        if len(skipped) == len(rows):
            raise skipped[0]

    run.__signature__ = Signature()  # type: ignore[attr-defined]
    run.pytestmark = marks  # type: ignore[attr-defined]
    return run
