"""Every strategy, at its defaults and with each of its choices."""

from __future__ import annotations

from typing import Any, NamedTuple

from epic_cli import strategies, strategy


class Variant(NamedTuple):
    """A strategy with one of its choices, the others at their defaults."""

    name: str
    settings: dict[str, Any]

    def make(self) -> Any:
        return strategy(self.name, **self.settings)

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{key}={value}" for key, value in self.settings.items())])


VARIANTS = [
    variant
    for declared in strategies()
    for variant in (
        Variant(declared.name, {}),
        *(
            Variant(declared.name, {setting.name: choice})
            for setting in declared.settings
            for choice in setting.choices
            if choice != setting.default
        ),
    )
]
