"""A comparison as one page for a browser: self-contained, offline, to be sent to a colleague."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.analysis.notes import NothingToDraw
from epic_cli.views.comparison import columns, ordered
from epic_cli.views.comparison_words import ranking, story
from epic_cli.views.scenes import ground_axes
from epic_cli.views.svg import COLORS

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.scene import Scene
    from epic_cli.analysis.truth import Floats

#: A page has at most about so many drawn positions; of more, every so many-th row is kept.
MOST_POSITIONS = 400_000

#: The metrics beside the picture; the table under it has all.
BRIEF = ("score", "error", "lag", "jumps")

#: Positions are whole numbers of this share of the scene's size.
FINENESS = 20_000


def page(comparison: Comparison, sort: str = "score", shown: Sequence[str] = ()) -> str:
    """The page's text; ``shown`` strategies are switched on at first, none: all.

    It has everything in it and asks the network for nothing. Raises ``NothingToDraw`` where there
    is nothing to draw.
    """
    scenes = [one for one in comparison.scenes if len(one.times)]
    if not scenes:
        raise NothingToDraw
    results = ordered(comparison, sort, by_entity=False)
    total = sum(len(one.times) * len(one.drawn) for one in scenes)
    every = max(1, -(-total // MOST_POSITIONS))
    made = columns(results)
    lines = story(comparison, results)
    thinned = max(one.every for one in scenes) * every
    if thinned > 1:
        lines.append(f"The pictures show one row in {thinned}.")
    content = {
        "story": lines[0],
        "notes": lines[1:],
        "ranking": [one.text for one in ranking(comparison)],
        "shown": list(shown) or [one.label for one in results],
        "columns": [
            {
                "title": one.metric.title,
                "meaning": one.metric.help,
                "brief": one.metric.name in BRIEF,
            }
            for one in made
        ],
        "rows": [
            {
                "label": one.label,
                "cells": [column.cells[row] for column in made],
                "best": [row in column.best for column in made],
            }
            for row, one in enumerate(results)
        ],
        "scenes": [_scene(one, every) for one in scenes],
    }
    parts = files("epic_cli.views") / "page_parts"
    text = (parts / "page.html").read_text("utf-8")
    for mark, name in (("/*STYLE*/", "page.css"), ("/*SCRIPT*/", "page.js")):
        text = text.replace(mark, (parts / name).read_text("utf-8").rstrip())
    # no text of the recording may end the element that holds the data
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.replace("/*DATA*/", data)


def _scene(scene: Scene, every: int) -> dict[str, Any]:
    a, b = ground_axes(scene)
    known = np.concatenate((scene.truth, scene.packets))[:, (a, b)]
    known = known[np.isfinite(known).all(axis=1)]
    size = float(np.ptp(known, axis=0).max()) if len(known) else 1.0
    unit = size / FINENESS or 1.0 / FINENESS

    def path(positions: Floats) -> dict[str, list[int | None]]:
        return {"x": _whole(positions[:, a] / unit), "y": _whole(positions[:, b] / unit)}

    return {
        "entity": scene.entity,
        "axes": ["xyz"[a], "xyz"[b]],
        "unit": unit,
        "times": [round(float(one), 5) for one in scene.times[::every]],
        "truth": path(scene.truth[::every]),
        "packets": path(scene.packets[::every]),
        "packet_times": [round(float(one), 5) for one in scene.packet_times[::every]],
        "drawn": [
            {
                "label": one.label,
                "color": COLORS[index % len(COLORS)],
                **path(one.positions[::every]),
                "error": [_digits(float(error)) for error in one.errors[::every]],
            }
            for index, one in enumerate(scene.drawn)
        ],
    }


def _whole(values: Floats) -> list[int | None]:
    # what is drawn may be anywhere; beyond this the browser's own numbers get coarse
    inside = abs(values) < 2**53
    return [round(v) if ok else None for v, ok in zip(values.tolist(), inside, strict=True)]


def _digits(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
