"""What a page is about, and its data as its scripts read it: reports as sections, scenes."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.metrics.turns import headings
from epic_cli.show.pictures.scenes import ground_axes
from epic_cli.show.report import Figure, Finding, Part, Report, Table, Usage
from epic_cli.show.scenes.scene import BINS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from epic_cli.metrics.arrays import Floats
    from epic_cli.show.scenes.scene import Drawn, Scene

#: Of so many recordings a page says what is wrong with them.
MOST = 12

#: What a page shows of a finding; the other terms are for the command line.
_TERMS = ("effect", "cure", "also explains")


@dataclass(frozen=True)
class About:
    """Where a comparison comes from: the recording's name, the truth's, and the command."""

    recording: str = ""
    truth: str = ""
    command: str = ""


class Section(NamedTuple):
    """What is to be said of one recording."""

    recording: str
    report: Report


def section_data(report: Report) -> dict[str, Any]:
    """A report as the page's scripts read it: its parts by their kind."""
    return {
        "title": report.title,
        "verdict": list(report.verdict),
        "parts": [_part(one) for one in report.parts],
        "notes": list(report.notes),
    }


def _part(part: Part) -> dict[str, Any]:
    match part:
        case str():
            return {"kind": "text", "lines": part.splitlines()}
        case Finding():
            return {
                "kind": "finding",
                "title": part.title,
                "entities": list(part.entities),
                "sentences": [("", part.text), *(one for one in part.terms if one[0] in _TERMS)],
                "moments": [(name, round(at, 6)) for name, at in part.moments],
            }
        case Table():
            return {
                "kind": "table",
                "caption": part.caption,
                "heads": part.titles,
                "rows": part.rows,
                "words": not part.columns[-1].right,
            }
        case Usage():
            return {"kind": "usage", "caption": part.caption, "forms": list(part.forms)}
        case Figure():
            return {"kind": "picture", "source": _address(part.svg()), "words": part.words}
        case Report():
            return {"kind": "report", **section_data(part)}


def _address(picture: str) -> str:
    """An address that holds the picture; empty: there is none."""
    encoded = base64.b64encode(picture.encode()).decode()
    return f"data:image/svg+xml;base64,{encoded}" if picture else ""


#: What is further away is not drawn: single precision ends not far beyond.
FURTHEST = 1e30


def scene_data(
    scene: Scene, ranks: dict[str, int], pack: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """The scene for the page; strategies are in the order of their ``ranks``.

    ``pack`` says what stands for an array of numbers, by default base64.
    """
    pack = pack or _base64

    def f32(values: Floats) -> Any:
        with np.errstate(invalid="ignore"):
            inside = np.where(np.abs(values) < FURTHEST, values, np.nan)
        return pack(inside.astype("<f4"))

    def f64(values: Floats) -> Any:
        return pack(values.astype("<f8"))

    def u8(values: ArrayLike) -> Any:
        return pack(np.asarray(values).astype("u1"))

    a, b = ground_axes(scene)
    known = np.concatenate((scene.truth, scene.packets))[:, (a, b)]
    known = known[np.isfinite(known).all(axis=1)]
    middle = (known.min(axis=0) + known.max(axis=0)) / 2 if len(known) else np.zeros(2)
    start = float(scene.times[0])

    def path(positions: Floats) -> dict[str, Any]:
        return {"x": f32(positions[:, a] - middle[0]), "y": f32(positions[:, b] - middle[1])}

    def heads(rotations: Floats | None) -> dict[str, Any]:
        if rotations is None:
            return {}
        seen = np.nan_to_num(headings(rotations, (a, b))).clip(-1, 1)  # 0, 0: not known, or up
        return {"heads": pack(np.rint(32767 * seen).astype("<i2"))}

    def drawn(one: Drawn) -> dict[str, Any]:
        at = np.searchsorted(scene.times, one.times, "right") - 1
        steps, when = np.diff(at, prepend=0), {"t": f64(one.times - start)}
        if np.array_equal(scene.times[at], one.times) and steps.max(initial=0) < 1 << 16:
            same = np.array_equal(one.times, scene.times)
            when = {} if same else {"at": pack(steps.astype("<u2"))}
        return {
            "label": one.label,
            **when,
            **path(one.positions),
            **heads(one.rotations),
            **({} if one.angles is None else {"angle": f32(one.angles)}),
            "distance": f32(one.distances),
            # of a distance a 255th can be seen
            "across": u8(np.rint(255 * np.nan_to_num(one.across))),
            "counted": u8(np.isfinite(one.errors)),
            "runs": {"t": f32(one.run_times - start), "status": u8(one.run_statuses)},
            "lag": {"t": f32(one.lag.times - start), "seconds": f32(one.lag.seconds)},
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
        "shared": scene.shared is not None
        and scene.blur is not None
        and {"t": f64(scene.shared - start), "blur": f32(scene.blur)},
        "truth": {"t": f64(scene.times - start), **path(scene.truth)},
        **heads(scene.rotations),
        "packets": {
            "t": f32(scene.packet_times - start),
            "arrival": f32(scene.arrivals - start),
            **path(scene.packets),
        },
        "lost": {"t": f32(deliveries.lost_times[lost] - start), **path(deliveries.lost[lost])},
        "interruptions": [
            {"start": one.start - start, "end": one.end - start, "kind": one.kind}
            for one in scene.interruptions
        ],
        "drawn": [drawn(one) for one in sorted(scene.drawn, key=lambda one: ranks[one.label])],
    }


def _base64(values: Any) -> str:
    return base64.b64encode(values.tobytes()).decode()
