"""Charts of a comparison's scenes: truth, packets and what strategies drew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.views.pictures.chart import (
    MARKS,
    PACKET_MARK,
    PACKET_STYLE,
    STYLES,
    TRUTH_MARK,
    TRUTH_STYLE,
    Chart,
    Line,
)

if TYPE_CHECKING:
    from epic_cli.analysis.scenes.scene import Drawn, Scene
    from epic_cli.analysis.truth import Floats
    from epic_cli.views.pictures.perspectives import View


def ground_axes(scene: Scene) -> tuple[int, int]:
    """The two axes in which the movement goes furthest: what "from above" looks down on.

    Games disagree about whether y or z is up; in neither of them entities move most that way.
    """
    known = np.concatenate((scene.truth, scene.packets))
    known = known[np.isfinite(known).all(axis=1)]
    if not len(known):
        return 0, 1
    spread = np.ptp(known, axis=0)
    first, second = sorted(int(axis) for axis in np.argsort(-spread, kind="stable")[:2])
    return first, second


def scene_chart(
    scene: Scene,
    view: View = "above",
    labels: Sequence[str] = (),
    *,
    height: int = 18,
    width: int | None = None,
) -> Chart:
    """One view of a scene: from above, a coordinate over time, or the error over time.

    ``labels`` chooses strategies, the best one first; none: all. Lines are drawn above the
    packets, the first strategy's above the others.
    """
    chosen = chosen_of(scene, labels)
    name = f"{scene.entity}: " if scene.entity else ""
    if view == "error":
        lines = [_line(i, one, one.times, one.errors) for i, one in chosen]
        title = f"{name}error (lengths) over time (s)"
        return Chart(lines, title, named=True, height=height, width=width)
    if view == "above":
        a, b = ground_axes(scene)
        lines = [
            _packets(scene.packets[:, a], scene.packets[:, b]),
            Line("truth", scene.truth[:, a], scene.truth[:, b], TRUTH_STYLE, TRUTH_MARK),
            *(_line(i, one, one.positions[:, a], one.positions[:, b]) for i, one in chosen),
        ]
        title = f"{name}from above, {'xyz'[b]} over {'xyz'[a]}"
        return Chart(lines, title, equal=True, height=height, width=width)
    axis = "xyz".index(view)
    lines = [
        _packets(scene.packet_times, scene.packets[:, axis]),
        Line("truth", scene.times, scene.truth[:, axis], TRUTH_STYLE, TRUTH_MARK),
        *(_line(i, one, one.times, one.positions[:, axis]) for i, one in chosen),
    ]
    title = f"{name}{view} (lengths) over time (s)"
    return Chart(lines, title, named=True, height=height, width=width)


def chosen_of(scene: Scene, labels: Sequence[str]) -> list[tuple[int, Drawn]]:
    """The strategies with these labels, each with its rank from 0, the last one first.

    So the best is drawn last, above all others. Without labels they are all of the scene's.
    """
    by_label = {one.label: one for one in scene.drawn}
    found = [by_label[label] for label in labels or by_label if label in by_label]
    return list(enumerate(found))[::-1]


def _packets(across: Floats, up: Floats) -> Line:
    return Line("packets", across, up, PACKET_STYLE, PACKET_MARK, joined=False)


def _line(index: int, one: Drawn, across: Floats, up: Floats) -> Line:
    style, mark = STYLES[index % len(STYLES)], MARKS[index % len(MARKS)]
    return Line(one.label, across, up, style, mark)
