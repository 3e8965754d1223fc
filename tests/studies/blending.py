"""Dead reckoning with blending against a buffer: which is better?

    python -m studies.blending --data FOLDER [--out FOLDER] [--stamps recorded] [--only NAME]

Recorded movement is sent 5 to 60 times a second over links of 20 to 300 ms, and drawn by dead
reckoning and by buffers. Settings are tuned on half of the matches, for each kind of game; the
other half is judged. Run in ``tests/``. Writes ``blending.csv`` (the latency up to which dead
reckoning is better), ``blending_scores.csv``, ``blending_errors.csv``, ``blending_limits.csv``
and ``blending.svg``.

The closed form. A buffer draws the past: it is L + D late, the latency and its delay, and its
shape is good. Dead reckoning is not late, and off by a s^2 / 2 after s seconds without news, s =
L to L + T, T being the time between two packets. In a score that is w (L + D) / 0.1 s against
W a s^2 / (2 V 0.1 s): V is the RMS speed, a the RMS acceleration over 0.1 s, w the weight of
latency, W that of accuracy, and of ``across`` for the part of it that is across. The boundary is
the L at which both are the same. ``predicted`` takes a s^2 / 2, ``measured`` instead the RMS
error P(s) of going on straight for s seconds, which grows more slowly where players turn back.

Method. Kinds: 20 Rocket League matches (``car-1`` and the ball), QuakeWorld, Melee, the car of
comma2k19, two flights (all entities of each); sent at 5, 10, 20, 60 Hz over 20, 50, 100, 200, 300
ms one way; clocks agree.

Pieces. A match is one piece, QuakeWorld 14, Melee 12, the car and the flights 10 of equal length.
The middle 20 s of each are kept (12 s of a match). Tracks of fewer than three states, and pieces
without tracks, are dropped. Teleports are those that the file marks, in QuakeWorld and Melee also
a step of more than 100 m/s; a silence of more than 0.5 s (flights 3 s) is a gap. Between states
the truth is the cubic through positions and velocities; packets are its positions and velocities
at whole send intervals from the piece's beginning. Rows are 60 a second; the first 1.5 s of each
piece, and after each teleport and gap, do not count.

Links. A packet takes L - sqrt(2) s + G: L is the latency, s the jitter's standard deviation, G is
gamma of shape 2 and scale s / sqrt(2). s is 8 ms with 1 % lost independently; or, at 20 Hz and
from 50 ms on, 25 ms with 5 % lost in bursts of 3 (Gilbert). The piece's number is the seed.

Settings. ``dead-reckoning`` with ``correction_time`` 0.25, 0.5, and 0.25 with
``acceleration=estimated``; ``projective`` with ``age=stamp`` and ``smoothing_time`` average, 0.1,
0.25; buffers with these multiples of the first study's delay for 1 % behind the fastest packet:
``snapshot`` and ``hermite`` 1, 1.5, ``source`` 0.5, 0.75, 1, ``mirror`` (without adjustment) 1,
``unity-ngo`` 0.75; ``lerp`` with 0.05 and 0.15. That delay is 80 ms at 20 Hz with 8 ms of jitter;
``source`` rounds its own to ticks of 15 ms. The best settings on pieces 0, 2, 4, ... are judged
on the others, game by game; 95 % intervals come from 1,000 bootstrap draws of one fewer than
there are.

Stamps. A recorder's stamps, 12 ms off, would look like acceleration that never happened, so
Rocket League's and the flights' are moved to where positions and velocities put them: a step
takes dp^2 / (dp . mean velocity) if that is within 60 ms of the recorded step; the sum is pulled
to the stamps by 5 % at each step, and the mean of a forward and a backward pass counts. With
``--stamps recorded`` cars are off by 0.71 m instead of 0.40 at 100 ms and 20 Hz.

Checks. ``test_blending.py`` recomputes a table in NumPy alone. Written again from this text alone
(other losses and jitter), 17 of 20 cells of QuakeWorld, Melee and the road car's buffer in the
table of what is on screen came out within their 95 %.

Weights. Following a target gets worse quickly above 110 ms of lag, 40 ms of jitter or 10 % of
dropouts (Pavlovych and Stuerzlinger, Graphics Interface 2011), acquiring one from 50 ms on
(Pavlovych and Gutwin, Graphics Interface 2012). The truth itself, so impaired, scores
(QuakeWorld; the others within 4 points; last the lag, in ms, that costs as much as the jitter and
as the dropouts): usual 72, 77, 66; 83, 143. ``vehicle`` 76, 80, 71; 88, 143. ``shooter`` 93, 88,
85; 211, 269. ``fighting`` 61, 90, 89; 20, 21. ``observer`` 96, 74, 58; lag is free.

The usual weights and ``vehicle`` weigh the three limits alike within a third. ``shooter`` counts
lag for half, since the server rewinds it; ``fighting`` counts lag five times as much, which rests
on reaction times, not on these experiments. Two findings contradict all weights: the experiments
name no loss for short lags, while the score falls from the first millisecond (if 50 ms were free,
dead reckoning at 60 Hz would win in games only from 22 to 78 ms on); and a constant delay of
one's own character up to 300 ms changed no experience (Normoyle, Guerrero and Joerg, SAP 2014).

Limits. Clocks that disagree, which only dead reckoning needs in step; players who mind jumps more
than the score does; a short lag that costs nothing. Velocities of QuakeWorld and Melee are slopes
that know the next update, so theirs are upper limits. The closed form is right about "always" or
"never" for 83 of 97 boundaries, but within 30 ms for only 6 of the other 23: it does not know
what a correction looks like.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from epic_cli.metrics.measurement import Resampled
from epic_cli.metrics.metric import GAMES, Weights
from epic_cli.metrics.score import read_residual_part
from studies.buffer import write
from studies.drawing import Axis, Line, Panel, chart
from studies.matches import KINDS, Kind, matches
from studies.measuring import (
    AGES,
    BUFFERED,
    LIMITS,
    NETWORKS,
    TICK,
    Measured,
    Network,
    cells,
    costs_of,
    delay_needed,
    family,
    judged,
    participants,
    scores,
)  # fmt: skip
from studies.recordings import Floats, complaints

GAME_WEIGHTS = {"usual": Weights(), **{game.name: game.weights for game in GAMES}}
#: With a lag that costs nothing up to here (s): no study finds that people mind so little.
FREE = 0.05
DRAWS = 1000

RECKONERS = ("dead-reckoning", "projective")
BUFFERS_AND_CHASE = (*BUFFERED, "lerp")


class Question:
    """A kind of recording over a network; even pieces choose settings, odd pieces judge them."""

    def __init__(self, kind: Kind, network: Network, found: Sequence[Measured]) -> None:
        self.kind, self.network = kind, network
        self.cells = cells(network, kind.turns)
        self._tuned, self._judged = found[::2], found[1::2]
        self.moves = np.sum([measured.moves for measured in found], axis=0)
        count = len(self._judged)
        # one less than there are: its spread is that of the mean (Rao and Wu 1988)
        dice = np.random.default_rng(1).multinomial(count - 1, [1 / count] * count, DRAWS)
        self._draws = np.vstack([np.ones(count), dice])

    def sums(self, cell: tuple[float, int], label: str) -> Floats:
        """Return the sums of the judged pieces: all together, then for each bootstrap draw."""
        key = self.network.name, *cell, label
        return np.asarray(self._draws @ np.stack([case.drawn[key] for case in self._judged]))

    def best(
        self, cell: tuple[float, int], weights: Weights, which: Sequence[str], free: float = 0.0
    ) -> str:
        """Return the label with the highest score on the choosing half, among these strategies."""
        labels = [name for name in participants(self.network, *cell) if family(name) in which]
        key = self.network.name, *cell
        rows = [
            np.sum([item.drawn[*key, label] for item in self._tuned], axis=0) for label in labels
        ]
        return labels[int(np.argmax([scores(row[None], weights, free)[0] for row in rows]))]

    def ahead(
        self, cell: tuple[float, int], weights: Weights, buffers: Sequence[str], free: float = 0.0
    ) -> tuple[str, str, Floats]:
        """Return the chosen labels, and the lead of dead reckoning (points).

        Judged, then of each draw.
        """
        labels = [self.best(cell, weights, pair, free) for pair in (RECKONERS, buffers)]
        ours, theirs = (scores(self.sums(cell, label), weights, free) for label in labels)
        return labels[0], labels[1], ours - theirs

    def edges(
        self, rate: int, weights: Weights, buffers: Sequence[str], free: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Return the latencies (s) between which dead reckoning is better, in the order of
        ``ahead``.
        """
        latencies = [one for one, each in self.network.cells if each == rate]
        found = [self.ahead((latency, rate), weights, buffers, free)[2] for latency in latencies]
        return region(np.array(latencies), np.array(found))

    def range(self, rate: int, weights: Weights, buffers: Sequence[str]) -> tuple[float, float]:
        """Return the least and largest boundary latency (s) over weights from half to twice these.

        At each latency the weights that favor one side most are taken: twice what that side does
        better, half of the rest; settings are chosen for these weights.
        """
        latencies = [one for one, each in self.network.cells if each == rate]
        found = np.array([self._extremes((one, rate), weights, buffers) for one in latencies])
        low, high = region(np.array(latencies), found)[1]
        return float(low), float(high)

    def _extremes(
        self, cell: tuple[float, int], weights: Weights, buffers: Sequence[str]
    ) -> list[float]:
        """Return the least and the largest lead (points) of dead reckoning over these weights."""
        labels = [self.best(cell, weights, pair) for pair in (RECKONERS, buffers)]
        ours, theirs = (costs_of(self.sums(cell, label)[:1], weights) for label in labels)
        better = [bool(mine < other) for mine, other in zip(ours, theirs, strict=True)]
        found = []
        for favoured in (False, True):
            factors = [2.0 if one is favoured else 0.5 for one in better]
            changed = Weights(*(w * f for w, f in zip(weights, factors, strict=True)))
            found.append(float(self.ahead(cell, changed, buffers)[2][0]))
        return found

    def predicted(self, rate: int, weights: Weights, quadratic: bool) -> float:
        """Return the boundary (s) by the closed form."""
        rows, speeds, squares, along = self.moves.T
        speed, error = math.sqrt(speeds[0] / rows[0]), np.sqrt(squares / rows)
        if quadratic:
            error = error[4] * (AGES / AGES[4]) ** 2
        across = math.sqrt(1 - along[4] / squares[4])
        late = delay_needed(self.network, rate) - math.sqrt(2) * self.network.jitter
        tried = np.arange(0.002, 0.4, 0.002)
        fresh = tried[:, None] + np.linspace(0, 1 / rate, 21)
        straight = np.interp(fresh, np.append(0.0, AGES), np.append(0.0, error))
        wrong = np.sqrt(np.mean(straight**2, axis=1)) / speed
        shape = (weights.accuracy + weights.across * across) * wrong
        return float(region(tried, (weights.latency * (tried + late) - shape)[:, None])[1][0])


