"""Several entities in one row of a table: a ``*`` in a layout stands for each of them.

``x=*_x`` is each column that ends in ``_x``. What is named without a star, a time mostly, is all of
theirs. What the star stands for is an entity's name, unless ``entity`` has a star as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from epic_cli.engine.refusals import Reading, Reason
from epic_cli.recordings.names.guess import infer_layout
from epic_cli.recordings.names.spellings import VELOCITY_WORDS, name_of
from epic_cli.recordings.names.units import AmbiguousLayout
from epic_cli.recordings.read_spec import POSITION, ReadSpec, star_of


def starred(layout: ReadSpec) -> dict[str, str]:
    """The columns of a layout that have a star, by field."""
    return {field: column for field, column in layout.places.items() if star_of(column) >= 0}


def infer_row_layout(given: ReadSpec, values: Mapping[str, str]) -> ReadSpec:
    """As ``infer_layout``, also for a table with columns for each of several entities."""
    templates = starred(given)
    if templates:
        names = tuple(entities_in(templates, tuple(values)))
        return infer_layout(given, _with_first(values, names))
    try:
        return infer_layout(given, values)
    except AmbiguousLayout as ambiguous:
        if ambiguous.reason is not Reason.ENTITIES_IN_A_ROW:
            raise
        names = ambiguous.facts["names"]
        layout = infer_layout(given, _with_first(values, names))
        found = set(entities_in(starred(layout), tuple(values)))
        if set(names) - found:
            raise
        if found - set(names):  # a camera, too
            stars = Reading(tuple(starred(layout).items()))
            ambiguous.facts["readings"] = (stars, *ambiguous.facts["readings"])
            raise
        return layout


def entities_in(templates: Mapping[str, str], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """The entities of a header: which of its columns has which field, by what the star stands for.

    One has a column for each axis of the position that has a template. ``p1_v`` is none, though
    ``p1_v_x`` ends in ``_x``.
    """
    entities: dict[str, dict[str, int]] = {}
    for field, template in templates.items():
        pattern = _pattern_of(template)
        for place, name in enumerate(names):
            found = pattern.fullmatch(name)
            if found and not VELOCITY_WORDS & set(name_of(found.group(1)).words[-1:]):
                entities.setdefault(found.group(1), {})[field] = place
    needed = [axis for axis in POSITION if axis in templates]
    return {
        name: places for name, places in entities.items() if all(axis in places for axis in needed)
    }


def is_named(column: str, name: str) -> bool:
    """Whether a column of a layout, also one with a star, stands for the column of this name."""
    return column == name or (star_of(column) >= 0 and bool(_pattern_of(column).fullmatch(name)))


def _pattern_of(template: str) -> re.Pattern[str]:
    at = star_of(template)
    return re.compile(f"{re.escape(template[:at])}(.+){re.escape(template[at + 1 :])}")


def _with_first(values: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The first entity's columns, a star in place of its name, and those that belong to none."""
    patterns = {name: _alone(name) for name in sorted(names, key=len, reverse=True)}
    firsts: dict[str, str] = {}
    others: dict[str, str] = {}
    for text, value in values.items():
        name = next((name for name, pattern in patterns.items() if pattern.search(text)), None)
        if name is None:
            others[text] = value
        elif name == names[0]:
            firsts[patterns[name].sub("*", text, count=1)] = value
    return {**firsts, **others}


def _alone(name: str) -> re.Pattern[str]:
    """Finds a name that is not a part of a longer one."""
    before = r"\d" if name[0].isdigit() else "A-Z" if name[0].isupper() else "A-Za-z"
    behind = r"\d" if name[-1].isdigit() else "a-z"
    return re.compile(f"(?<![{before}]){re.escape(name)}(?![{behind}])")
