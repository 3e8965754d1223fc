"""A scene as the page's scripts read it: numbers in base64, whose size is bounded by the scene's.

An array of n numbers is the base64 of n little-endian values: ``f32`` or ``u8``, as its name in
``data.js`` says. Times are seconds from the scene's start, positions lengths from its origin, so
that single precision is finer than any screen.
"""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.analysis.scenes.scene import BINS
from epic_cli.views.pictures.scenes import ground_axes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from epic_cli.analysis.arrays import Floats
    from epic_cli.analysis.scenes.scene import Drawn, Scene

#: What is further away is not drawn: single precision ends not far beyond.
FURTHEST = 1e30


def scene_data(scene: Scene, ranks: dict[str, int]) -> dict[str, Any]:
    """The scene for the page; strategies are in the order of their ``ranks``."""
    a, b = ground_axes(scene)
    known = np.concatenate((scene.truth, scene.packets))[:, (a, b)]
    known = known[np.isfinite(known).all(axis=1)]
    middle = (known.min(axis=0) + known.max(axis=0)) / 2 if len(known) else np.zeros(2)
    start = float(scene.times[0])

    def path(positions: Floats) -> dict[str, str]:
        return {"x": _f32(positions[:, a] - middle[0]), "y": _f32(positions[:, b] - middle[1])}

    def drawn(one: Drawn) -> dict[str, Any]:
        same = np.array_equal(one.times, scene.times)
        return {
            "label": one.label,
            **({} if same else {"t": _f32(one.times - start)}),
            **path(one.positions),
            "distance": _f32(one.distances),
            # of a distance a 255th can be seen
            "across": _u8(np.rint(255 * np.nan_to_num(one.across))),
            "counted": _u8(np.isfinite(one.errors)),
            "runs": {"t": _f32(one.run_times - start), "status": _u8(one.run_statuses)},
            "lag": {"t": _f32(one.lag.times - start), "seconds": _f32(one.lag.seconds)},
            "histogram": {"first": one.histogram.first, "counts": one.histogram.counts.tolist()},
            "recoveries": [round(s, 4) if math.isfinite(s) else None for s in one.recoveries],
        }

    deliveries = scene.deliveries
    lost = (deliveries.lost_times >= scene.times[0]) & (deliveries.lost_times <= scene.times[-1])
    return {
        "entity": scene.entity,
        "axes": ["xyz"[a], "xyz"[b]],
        "origin": [float(one) for one in middle],
        "start": start,
        "end": float(scene.times[-1]),
        "bins": BINS,
        "truth": {"t": _f32(scene.times - start), **path(scene.truth)},
        "packets": {
            "t": _f32(scene.packet_times - start),
            "arrival": _f32(scene.arrivals - start),
            **path(scene.packets),
        },
        "lost": {"t": _f32(deliveries.lost_times[lost] - start), **path(deliveries.lost[lost])},
        "interruptions": [
            {"start": one.start - start, "end": one.end - start, "kind": one.kind}
            for one in scene.interruptions
        ],
        "drawn": [drawn(one) for one in sorted(scene.drawn, key=lambda one: ranks[one.label])],
    }


def _f32(values: Floats) -> str:
    with np.errstate(invalid="ignore"):
        inside = np.where(np.abs(values) < FURTHEST, values, np.nan)
    return _base64(inside.astype("<f4"))


def _u8(values: ArrayLike) -> str:
    return _base64(np.asarray(values).astype("u1"))


def _base64(values: Any) -> str:
    return base64.b64encode(values.tobytes()).decode()
