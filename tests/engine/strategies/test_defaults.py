"""Tests that a strategy's default settings are those of its original."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load

from epic_cli import strategy
from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies import get_declaration


def underscored(name: str) -> str:
    """Return the setting's name for an original's ``NameInCamelCase``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]


#: The defaults of an original that are settings here, by the strategy.
ORIGINALS: dict[str, dict[str, Any]] = {
    "mirror": {
        name.removesuffix("_s"): value
        for name, value in load("mirror_functions")["defaults"].items()
    },
    "source": {
        name: value
        for name, value in load("source_interpolatedvar")["defaults"].items()
        if name != "extra_history_s"
    },
    "unreal": {
        underscored(name): load("unreal_smoothing")["defaults"][name]
        for name in (
            "NetworkSimulatedSmoothLocationTime",
            "NetworkMaxSmoothUpdateDistance",
            "NetworkNoSmoothUpdateDistance",
            "MaxClientSmoothingDeltaTime",
        )
    },
    "hermite": {"playout_delay": load("gaffer")["defaults"]["playout_delay_s"]},
    "quake3": {"cl_time_nudge": load("quake3_clock_error")["timenudge"]["default"]},
    "geckos": {
        "vault_size": load("geckos_functions")["vault_capacity"]["after_130_adds"]["max"]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ORIGINALS)
def test_defaults(name: str) -> None:
    made: Any = strategy(name)
    settings = made.settings
    for setting, value in ORIGINALS[name].items():
        if isinstance(value, bool) or setting == "cl_extrapolate":
            assert settings[setting] == ("on" if value else "off")
        else:
            assert settings[setting] == value, setting


def test_the_time_nudge_has_the_originals_range() -> None:
    (nudge,) = (
        setting for setting in get_declaration("quake3").settings if setting.name == "cl_time_nudge"
    )
    assert isinstance(nudge, Number)
    clamp = load("quake3_clock_error")["timenudge"]["clamp_ms"]
    assert [nudge.low * 1000, nudge.high * 1000] == clamp
