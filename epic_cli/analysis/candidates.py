"""Who takes part in a comparison: strategies with settings, each under a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.declaration import nearest
from epic_cli.engine.strategies import create, find, names

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

#: Before each setting of a variant; a plus sign in a number is none.
_PLUS = re.compile(r"\+(?=[A-Za-z_]\w*=)")


class Candidate(NamedTuple):
    """A strategy with settings, under the name (``label``) that results give it."""

    label: str
    strategy: str
    settings: dict[str, Any]

    def make(self) -> SmoothingStrategy:
        """A new strategy; raises ``UnknownStrategy`` or ``SettingError``."""
        return create(self.strategy, self.settings)


def candidates(
    wanted: Iterable[str] = (), settings: Mapping[tuple[str, str], Any] | None = None
) -> list[Candidate]:
    """The strategies of these texts, ``NAME`` or ``NAME+key=value+key=value``; none: all there are.

    ``settings`` by strategy and key hold for every variant of that strategy that does not set
    the key itself. Raises ``UnknownStrategy``, ``SettingError``, or ``ValueError`` for settings
    of a strategy that does not take part and for the same variant twice.
    """
    given = settings or {}
    found: list[Candidate] = []
    for text in list(wanted) or names():
        name, *assignments = _PLUS.split(text)
        find(name)
        own = {key: value for (strategy, key), value in given.items() if strategy == name}
        for assignment in assignments:
            key, _, value = assignment.partition("=")
            own[key] = value
        found.append(Candidate(text, name, own))
        found[-1].make()  # wrong settings show before the work begins
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} is given twice")
    taking_part = [one.strategy for one in found]
    for strategy, key in given:
        if strategy not in taking_part:
            near = nearest(strategy, taking_part)
            hint = f"did you mean {near!r}?" if near else f"these do: {', '.join(taking_part)}"
            raise ValueError(
                f"{strategy}.{key} is set, but {strategy!r} does not take part; {hint}"
            )
    return found
