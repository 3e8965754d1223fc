"""Hermite or linear interpolation: which is better, at which rate?

    python -m studies.hermite --data FOLDER [--out FOLDER]

Every k-th update of recorded movement is sent, ``hermite`` and ``snapshot`` (a line, slerp) draw
it, the updates left out are the truth. Run in ``tests/``. Writes ``hermite.csv`` (ratios of RMS
errors), ``hermite_bounces.csv``, ``hermite_rule.csv`` and two pictures.

The closed form. T is the time between two packets, A = a T how much the velocity changes from one
to the next, V the speed, S the error of a velocity that is sent, t that of a stamp, all RMS.

    line      L^2 = (0.1 A T)^2 + 5/3 (V t)^2
    Hermite   H^2 = (r 0.1 A T)^2 + 2/105 (S T)^2 + 61/35 (V t)^2

0.1 is between sqrt(1/120) = 0.091 (constant acceleration: a T^2 u (1 - u) / 2) and sqrt(1/90) =
0.105 (one impulse at any time). r is 0 for the former, 0.13 for a step of the acceleration, 0.46
for an impulse: the cubic passes both ends as it should and does not know when it was. 2/105 is the
mean of h10^2 + h11^2, the weights of the velocities. A stamp moves its position along the path by V
t: 5/3 is 1 (of the truth's own stamp) and the mean of (1 - u)^2 + u^2, 61/35 the same with h00^2 +
h01^2. Across the movement stamps cost nothing. For rotations all of it is angular.

So Hermite is better if S < sqrt(105 / 2) 0.1 sqrt(1 - r^2) A, that is, 0.6 to 0.7 A, at any rate;
by how much, stamps decide: they cost both the same, and hide the rest from A T / 8 < V t on.

Method. Every k-th update is sent, k the nearest to 5 to 30 a second, beginning with the first; the
updates between judge, without teleports, gaps, repeated and sleeping states. Melee's velocity is
the step of its last tick; QuakeWorld's the slope over two updates to either side, which no sender
knows. Stamps are 6 to 15 ms off in 17 matches, up to 5 ms in three; the airliner's 40 to 115 ms. A
wrong stamp draws the right path early or late; an error across the recorded velocity is another
path. Velocities are sent as recorded; with Gaussian noise of 3, 10, 30 % of the speed in each
component; in 8, 6, 4 bits a component over their range; not at all, so that the strategy takes the
last difference; or as Catmull-Rom slopes, one interval later. Ratios are of summed squares, so
matches with large errors count most. 95 % intervals: jackknife over matches, or blocks of 10 s.
Rules are tuned on odd matches and judged on even ones; the two halves are at most 0.04 apart.
``test_hermite.py`` checks the errors on sines and the closed form on impulses in NumPy alone.

Limits. Velocities of another time than their positions; measured velocities for QuakeWorld;
recordings with 120 updates/s, which could judge 60 Hz.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies.buffer import write
from studies.drawing import Axis, Level, Line, Panel, chart
from studies.recordings import Floats, Run, Track, complaints, tracks
from studies.thinning import (
    MEASURES,
    MOVES,
    NEARLY_EXACT,
    VELOCITIES,
    Cell,
    by_hermite,
    by_line,
    cells,
    kind_of,
    sendings,
    slopes,
    thinned,
)

#: Those of the first three measures, in pictures.
TITLES = ("in full", "across the movement", "in angle")
#: Ratios nearer to 1 (or to another limit) than this are a draw.
DRAW = 1.05
#: What a rule's number may be.
STEPS = np.arange(0.1, 1.51, 0.05)
#: How bounces are drawn, all but the first by `hermite`.
WAYS = ("line", "recorded", "differences", "Catmull-Rom")


def predicted(bend: Any, noise: Any, stamp: Any, r: float = 0.5) -> Any:
    """Return Hermite's error divided by the line's, by the closed form, for A T, S T and V t."""
    line = 0.01 * bend**2
    hermite = r * r * line + 2 / 105 * noise**2 + 61 / 35 * stamp**2
    return np.sqrt(hermite / (line + 5 / 3 * stamp**2))


def interval(units: Sequence[Floats]) -> tuple[float, float, float]:
    """Return the ratio of RMS errors and its 95 % interval (jackknife) from the units' squares
    (2,).
    """
    whole, n = np.sum(units, axis=0), len(units)
    value = np.log(whole[0] / whole[1]) / 2
    left = np.array([np.log(np.divide(*(whole - unit))) / 2 for unit in units])
    error = np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2))
    from scipy.stats import t as student  # takes long to load

    low, middle, high = np.exp(value + error * student.ppf(0.975, n - 1) * np.array([-1, 0, 1]))
    return float(middle), float(low), float(high)


def table(found: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield ratios by entity kind, rate and kind of velocities; over matches, or blocks if few."""

    def key(cell: Cell) -> tuple[str, float, int]:
        return cell.thing, cell.rate, VELOCITIES.index(cell.velocities)

    for (thing, rate, number), some in itertools.groupby(sorted(found, key=key), key):
        own = list(some)
        few = len({cell.recording for cell in own}) < 3
        parts: dict[Any, Floats] = {}
        for cell in own:
            for block, sums in cell.blocks.items():
                unit = (cell.recording, block if few else 0)
                parts[unit] = parts.get(unit, 0) + sums
        row: dict[str, Any] = {
            "what": thing, "rate": rate, "velocities": VELOCITIES[number],
            "over": f"{len(parts)} {'blocks of 10 s' if few else 'matches'}",
        }  # fmt: skip
        hermite, line, counts = np.sum(list(parts.values()), axis=0)
        row["updates"] = int(counts[0])
        for place, measure in enumerate(MEASURES):
            values = [""] * 4
            if hermite[place]:
                ratio = interval([part[:2, place] for part in parts.values()])
                error = f"{np.sqrt(line[place] / counts[place]):.4g}"
                values = [error, *(f"{value:.3f}" for value in ratio)]
            names = f"line, {measure}", measure, f"{measure} from", f"{measure} to"
            row.update(zip(names, values, strict=True))
        for (place, measure), odd in itertools.product(enumerate(MEASURES[:3]), (True, False)):
            half = [one for (name, _), one in parts.items() if (name[-1] in "13579") == odd]
            known = half and not few and row[measure]
            there = np.sqrt(np.divide(*np.sum(half, axis=0)[:2, place])) if known else 0
            name = f"{measure}, {'odd' if odd else 'even'} matches"
            row[name] = f"{there:.3f}" if known else ""
        yield row


