"""A strategy whose numbers are fitted to the frames of a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec

#: Numbers with which drawn positions leap, so that slopes by them say nothing.
LEAPING = (
    "every",
    "rounding",
    "dead_zone",
    "dead_band",
    "forget",
    "snap_near",
    "snap_after",
    "overshoot",
    "waypoint_reach",
    "reserve_time",
)


#: The least share of the moving frames that tells a strategy, whatever the others show.
MOST = 0.9


class FittedStrategy(NamedTuple):
    """A strategy with a time ``shift`` (s) and a low-pass (time constant, s; 0: none).

    Its error is ``residual`` (RMS, length), and ``apart``, the mean of the distances, none of which
    counts for more than a usual step; ``share`` is that of the moving frames without an error.
    """

    candidate: StrategySpec
    shift: float = 0.0
    constant: float = 0.0
    residual: float = np.inf
    apart: float = np.inf
    share: float = 0.0

    @property
    def draws_most(self) -> bool:
        """True if nearly all frames are drawn without an error."""
        return self.share >= MOST

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers that can be fitted.

        Settings, also those in send intervals, shift and constant.
        """
        settings = self.candidate.settings
        found = {key: _parse_number(value) for key, value in settings.items()}
        if settings.get("clock") != "mean":  # a least offset or a median leaps with its time
            found.pop("clock_time", None)
        if settings.get("catch_up") in ("queue", "timer", "timed-queue"):
            found.pop("interval", None)
        if "every" in settings and settings.get("between") != "lerp":
            found.pop("phase", None)
        if settings.get("step_time") == 1:  # a count
            found.pop("step_time")
        for key in LEAPING:
            found.pop(key, None)
        found |= {"": self.shift or None, " ": self.constant or None}
        return {key: value for key, value in found.items() if value is not None}

    def change(self, changes: Mapping[str, Any]) -> FittedStrategy:
        """Return a copy with other numbers or words; None restores a default."""
        settings = {**self.candidate.settings, **changes}
        shift, constant = settings.pop("", self.shift), settings.pop(" ", self.constant)
        for key, value in changes.items():
            if key.strip() and isinstance(value, float):
                before = self.candidate.settings.get(key)
                if isinstance(before, str) and _parse_number(before) is not None:
                    settings[key] = f"{value:.9g}i"
        kept = {key: value for key, value in settings.items() if value is not None}
        return FittedStrategy(StrategySpec(self.candidate.name, kept), shift, constant)


def _parse_number(value: object) -> float | None:
    """Return a number, also from a number of send intervals (``1.8i``)."""
    if isinstance(value, str) and value[:1].isdigit() and value.endswith("i"):
        return float(value[:-1])
    return value if isinstance(value, float) else None
