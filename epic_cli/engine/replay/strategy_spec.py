"""A strategy with settings under a label, to replay, compare, tune or check.

It is written ``NAME`` or ``NAME+key=value+key=value``, the same on the command line, in the
session, in case files and from Python.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.parameter_base import nearest
from epic_cli.engine.strategies import DEFAULT, create, declaration, find, maker, remote_names

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

# As a replay starts with one: no dataclass, and no annotations that are text.


class _Fields(NamedTuple):
    name: str
    settings: Mapping[str, Any]
    label: str


class StrategySpec(_Fields):
    """The ``name`` of a strategy, the ``settings`` given for it, as typed, and a ``label``.

    The label is what results call it; unless given, it is how the spec is ``written``.
    """

    __slots__ = ()

    def __new__(
        cls, name: str = DEFAULT, settings: Mapping[str, Any] | None = None, label: str = ""
    ) -> "StrategySpec":
        """Takes the settings as they are; ``make`` checks them."""
        given = dict(settings or {})
        return super().__new__(cls, name, given, label or written(name, given))

    @property
    def values(self) -> dict[str, Any]:
        """All settings, given or default; raises ``UnknownStrategy`` or ``SettingError``."""
        return declaration(self.name).values(self.settings)

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that are not at their defaults; raises as ``values``."""
        defaults = declaration(self.name).values({})
        return {key: value for key, value in self.values.items() if value != defaults.get(key)}

    def make(self) -> "SmoothingStrategy":
        """A new strategy; raises ``UnknownStrategy`` or ``SettingError``."""
        return create(self.name, self.settings)

    def maker(self) -> "Callable[[], SmoothingStrategy]":
        """What makes such strategies, for as many entities as there are; raises as ``make``."""
        return maker(self.name, self.settings)


def written(name: str, settings: Mapping[str, Any]) -> str:
    """``NAME+key=value+key=value``, which ``read_spec`` reads."""
    values = (
        f"+{key}={value if isinstance(value, str) else f'{value:.12g}'}"
        for key, value in settings.items()
    )
    return "".join([name, *values])


def read_assignment(text: str) -> tuple[str, str]:
    """The key and the value of ``key=value``; raises ``ValueError``."""
    key, equals, value = text.partition("=")
    if not (equals and key.strip()):
        raise ValueError(f"{text!r} is not of the form key=value")
    return key.strip(), value.strip()


def read_owned_assignment(text: str) -> tuple[str, str, str]:
    """The strategy, the key and the value of ``NAME.key=value``; raises ``ValueError``."""
    place, equals, value = text.partition("=")
    name, _, key = place.strip().rpartition(".")
    if not (equals and name and key):
        raise ValueError(f"{text!r} is not of the form strategy.key=value")
    return name, key, value.strip()


def read_spec(text: str, defaults: Mapping[str, Any] | None = None) -> StrategySpec:
    """The strategy that a text names; ``defaults`` hold for what it does not set.

    Raises ``UnknownStrategy`` or ``SettingError``.
    """
    name, own = split(text)
    find(name)
    spec = StrategySpec(name, {**(defaults or {}), **own}, text)
    spec.make()  # wrong settings show before the work begins
    return spec


def read_specs(
    texts: Iterable[str] = (), settings: Mapping[tuple[str, str], Any] | None = None
) -> list[StrategySpec]:
    """The strategies that these texts name; no texts: all.

    ``settings`` by strategy and key hold for every variant of that strategy that does not set
    the key itself. Raises ``UnknownStrategy``, ``SettingError``, or ``ValueError`` for settings
    of a strategy that does not take part and for the same variant twice.
    """
    by_strategy: dict[str, dict[str, Any]] = {}
    for (strategy, key), value in (settings or {}).items():
        by_strategy.setdefault(strategy, {})[key] = value
    found: list[StrategySpec] = []
    for text in list(texts) or remote_names():
        found.append(read_spec(text, by_strategy.get(split(text)[0])))
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} is given twice")
    taking_part = [one.name for one in found]
    for strategy, given in by_strategy.items():
        if strategy not in taking_part:
            near = nearest(strategy, taking_part)
            hint = f"did you mean {near!r}?" if near else f"these do: {', '.join(taking_part)}"
            key = next(iter(given))
            raise ValueError(
                f"{strategy}.{key} is set, but {strategy!r} does not take part; {hint}"
            )
    return found


def split(text: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of ``NAME+key=value``, unchecked; raises ``ValueError``."""
    import re  # a replay needs none

    # a plus sign within a number is not a separator
    name, *assignments = re.split(r"\+(?=[A-Za-z_]\w*=)", text)
    return name, dict(map(read_assignment, assignments))
