"""The entries that a JSON object has for several entities, and the layout that they show.

A path with a ``*`` leads to each entry of an array, or of an object: ``players.*.x``. Single ones
stand before it: ``ball|players.*.x``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from epic_cli.engine.refusals import Reading, Reason
from epic_cli.recordings.entries.json.values import (
    DEEPEST,
    Object,
    is_unicode,
    look_up,
    single_values,
)
from epic_cli.recordings.names.guess import infer_layout
from epic_cli.recordings.names.spellings import (
    EYES,
    OTHER_WORDS,
    POSITION_WORDS,
    VELOCITY_WORDS,
    component_of,
    name_of,
)
from epic_cli.recordings.names.stars import starred
from epic_cli.recordings.names.units import AmbiguousLayout
from epic_cli.recordings.read_spec import (
    POSITION,
    ReadSpec,
    path_names,
    path_text,
    split_escaped,
    star_of,
)

#: Members that have a position and are no entities.
_NO_ENTITIES = EYES | OTHER_WORDS | {"origin"}

#: The rank of a position that stands under the name of a thing.
_THING = 3

#: Arrays of states that stand together are of an entity each.
_SEVERAL = 2


class Entries(NamedTuple):
    """Where an object has its entries, and where each of them has its fields.

    Entries with their own times are states: those of an array, or of one that stands for an entry,
    have no names of their own. Among an object's own members are those entries that have a place.
    ``singles`` are where it has entries beside these, each under its name.
    """

    steps: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]
    singles: tuple[tuple[str, ...], ...] = ()

    def of(self, item: Any) -> Iterator[tuple[str, Any]]:
        """The entries that there are, each with its name or number; none where nothing is."""
        for single in self.singles:
            state, _ = look_up(item, single)
            if isinstance(state, dict):
                yield single[-1], state
        found, _ = look_up(item, self.steps)
        timed = "time" in self.paths
        pairs: Iterable[tuple[str, Any]] = (
            found.pairs or found.items()
            if isinstance(found, Object)
            else (("" if timed else str(at), one) for at, one in enumerate(_list(found)))
        )
        for name, entry in pairs:
            states = entry if timed and _has_objects(entry) else (entry,)
            for state in states:
                if state is not None and (self.steps or self._is_placed(state)):
                    yield name, state

    def _is_placed(self, entry: Any) -> bool:
        places = [self.paths[axis] for axis in POSITION if axis in self.paths]
        return isinstance(entry, dict | list) and any(not look_up(entry, at)[1] for at in places)


def _has_objects(value: Any) -> bool:
    return any(isinstance(one, dict) for one in _list(value))


def _first_state(entry: Any) -> Any:
    return next((one for one in _list(entry) if isinstance(one, dict)), entry)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def entries_of(layout: ReadSpec) -> Entries | None:
    """How objects with several entities are read; None: a layout without stars."""
    places = starred(layout)
    if not places:
        return None
    paths = {}
    before: list[tuple[str, ...]] = []
    for field, path in places.items():
        at = star_of(path)
        outer = split_escaped(path[:at].rstrip("."), "|")
        before = [path_names(one) if one else () for one in outer]
        behind = path[at + 1 :].removeprefix(".")
        paths[field] = path_names(behind) if behind else ()
    *singles, steps = before
    return Entries(steps, paths, tuple(singles))


def _with_singles(layout: ReadSpec, item: Any) -> ReadSpec:
    """The layout with entries of the same form beside those of a container: a ball, and cars."""
    entries = entries_of(layout)
    if entries is None or not entries.steps or entries.singles or "time" in entries.paths:
        return layout
    beside, _ = look_up(item, entries.steps[:-1])
    axes = [entries.paths[axis] for axis in POSITION if axis in entries.paths]
    found = [
        path_text((*entries.steps[:-1], name))
        for name, value in (beside.items() if isinstance(beside, dict) else ())
        if isinstance(value, dict)
        and is_unicode(name)
        and not _NO_ENTITIES & set(name_of(name).words)
        and not any(look_up(value, path)[1] for path in axes)
    ]
    before = path_text(entries.steps)
    many = "|".join([*found, before])
    columns = tuple(
        (field, path.replace(before, many, 1) if star_of(path) >= 0 else path)
        for field, path in layout.columns or ()
    )
    return layout._replace(columns=columns)


def infer_object_layout(given: ReadSpec, item: Any) -> ReadSpec:
    """As ``infer_layout``, of an object that may have an entry for each of several entities."""
    values = single_values(item)
    entries = entries_of(given)
    if entries is not None:
        path = next(iter(starred(given).values()))
        first = _first(item, entries.steps, path[: star_of(path)])
        return infer_layout(given, {**first, **values})
    alone, ambiguous = None, AmbiguousLayout(Reason.COLUMN_UNCLEAR, field="x", names=tuple(values))
    try:
        alone = infer_layout(given, values)
        place = component_of(name_of(alone.places.get("x", "")))
        if "x" in given.places or place is None or place.rank < _THING:
            return alone
    except AmbiguousLayout as error:
        ambiguous = error
    containers = list(_containers(item, ()))
    if ambiguous.reason is Reason.ENTITIES_IN_A_ROW and len(_objects_in(item)) > 1:
        containers.append(())
    found = _inferred(given, item, values, containers)
    unclear = ambiguous.reason is Reason.COLUMN_UNCLEAR
    if not found and unclear:  # one of them may be there as yet
        here = _inferred(given, item, values, [()])
        found = [one for one in here if _has_times(one, item)]
    found = _outermost(found)
    parents = {_parent(one) for one in found}
    if len(found) > 1 and len(parents) == 1:
        found = _inferred(given, item, values, [one[0] for one in parents if one]) or found
    seen = [name for one in found for name in _eyes(one, item)]
    if seen and alone is not None:
        return alone
    if len(found) > 1 or seen:
        readings = tuple(Reading(tuple(starred(one).items())) for one in found)
        names = tuple(next(iter(starred(one).values())) for one in found)
        if seen and "readings" in ambiguous.facts:
            ambiguous.facts["readings"] = readings + ambiguous.facts["readings"]
            raise ambiguous
        facts = {"field": "x", "names": names, "readings": readings}
        raise AmbiguousLayout(Reason.COLUMN_AMBIGUOUS, **facts) from ambiguous
    if found:
        return _with_singles(found[0], item)
    if alone is not None:
        return alone
    if unclear:
        facts = {**ambiguous.facts, "names": _names_with_stars(item, values, containers)}
        raise AmbiguousLayout(ambiguous.reason, **facts) from ambiguous
    raise ambiguous


def _eyes(layout: ReadSpec, item: Any) -> list[str]:
    """The entries that are a camera, or a target, and no entity."""
    entries = entries_of(layout)
    if entries is None or entries.steps:
        return []
    path = next(entries.paths[axis] for axis in POSITION if axis in entries.paths)
    names = (name for name, entry in entries.of(item) if look_up(entry, path)[1] is None)
    return [name for name in names if set(name_of(name).words) & _NO_ENTITIES]


def _inferred(
    given: ReadSpec, item: Any, values: Mapping[str, str], containers: Iterable[tuple[str, ...]]
) -> list[ReadSpec]:
    """The layouts with entries in one of these containers, as far as they say what is what."""
    found = []
    for steps in containers:
        if steps and _is_one(look_up(item, steps)[0]):
            continue
        with suppress(AmbiguousLayout):
            layout = infer_layout(given, {**_first(item, steps), **values})
            if set(POSITION) & set(starred(layout)):
                found.append(layout)
    return found


def _is_one(container: Any) -> bool:
    """Whether what it has are the vectors of one entity."""
    if not isinstance(container, dict):
        return False
    words = POSITION_WORDS | VELOCITY_WORDS | {"rot", "rotation", "orientation", "angular", "acc"}
    return all(set(name_of(name).words) <= words for name in container)


def _has_times(layout: ReadSpec, item: Any) -> bool:
    """Whether the entries have times of their own where these are looked for in them."""
    entries = entries_of(layout)
    if entries is None or "time" not in entries.paths:
        return True
    return all(look_up(entry, entries.paths["time"])[1] is None for _, entry in entries.of(item))


def _outermost(found: list[ReadSpec]) -> list[ReadSpec]:
    """Without containers in a container that has several of them, and without one of a single."""
    steps = [entries.steps for entries in map(entries_of, found) if entries is not None]
    within = Counter(one[:-1] for one in steps if one[:-1] in steps and one)
    return [
        layout
        for layout, one in zip(found, steps, strict=True)
        if within[one] != 1 and within[one[:-1]] < _SEVERAL
    ]


def _parent(layout: ReadSpec) -> tuple[tuple[str, ...], Any] | None:
    """What has the container of states with times of their own, and how they are read."""
    entries = entries_of(layout)
    if entries is None or not entries.steps or "time" not in entries.paths:
        return None
    return entries.steps[:-1], tuple(sorted(entries.paths.items()))


def _objects_in(item: Any) -> list[Any]:
    return [one for one in item.values() if isinstance(one, dict)] if isinstance(item, dict) else []


def _names_with_stars(
    item: Any, values: Mapping[str, str], containers: Iterable[tuple[str, ...]]
) -> tuple[str, ...]:
    """The names of the values that an object has, and those that its entries have, once."""
    within = tuple(f"{path_text(steps)}." for steps in containers)
    stars = dict.fromkeys(name for steps in containers for name in _first(item, steps))
    return (*(name for name in values if not name.startswith(within)), *stars)


def has_no_entries(given: ReadSpec, item: Any) -> bool:
    """Whether it may be an object of which entities are to come, and that has none yet."""
    entries = entries_of(given)
    if entries is not None:
        found, _ = look_up(item, entries.steps)
        return found is None or found in ([], {})
    values: Mapping[str, Any] = item if isinstance(item, dict) else {}
    return any(value in ([], {}) for value in values.values())


def _containers(item: Any, steps: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where a value has arrays or objects of objects or arrays."""
    if not isinstance(item, dict) or len(steps) > DEEPEST:
        return
    for name, value in item.items():
        if not is_unicode(name):
            continue
        entries = value.values() if isinstance(value, dict) else _list(value)
        if any(isinstance(entry, dict | list) for entry in entries):
            yield (*steps, name)
        yield from _containers(value, (*steps, name))


def _first(item: Any, steps: tuple[str, ...], before: str | None = None) -> dict[str, str]:
    """The single values of the first entry, by their paths with a star, ``before`` which this is.

    Among an object's own members it is not known which of them are entries.
    """
    found, _ = look_up(item, steps)
    entries = list(found.values()) if isinstance(found, dict) else _list(found)
    firsts = [_first_state(entry) for entry in entries if entry is not None]
    firsts = firsts[:1] if steps else _objects_in(item) or firsts
    if before is None:
        before = f"{path_text(steps)}." if steps else ""
    return {
        f"{before}*.{path}": value
        for first in reversed(firsts)
        for path, value in single_values(first).items()
        if path
    }