def half_of(cell: Cell) -> str:
    """Return whether rules are tuned on a cell, or judged."""
    if not cell.recording.startswith("rl-"):
        return "other recordings"
    return "tuned on" if int(cell.recording[3:]) % 2 else "other half"


def rule(found: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Return how often the rules are right, on the matches they are tuned on and on others."""
    used = [(cell, place) for cell in found for place in range(3) if cell.sizes[3, place]]
    ratio = np.array([cell.ratio(place) for cell, place in used])
    bend, noise, stamp = np.array([cell.size(place) for cell, place in used]).T
    parts = np.array([half_of(cell) for cell, _ in used])
    plain = np.array([not place and cell.velocities == "recorded" for cell, place in used])
    every, tuned = np.ones(len(used), bool), parts == "tuned on"

    def right(said: Any, limit: float, where: Any) -> float:
        return float(np.mean((said == (ratio < limit))[where])) if where.any() else np.nan

    def off(r: float) -> Any:
        return abs(np.log(predicted(bend, noise, stamp, r) / ratio))

    c = max(STEPS, key=lambda c: right(noise < c * bend, 1, tuned))
    number = max(STEPS, key=lambda number: right(bend / 8 > number * stamp, 0.9, tuned & plain))
    r = min(STEPS, key=lambda r: float(off(r)[tuned].mean()))
    formula = predicted(bend, noise, stamp, r)
    for (name, said, limit, about), part in itertools.product(
        (
            (f"better: S < {c:.2f} A", noise < c * bend, 1, every),
            (f"better: closed form, r = {r:.2f}", formula < 1, 1, every),
            ("better: always", every, 1, every),
            (f"by a tenth: closed form, r = {r:.2f}", formula < 0.9, 0.9, every),
            (f"by a tenth: A T / 8 > {number:.2f} V t", bend / 8 > number * stamp, 0.9, plain),
            ("by a tenth: always", every, 0.9, plain),
        ),
        ("tuned on", "other half", "other recordings"),
    ):
        where = (parts == part) & about
        clear = where & (abs(np.log(ratio / limit)) > np.log(DRAW))
        hard = where & (noise > 0.3 * bend) & (noise < 1.2 * bend)
        yield {
            "rule": name, "cells": "in full, recorded" if about is plain else "all",
            "recordings": part, "number": int(where.sum()),
            "right": f"{right(said, limit, where):.3f}",
            "right, ratio 5 % off the limit": f"{right(said, limit, clear):.3f}",
            "right, S of 0.3 to 1.2 A": f"{right(said, limit, hard):.3f}" if hard.any() else "",
            "closed form within 20 %": f"{np.mean(off(r)[where] < np.log(1.2)):.3f}",
        }  # fmt: skip


class Bounce(NamedTuple):
    """An interval in which a ball bounces, drawn in each of the compared ways."""

    thing: str
    rate: float
    recording: str
    #: Sums of squared errors, (4,).
    squares: Floats
    #: How far beyond the box of both packets, beyond the truth's, and short of that, (4, 3), m.
    boxes: Floats


def outside(points: Floats, low: Floats, high: Floats) -> float:
    """Return the distance of the farthest point from a box."""
    return float(
        np.linalg.norm(np.maximum(np.maximum(low - points, points - high), 0), axis=1).max()
    )


def reach(run: Run, first: int, last: int) -> Floats:
    """Return the truth's box (2, 3) between two updates, including its turning points."""
    part = run.part(slice(first, last + 1))
    steps, before, after = np.diff(part.time)[:, None], part.velocity[:-1], part.velocity[1:]
    flips = before * after < 0
    # where the lines out of one update and into the next meet
    at = (np.diff(part.position, axis=0) - after * steps) / np.where(flips, before - after, 1)
    met = part.position[:-1] + flips * before * np.clip(at, 0, steps)
    points = np.concatenate([part.position, met])
    return np.stack([points.min(0), points.max(0)])


def bounces(track: Track) -> Iterator[Bounce]:
    """Yield the intervals in which a component of the velocity changes its sign."""
    speeds = np.concatenate([run.velocity for run in track.runs])
    least = MOVES * np.sqrt(np.mean(np.sum(speeds**2, axis=1)))
    fine = np.linspace(0, 1, 17)[1:-1]
    for (rate, k), run in itertools.product(sendings(track), track.runs):
        sent, judged = thinned(run, k)
        before, after = sent.velocity[:-1], sent.velocity[1:]
        turned = (before * after < 0) & (np.minimum(abs(before), abs(after)) > least)
        starts = np.flatnonzero(turned.any(1))
        starts = starts[(starts > 0) & (starts < len(sent.time) - 2)]
        if not len(judged) or not len(starts):
            continue
        steps, truth, central = np.diff(sent.time)[starts, None], run.part(judged), slopes(sent, 2)
        at = (sent.time[starts][:, None] + steps * fine).ravel()
        curves, squares = [], []
        for way in WAYS:
            velocity, spin = {
                "recorded": (sent.velocity, sent.spin), "Catmull-Rom": central,
            }.get(way, (None, None))  # fmt: skip
            paths = [
                by_line(sent, times) if way == "line" else by_hermite(sent, velocity, spin, times)
                for times in (at, truth.time)
            ]
            curves.append(paths[0].position.reshape(len(starts), len(fine), 3))
            squares.append(np.sum((paths[1].position - truth.position) ** 2, axis=1))
        for place, start in enumerate(starts.tolist()):
            ends, corners = sent.position[start : start + 2], reach(run, start * k, start * k + k)
            boxes = []
            for curve in curves:
                path = np.concatenate([ends, curve[place]])
                boxes.append([
                    outside(path, ends.min(0), ends.max(0)), outside(path, *corners),
                    outside(corners, path.min(0), path.max(0)),
                ])  # fmt: skip
            sums = [square[judged // k == start].sum() for square in squares]
            yield Bounce(kind_of(track), rate, track.recording, np.array(sums), np.array(boxes))


def bounce_table(found: Sequence[Bounce]) -> Iterator[dict[str, Any]]:
    """Return overshoot and ratios of errors in intervals with a bounce, from three matches on."""

    def key(one: Bounce) -> tuple[str, float]:
        return one.thing, one.rate

    for (thing, rate), some in itertools.groupby(sorted(found, key=key), key):
        own = list(some)
        boxes = np.array([cell.boxes for cell in own])
        parts: dict[str, Floats] = {}
        for cell in own:
            parts[cell.recording] = parts.get(cell.recording, 0) + cell.squares
        for place, way in enumerate(WAYS if len(parts) > 2 else ()):
            ratio = interval([part[[place, 0]] for part in parts.values()])
            row: dict[str, Any] = {
                "what": thing, "rate": rate, "drawn by": way,
                "matches": len(parts), "bounces": len(own),
            }  # fmt: skip
            names = ("error by the line's", "from", "to")
            row.update((a, f"{b:.3f}") for a, b in zip(names, ratio, strict=True))
            for number, what in enumerate(
                ("beyond the packets", "beyond the truth", "short of it")
            ):
                values = boxes[:, place, number]
                row[f"{what}, mean, m"] = f"{values.mean():.3f}"
                row[f"{what}, 95 %, m"] = f"{np.percentile(values, 95):.3f}"
            row["beyond the truth by 10 cm"] = f"{np.mean(boxes[:, place, 1] > 0.1):.3f}"
            yield row


def picture(rows: Sequence[dict[str, Any]]) -> str:
    """Draw the ratios over the rate, with the recorded velocities."""
    things = ("ball", "car", "Melee", "QuakeWorld", "road car")
    panels = []
    for measure, title in zip(MEASURES, TITLES, strict=False):
        lines = []
        for name in sorted({row["what"] for row in rows} - {"airliner"}):
            what, _, exact = name.partition(", ")
            matches = what in ("ball", "car")
            own = [
                (float(row["rate"]), float(row[measure])) for row in rows
                if row["what"] == name and row["velocities"] == "recorded" and row[measure]
                and matches == row["over"].endswith("matches")
            ]  # fmt: skip
            if own:
                dashed = matches and not exact
                across, up = zip(*own, strict=True)
                lines.append(Line(name, across, up, things.index(what), dashed))
        panels.append(Panel(title, lines, [Level("as good as a line", 1)]))
    return chart(
        "Error of Hermite by that of a line, with the velocities as recorded",
        panels,
        Axis("packets a second", (5, 10, 15, 20, 25, 30)),
        Axis("ratio of RMS errors", (0, 0.25, 0.5, 0.75, 1, 1.25)),
        "Rocket League's ball and cars, stamps up to 5 ms and (dashed) 6 to 15 ms off; others.",
    )


def boundary(found: Sequence[Cell]) -> str:
    """Draw the ratios over the error of velocities, with the closed form for exact stamps."""
    edges = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.5])
    middles = (edges[1:] + edges[:-1]) / 2
    panels = []
    for measure, title in enumerate(TITLES):
        form = predicted(1.0, middles, 0.0)
        lines = [Line("closed form, exact stamps", middles.tolist(), form.tolist(), 4, True)]
        things = [thing + stamps for thing in ("ball", "car") for stamps in ("", NEARLY_EXACT)]
        for number, what in enumerate(things):
            own = [cell for cell in found if cell.thing == what]
            bend, noise, _ = np.array([cell.size(measure) for cell in own]).T
            ratio, share = np.array([cell.ratio(measure) for cell in own]), noise / bend
            parts = [np.digitize(share, edges) == index for index in range(1, len(edges))]
            across, up = (
                [float(np.median(item[part])) for part in parts if part.sum() > 2]
                for item in (share, ratio)
            )
            lines.append(Line(what, across, up, number))
        panels.append(Panel(title, lines, [Level("as good as a line", 1)]))
    return chart(
        "What decides: how wrong the velocities are, against how much they change",
        panels,
        Axis("error of velocities, by their change from packet to packet", (0, 0.5, 1, 1.5)),
        Axis("ratio of RMS errors, Hermite by line", (0, 0.5, 1, 1.5, 2)),
        "Rocket League; medians over matches, rates and kinds of velocities.",
    )


def main() -> None:
    """Make the tables and the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="recorded movement")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    if wrong := complaints(options.data):
        sys.exit("\n".join(wrong))
    every: list[Cell] = []
    hits: list[Bounce] = []
    for track in tracks(options.data):
        print(track.recording, track.thing, flush=True)
        every += cells(track)
        if track.thing == "ball":
            hits += bounces(track)
    rows = list(table(every))
    write(options.out / "hermite.csv", rows)
    write(options.out / "hermite_rule.csv", list(rule(every)))
    write(options.out / "hermite_bounces.csv", list(bounce_table(hits)))
    (options.out / "hermite.svg").write_text(picture(rows))
    (options.out / "hermite_boundary.svg").write_text(boundary(every))


if __name__ == "__main__":
    main()