def region(latencies: Floats, ahead: Floats) -> tuple[Floats, Floats]:
    """Return begin and end of the first stretch above 0 of each column; inf: no end; 0, 0: none."""
    begin, end = np.where(ahead[0] < 0, math.inf, 0.0), np.full(ahead.shape[1], math.inf)
    for i in range(1, len(latencies)):
        before, after = ahead[i - 1], ahead[i]
        with np.errstate(all="ignore"):
            at = before / (before - after) * (latencies[i] - latencies[i - 1]) + latencies[i - 1]
        begin = np.where((before < 0) & (after >= 0) & np.isinf(begin), at, begin)
        falls = (before >= 0) & (after < 0) & np.isinf(end)
        end = np.where(falls, at, end)
    never = np.isinf(begin)
    return np.where(never, 0.0, begin), np.where(never, 0.0, end)


def spread(draws: Floats) -> tuple[float, float]:
    """Return the middle 95 % of draws that may be infinite."""
    ordered = np.sort(draws)
    return float(ordered[int(0.025 * len(ordered))]), float(ordered[int(0.975 * len(ordered))])


def milliseconds(seconds: float, highest: float) -> str:
    """Return a boundary as text."""
    return f">{highest * 1000:.0f}" if seconds > highest else f"{seconds * 1000:.0f}"


