"""Ways on cubics from packet to packet, as tutorials of splines have them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from epic_cli.engine.replay.strategy_spec import StrategySpec

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames

#: Hermite curves that go on from what is drawn, and Bezier curves to where the velocity leads.
CURVES: tuple[dict[str, Any], ...] = ({}, {"bend": 3.0, "leave": "packet", "ahead": "interval"})

#: When the ways begin, and how the time that they take is measured; the first of these stand where
#: two packets come in one frame, which the first frames may not show.
STARTS: tuple[dict[str, Any], ...] = ({"start": "last"}, {}, {"start": "frame"})
TIMES: tuple[dict[str, Any], ...] = (
    {"interval": "steps", "interval_late": 60.0}, {"interval": "steps"}, {},
    {"interval": "stamps"}, {"interval": "arrivals"},
)  # fmt: skip


def iterate_cubics(frames: Frames) -> Iterator[StrategySpec]:
    """Yield ways on cubics by the packets' velocities, if they have some."""
    if frames.has_velocities:
        for curve, start, time in itertools.product(CURVES, STARTS, TIMES):
            yield StrategySpec("chase", {"how": "hermite", "time": "1i", **start, **time, **curve})
