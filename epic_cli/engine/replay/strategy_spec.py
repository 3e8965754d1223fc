"""A strategy with settings under a label, to replay, compare, tune or check.

It is written ``NAME`` or ``NAME+key=value+key=value``, the same on the command line, in the
session, in case files and from Python.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.strategies import (
    DEFAULT,
    compose,
    create,
    find_class,
    get_declaration,
    list_remote_names,
    make_factory,
)

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy

# As a replay starts with one: no dataclass, and no annotations that are text.


#: The strategy that draws logs of the client's own player (``corrections.py``).
_OF_OWN_PLAYER = "visual-offset"

#: How engines hide a correction, as settings of that strategy.
ENGINES = {
    "snap": "fading=snap",
    "source": "fading=linear+time=0.1",
    "netfox": "fading=linear+time=1/30",
    "lightyear": "fading=exponential+time=0.2",
    "unreal": "fading=frames+time=0.1",
    "unreal-linear": "fading=overshooting+time=0.1",
    "spring": "fading=spring+time=0.1",
    "lance": "fading=steps+time=1/6+share=0.6",
}

#: What stands before the engine whose way of hiding corrections is meant.
CORRECTION = "correction:"


class _SpecFields(NamedTuple):
    name: str
    settings: Mapping[str, Any]
    label: str


class StrategySpec(_SpecFields):
    """A strategy's ``name``, its given ``settings`` as typed, and its ``label`` in results.

    Unless given, the label is the text that ``write_spec`` returns.
    """

    __slots__ = ()

    def __new__(
        cls, name: str = DEFAULT, settings: Mapping[str, Any] | None = None, label: str = ""
    ) -> "StrategySpec":
        """Store the settings unchecked; ``make`` checks them."""
        given = dict(settings or {})
        return super().__new__(cls, name, given, label or write_spec(name, given))

    @property
    def values(self) -> dict[str, Any]:
        """The value of every setting, given or default, by name."""
        return get_declaration(self.name).values(self.settings)

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from their defaults; raises what ``values`` raises."""
        defaults = get_declaration(self.name).values({})
        return {key: value for key, value in self.values.items() if value != defaults.get(key)}

    @property
    def composed(self) -> "StrategySpec":
        """The spec with a system's name replaced by its strategy and settings; the label stays."""
        return StrategySpec(*compose(self.name, self.settings), self.label)

    def make(self) -> "SmoothingStrategy":
        """Create the strategy; raise ``UnknownStrategy`` or ``SettingError``."""
        return create(self.name, self.settings)

    def make_factory(self) -> "Callable[[], SmoothingStrategy]":
        """Return a function that creates the strategy for each entity.

        Raise what ``make`` raises.
        """
        return make_factory(self.name, self.settings)


def write_spec(name: str, settings: Mapping[str, Any]) -> str:
    """Return a strategy as ``NAME+key=value+key=value``, which ``read_spec`` reads."""
    values = (
        f"+{key}={value if isinstance(value, str) else f'{value:.12g}'}"
        for key, value in settings.items()
    )
    return "".join([name, *values])


def read_assignment(text: str) -> tuple[str, str]:
    """Split ``key=value`` into key and value; raise ``ValueError``."""
    key, equals, value = text.partition("=")
    if not (equals and key.strip()):
        raise ValueError(f"{text!r} is not of the form key=value")
    return key.strip(), value.strip()


def read_spec(text: str) -> StrategySpec:
    """Parse ``NAME+key=value`` or ``correction:ENGINE+key=value``, and check name and settings.

    Raise ``UnknownStrategy`` or ``SettingError``.
    """
    name, settings = split(text)
    if name.startswith(CORRECTION):
        name, settings = _read_engine_settings(name.removeprefix(CORRECTION), settings)
    find_class(name)
    spec = StrategySpec(name, settings, text)
    spec.make()  # wrong settings show before the work begins
    return spec


def read_specs(texts: Iterable[str] = ()) -> list[StrategySpec]:
    """Parse several strategies; without texts, return all strategies for remote entities.

    ``correction:all`` stands for each engine's correction. Raise ``UnknownStrategy``,
    ``SettingError``, or ``ValueError`` for the same variant twice.
    """
    found: list[StrategySpec] = []
    for text in list(texts) or list_remote_names():
        if text == f"{CORRECTION}all":
            found += [read_spec(f"{CORRECTION}{engine}") for engine in ENGINES]
        else:
            found.append(read_spec(text))
    labels = [spec.label for spec in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label} is given twice")
    return found


def split(text: str) -> tuple[str, dict[str, str]]:
    """Split ``NAME+key=value`` into name and settings, without checks; raise ``ValueError``."""
    if "+" not in text:
        return text, {}
    import re  # which would take a tenth of a replay's start

    # a plus sign within a number is not a separator
    name, *assignments = re.split(r"\+(?=[A-Za-z_]\w*=)", text)
    if "+" in name and ".py:" not in name:
        raise ValueError(f"{name.partition('+')[2]!r} is not of the form key=value")
    return name, dict(map(read_assignment, assignments))


def _read_engine_settings(engine: str, settings: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the strategy and settings that hide corrections as an engine does.

    ``settings`` override the engine's. Raise ``ValueError`` for an unknown engine.
    """
    if engine not in ENGINES:
        known = ", ".join((*ENGINES, "all"))
        raise ValueError(f"unknown engine {engine!r}: choose from {known}")
    name, usual = split(f"{_OF_OWN_PLAYER}+{ENGINES[engine]}")
    return name, {**usual, **settings}