def boundaries(asked: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """Return the latency up to which dead reckoning is better, by game, rate and buffer (ms)."""
    several = [question for question in asked if not question.kind.turns]
    for one, (game, weights) in itertools.product(several, GAME_WEIGHTS.items()):
        highest = max(latency for latency, _ in one.network.cells)
        for rate in sorted({rate for _, rate in one.network.cells}):
            for name in ("best", *BUFFERS_AND_CHASE):
                which = BUFFERS_AND_CHASE if name == "best" else (name,)
                begin, end = one.edges(rate, weights, which)
                low, high = spread(end[1:])
                values = {"from": begin[0], "up to": end[0], "low": low, "high": high}
                if name == "best":
                    values["predicted"] = one.predicted(rate, weights, quadratic=True)
                    values["measured"] = one.predicted(rate, weights, quadratic=False)
                    values["least"], values["most"] = one.range(rate, weights, which)
                    begin, end = one.edges(rate, weights, which, FREE)
                    values |= {"free from": begin[0], "free up to": end[0]}
                row = {
                    "network": one.network.name, "recording": one.kind.name, "game": game,
                    "rate": rate, "buffer": name,
                }  # fmt: skip
                every = ("from", "up to", "low", "high", "least", "most", "predicted", "measured",
                         "free from", "free up to")  # fmt: skip
                yield row | {
                    key: milliseconds(values[key], highest) if key in values else ""
                    for key in every
                }


def scored(asked: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """Return the chosen settings and their score, cell by cell."""
    for one, (game, weights) in itertools.product(asked, GAME_WEIGHTS.items()):
        for cell in one.cells:
            ours, theirs, ahead = one.ahead(cell, weights, BUFFERS_AND_CHASE)
            low, high = spread(ahead[1:])
            mine, other = (
                scores(one.sums(cell, label)[:1], weights)[0] for label in (ours, theirs)
            )
            yield {
                "network": one.network.name, "recording": one.kind.name, "game": game,
                "latency ms": f"{cell[0] * 1000:.0f}", "rate": cell[1],
                "dead reckoning": ours, "buffer": theirs,
                "score": f"{mine:.1f}", "buffer's": f"{other:.1f}",
                "ahead": f"{ahead[0]:.1f}", "low": f"{low:.1f}", "high": f"{high:.1f}",
            }  # fmt: skip


def errors(asked: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """Return the visible errors (m, degrees) of the settings that the usual weights choose."""
    for question in asked:
        for cell in question.cells:
            for side, which in (("dead reckoning", RECKONERS), ("buffer", BUFFERS_AND_CHASE)):
                label = question.best(cell, GAME_WEIGHTS["usual"], which)
                sums = question.sums(cell, label)
                with np.errstate(all="ignore"):
                    seen = Resampled(sums, sums[0], 0.0, TICK, Weights())
                    lag = seen.lag
                    values = {
                        "error": question.kind.unit * seen.error,
                        "lag ms": 1000 * lag.seconds,
                        "residual": question.kind.unit * lag.residual,
                        "along": question.kind.unit * read_residual_part(seen, "late_along"),
                        "across": question.kind.unit * read_residual_part(seen, "late_across"),
                        "angle": np.sqrt(seen.mean("angle_squares") / seen.mean("turn_rows")),
                        "angle residual": seen.turn_lag.residual,
                        "jumps a minute": seen.jumps / seen.rows / TICK * 60,
                    }
                row = {
                    "network": question.network.name, "recording": question.kind.name,
                    "latency ms": f"{cell[0] * 1000:.0f}", "rate": cell[1],
                    "side": side, "strategy": label,
                }  # fmt: skip
                for name, value in values.items():
                    low, high = spread(value[1:])
                    row |= {name: f"{value[0]:.4g}", f"{name} low": f"{low:.4g}"}
                    row |= {f"{name} high": f"{high:.4g}"}
                yield {key: "" if value == "nan" else value for key, value in row.items()}


def limited(found: Mapping[str, Sequence[Measured]]) -> Iterator[dict[str, Any]]:
    """Return the truth's own score at the literature's limits, and the lag that costs as much."""
    for kind, pieces in found.items():
        for game, usual in GAME_WEIGHTS.items():
            weights = usual._replace(recovery=0.0)  # it would be for uneven times at teleports
            sums = np.stack([sum(piece.limits[name] for piece in pieces) for name in LIMITS])
            cost = dict(zip(LIMITS, 100 / scores(sums, weights) - 1, strict=True))
            for name in LIMITS:
                lag = 110 * cost[name] / cost["lag 110 ms"] if weights.latency else math.inf
                yield {
                    "recording": kind, "game": game, "limit": name,
                    "score": f"{100 / (1 + cost[name]):.1f}", "as a lag of ms": f"{lag:.0f}",
                }  # fmt: skip


def picture(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw the boundary over the send interval, game by game."""
    panels = []
    for game in GAME_WEIGHTS:
        lines = []
        for number, kind in enumerate(record for record in KINDS if not record.turns):
            own = [row for row in rows if row["recording"] == kind.name and row["game"] == game
                   and row["network"] == "moderate" and row["buffer"] == "best"]  # fmt: skip
            own.sort(key=lambda row: -int(row["rate"]))
            edges = [float(str(row["up to"]).lstrip(">")) for row in own]
            # lines along the borders beside each other
            up = [min(max(edge, 3 * number), 300 - 3 * number) for edge in edges]
            lines.append(
                Line(kind.name, [1000 / row["rate"] for row in own], up, number, number > 4)
            )
        panels.append(Panel(game, lines))
    return chart(
        "Below its line dead reckoning is better than the best buffer",
        panels,
        Axis("send interval, ms", (0, 50, 100, 150, 200)),
        Axis("latency one way, ms", (0, 50, 100, 150, 200, 250, 300)),
        "Upper border: at every latency; lower: at none. Jitter 8 ms, 1 % lost, clocks agree.",
    )


def main() -> None:
    """Make the tables and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="recorded movement")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--stamps", choices=("retimed", "recorded"), default="retimed")
    parser.add_argument("--only", help="recordings of kinds with this in their name")
    options = parser.parse_args()
    if wrong := complaints(options.data):
        raise SystemExit("\n".join(wrong))
    found: dict[str, list[Measured]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for kind in KINDS:
            if (options.only or "") in kind.name:
                pieces = matches(kind, options.data, options.stamps == "retimed")
                done = list(pool.map(judged, pieces, range(len(pieces))))
                found[kind.name] = [measured for measured in done if measured is not None]
                print(kind.name, len(found[kind.name]), "of", len(pieces), "pieces", flush=True)
    kinds = [kind for kind in KINDS if kind.name in found]
    asked = [Question(kind, network, found[kind.name]) for network in NETWORKS for kind in kinds]
    rows = list(boundaries(asked))
    write(options.out / "blending.csv", rows)
    write(options.out / "blending_scores.csv", list(scored(asked)))
    write(options.out / "blending_errors.csv", list(errors(asked)))
    write(options.out / "blending_limits.csv", list(limited(found)))
    (options.out / "blending.svg").write_text(picture(rows))


if __name__ == "__main__":
    main()
