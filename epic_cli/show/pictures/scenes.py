"""What pictures of a scene have in common: their axes, their lines, and what they show in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.packets import Status
from epic_cli.metrics.digits import three_digits
from epic_cli.show.scenes.events import Deliveries
from epic_cli.show.scenes.scene import Drawn, Scene

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


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


def chosen_of(scene: Scene, labels: Sequence[str]) -> list[tuple[int, Drawn]]:
    """The strategies with these labels, each with its rank from 0, the last one first.

    So the best is drawn last, above all others. Without labels they are all of the scene's.
    """
    by_label = {one.label: one for one in scene.drawn}
    found = [by_label[label] for label in labels or by_label if label in by_label]
    return list(enumerate(found))[::-1]


def packets_words(deliveries: Deliveries) -> str:
    """How many packets there are, from when to when, and how often they were sent."""
    count = len(deliveries.sent)
    if not count:
        return "no packets"
    words = f"{count:,} packets, sent from {deliveries.sent[0]:.2f} to {deliveries.sent[-1]:.2f} s"
    if math.isfinite(deliveries.interval):
        words += f", usually one every {three_digits(deliveries.interval * 1000)} ms"
    return words


def network_words(deliveries: Deliveries) -> str:
    """How long packets took and how many were lost, or that it is not known."""
    delays = deliveries.delays * 1000
    if len(delays):
        low, middle, high = (three_digits(q) for q in np.quantile(delays, (0.05, 0.5, 0.95)))
        words = f"latency {middle} ms (90 % from {low} to {high} ms)"
    else:
        words = "no arrival times: packets light up when they were sent"
    if not deliveries.numbered:
        return f"{words}; no sequence numbers, so which packets were lost is not known"
    share = deliveries.lost_count / max(deliveries.lost_count + len(deliveries.sent), 1)
    return f"{words}; {deliveries.lost_count:,} lost ({share:.1%}), by their sequence numbers"


def scene_words(scene: Scene, shown: Sequence[str]) -> dict[str, str]:
    """Each picture of a scene in words, by its name; of the strategies those ``shown`` at first."""
    chosen = [one for label in shown for one in scene.drawn if one.label == label]
    name = scene.entity or "the entity"
    a, b = ground_axes(scene)
    span = f"from {scene.times[0]:.2f} to {scene.times[-1]:.2f} s"
    known = scene.truth[np.isfinite(scene.truth).all(axis=1)]
    room = np.ptp(known, axis=0) if len(known) else np.zeros(3)
    within = f"{three_digits(float(room[a]))} by {three_digits(float(room[b]))} lengths"
    return {
        "above": f"Path from above, {'xyz'[b]} over {'xyz'[a]}: {span}, {name} moves within"
        f" {within}. {_each(chosen, _worst)}",
        "error": f"Error over time, {span}. {_each(chosen, _error)}",
        **(
            {}
            if scene.rotations is None
            else {"angle": f"Angle over time, {span}. {_each(chosen, _angle)}"}
        ),
        "lag": f"Lag over time, {span}. {_each(chosen, _lag)}",
        "status": f"Status over time, {span}. {_each(chosen, _statuses)}",
        "packets": f"Packets over time: {packets_words(scene.deliveries)};"
        f" {network_words(scene.deliveries)}. {_interrupted(scene)}",
        "histogram": f"How often which error is drawn. {_each(chosen, _usual)}",
    }


def _each(chosen: Sequence[Drawn], words: Callable[[Drawn], str]) -> str:
    return " ".join(f"{one.label}: {words(one)}." for one in chosen)


def _worst(one: Drawn) -> str:
    if not np.isfinite(one.errors).any():
        return "nothing that counts"
    row = int(np.nanargmax(one.errors))
    return f"furthest from the truth at {one.times[row]:.2f} s"


def _error(one: Drawn) -> str:
    return _most(one, one.errors)


def _angle(one: Drawn) -> str:
    return "does not turn" if one.angles is None else _most(one, one.angles, " degrees")


def _most(one: Drawn, values: Floats, unit: str = "") -> str:
    if not np.isfinite(values).any():
        return "no row counts"
    row = int(np.nanargmax(values))
    return f"at most {three_digits(float(values[row]))}{unit}, at {one.times[row]:.2f} s"


def _lag(one: Drawn) -> str:
    known = one.lag.seconds[np.isfinite(one.lag.seconds)] * 1000
    if not len(known):
        return "unknown"
    return f"{known.min():.0f} to {known.max():.0f} ms, usually {np.median(known):.0f} ms"


def _statuses(one: Drawn) -> str:
    if not len(one.run_times):
        return "nothing drawn"
    ends = np.append(one.run_times[1:], one.times[-1])
    lasted = np.bincount(one.run_statuses, np.maximum(ends - one.run_times, 0), len(Status))
    total = float(lasted.sum()) or 1.0
    parts = [
        f"{lasted[status] / total:.0%} {status.name.lower()}"
        for status in (Status.INTERPOLATED, Status.EXTRAPOLATED, Status.HELD, Status.NONE)
        if lasted[status] > 0
    ]
    return ", ".join(parts) or "nothing drawn"


def _usual(one: Drawn) -> str:
    total = np.cumsum(one.histogram.counts)
    if not total[-1]:
        return "no row counts"
    return f"half of the rows below {_quantile(one, 0.5)}, 95 % below {_quantile(one, 0.95)}"


def _quantile(one: Drawn, share: float) -> str:
    from epic_cli.show.scenes.scene import BINS

    total = np.cumsum(one.histogram.counts)
    at = int(np.searchsorted(total, share * total[-1])) + 1 + one.histogram.first
    return three_digits(10.0 ** (at / BINS))


def _interrupted(scene: Scene) -> str:
    if not scene.interruptions:
        return "No teleport, no gap and no outage."
    few = scene.interruptions[:8]
    said = ", ".join(f"{one.kind} at {one.start:.2f} s" for one in few)
    more = len(scene.interruptions) - len(few)
    return f"Interruptions: {said}{f' and {more} more' if more else ''}."
