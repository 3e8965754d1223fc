"""Predictors or buffers, thresholds or fixed rates: which is best at equal bytes?

    python -m studies.sending --data FOLDER [--out FOLDER] [--only NAME]

Recorded movement is sent at a fixed rate, or when what receivers have is wrong by a threshold, over
two networks, and drawn by dead reckoning and by buffers; what was sent is counted in bytes. Who
draws, with which settings and which copy at the sender, is chosen on half of the pieces for each
budget of bytes a second; the other half is judged. Run in ``tests/``. Writes ``sending.csv`` (the
scores at equal bytes, and who is ahead), ``sending_seen.csv`` (what a player sees then),
``sending_strategies.csv`` (the best of each strategy), ``sending_movement.csv`` (how kinds move)
and ``sending.svg``.

The closed form. What moves at V and accelerates by a is sent every T seconds against the last state
with the threshold V T, against a copy that goes on straight with a T^2 / 2. At a fixed rate errors
grow to a T^2 / 2 with whatever a is just then; with a threshold they are all alike, and at the same
bytes (mean of sqrt a)^2 / RMS of a as large: ``evenness``, 1 where a is always the same.

Method. Pieces, truth, teleports, gaps, rows, warm-up and halves are those of ``blending``, in
meters and without rotations. Pieces in which nothing counts with some sender are left out.

Links. Latency 100 ms; ``moderate``: jitter 8 ms, 1 % lost; ``rough``: 25 ms, 5 % lost; losses are
independent, clocks agree.

Sender. At a rate: 2, 4, 8, 15, 30, 60 times a second, from the piece's beginning. By a threshold:
60 times a second an entity is sent if its position is further than the threshold from what
receivers have, if it has teleported, a second after the last time, and once when it comes to rest.
Thresholds are 0.00125, 0.0025, 0.005 ... 0.64 s times V, the RMS of the recorded speeds of the
kind, in two digits. What receivers have is the last state as sent, or what a copy draws before it
gets the new state; the copy receives every state at once and knows nothing of the link. The copy is
the drawing strategy, or ``dis`` without acceleration, which does not smooth (straight).

Bytes. Each state is a datagram: 28 bytes of IPv4 and UDP, 16 + 8 bits of number and count of
moments, 8 + 32 + 8 of the moment, 8 of the entity, 8 of a base, 1 + 4 flags; the position in steps
of 1 cm (7 bits give n, the bits of the largest of three numbers; k steps are 2 k, or -2 k - 1 below
0); the velocity as three half-precision numbers, except for lines, which need none; rounded up to
bytes: 52 or 46. States sent in rows that count are counted, lost or not.

Strategies. A predictor draws p + v s, s the time since the newest stamp; with an acceleration (the
change of the last two velocities by the time between; 0 below 0.1 m/s^2 in ``dis``) + a s^2 / 2.
``dis`` jumps to it. ``dead-reckoning`` adds what was drawn less what is predicted at an arrival,
and fades that evenly in 0.1 or 0.25 s, or in 0.25 s with acceleration. ``kalman`` jumps to the
prediction of a constant-velocity filter (measurement variances 1e-4 m^2 and 0.01 m^2/s^2, or 0.01
and 1; acceleration 100 m^2/s^4; first state 100 m^2 and 100 m^2/s^2). ``epic``: (b, c, w) are (0.2,
0.2, 0.3), (0.2, 0.13, 0.3), (0.6, 0.6, 1). Buffers draw D + 100 ms ago, D = 0.03, 0.06, 0.12, 0.25,
0.5: a line that holds the newest state; a line that goes on for 0.25 s; or a cubic that goes on by
the newest velocity for as long. States behind newer ones are dropped; at a teleport everyone starts
again.

Equal bytes. Scores and figures at B bytes a second are interpolated over log(bytes) between the two
rates or thresholds next to B. If no rate takes B bytes, the one that takes most counts; if all take
more, the way is left out. The best way on pieces 0, 2, 4 ... is judged on the others at the same B
and in 1,000 paired bootstrap draws. Recovery weighs nothing: an outage depends on how often is
sent.

Checks. ``test_sending.py`` recomputes what is sent, its bytes and errors on a circle in NumPy
alone. Written again from this text alone with other losses and jitter, 22 of 30 cells of the first
table came out within their 95 %, and the others at most 2.4 points outside, but 41 instead of 34 on
the road at 250 bytes. Without the correction of stamps, cars score 4 to 6 points less from 250
bytes on.

Limits. Thresholds on rotations; another heartbeat than 1 s; acknowledged states (in Melee a few
losses move a score at 1,000 bytes by 5 points); a sender that repeats the last state before a
change after a silence, which is what a buffer lacks. A copy for each entity costs the sender what
drawing costs the receiver.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.metrics.certainty import FEWEST_UNITS
from epic_cli.metrics.evaluation import (
    Prepared,
    SimulatedRunMaker,
    compare_run,
    iterate_simulated_runs,
    prepare,
)
from epic_cli.metrics.measurement import FIELDS, Resampled
from epic_cli.metrics.metric import Weights
from epic_cli.metrics.notes import NothingJudged
from epic_cli.metrics.score import read_residual_part
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement import RecordedMovement, Snapshot, Track
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import Simulation, SimulationSpec
from studies.blending import DRAWS, spread
from studies.blending import GAME_WEIGHTS as ALL_WEIGHTS
from studies.buffer import write
from studies.drawing import Axis, Line, Panel, chart
from studies.matches import KINDS, Kind, matches
from studies.measuring import TICK, compared, scores
from studies.recordings import Floats, complaints

#: Recovery is measured from outages, and what is one depends on how often is sent.
GAME_WEIGHTS = {name: weights._replace(recovery=0.0) for name, weights in ALL_WEIGHTS.items()}

#: Seconds one way; both networks have it.
LATENCY = 0.1
NETWORKS = {
    "moderate": f"latency={LATENCY},jitter=8ms,distribution=gamma,loss=1%",
    "rough": f"latency={LATENCY},jitter=25ms,distribution=gamma,loss=5%",
}

#: Bytes a second of an entity, with headers of its own: about 2.5 to 40 states.
BUDGETS = (125, 250, 500, 1000, 2000)
#: Without headers: as of very many entities in one datagram.
STATE_BYTES = (31, 62, 125, 250, 500)

RATES = (2, 4, 8, 15, 30, 60)
#: Thresholds, in seconds of the kind's RMS speed.
THRESHOLDS = tuple(0.00125 * 2**k for k in range(10))
#: How often it is looked whether to send, and after how long it is sent in any case.
SELECTIVE = "60hz,at_least=1s"
ENCODED = "quantize=0.01,separate=on"

#: Sides of the question: who draws, and when it is sent.
WHO = ("predictor", "buffer")
SIDES = {
    f"{who}, {when}": {"side": who, "when": when} for who in WHO for when in ("threshold", "rate")
}
#: Rotations are another question.
PLAIN = tuple(kind for kind in KINDS if not kind.turns)

PREDICTORS = (
    "dis+age=stamp",
    "dis+model=fvw+age=stamp",
    "dead-reckoning+correction_time=0.1",
    "dead-reckoning+correction_time=0.25",
    "dead-reckoning+correction_time=0.25+acceleration=estimated",
    # standing still after less than twice display_behind: it swings ever further otherwise
    "epic+start=packet+calc_ahead=0.2+display_behind=0.2+slop_time=0.3",
    "epic+start=packet+calc_ahead=0.13+display_behind=0.2+slop_time=0.3",
    "epic+start=packet+calc_ahead=0.6+display_behind=0.6+slop_time=1",
    "kalman+age=stamp+r_position=0.0001+r_velocity=0.01+max_gap=3+max_prediction=3",
    "kalman+age=stamp+r_position=0.01+r_velocity=1+max_gap=3+max_prediction=3",
)
#: The copy that does not smooth, of which those have one that do.
STRAIGHT = "dis+age=stamp"
#: Buffers draw this long (s) behind the mean delay.
DELAYS = (0.03, 0.06, 0.12, 0.25, 0.5)
CURVES = {
    "line": "",
    "line that goes on": "+beyond=0.25",
    "hermite": "+curve=hermite+beyond=0.25+beyond_along=velocity",
}


class Way(NamedTuple):
    """A strategy and its sender.

    ``against`` is empty for a fixed rate, ``last`` for the last state. ``name`` is the drawing's
    name in tables, ``strategy`` its description.
    """

    name: str
    strategy: str
    side: str
    against: str
    velocity: str

    @property
    def when(self) -> str:
        """The sender's rule, ``rate`` or ``threshold``."""
        return "threshold" if self.against else "rate"

    @property
    def label(self) -> str:
        """The full description in words."""
        return f"{self.strategy}, {self.against or 'rate'}"

    def senders(self, speed: float) -> list[str]:
        """Return descriptions of senders, from the fewest bytes up."""
        encoded = f"{ENCODED},velocity={self.velocity}"
        if not self.against:
            return [f"{rate}hz,{encoded}" for rate in RATES]
        against = "" if self.against == "last" else f",against={self.against}"
        return [
            f"{SELECTIVE},threshold={threshold * speed:.4g}{against},{encoded}"
            for threshold in reversed(THRESHOLDS)
        ]


def _ways() -> Iterator[Way]:
    for strategy in PREDICTORS:
        name = strategy.partition("+")[0]
        copies = ("", "judged", *((STRAIGHT,) if name != "dis" else ()))
        for against in copies:
            yield Way(name, strategy, "predictor", against, "half")
    for (name, more), delay in itertools.product(CURVES.items(), DELAYS):
        velocity = "half" if name == "hermite" else "none"
        for against in ("", "last"):
            strategy = f"buffer+delay={LATENCY + delay:g}{more}"
            yield Way(name, strategy, "buffer", against, velocity)


WAYS = tuple(_ways())

#: The sums (places of the sender, fields) of what was drawn, by label.
Sums = dict[str, Floats]


class Sampled(RecordedMovement):
    """A movement sampled at the same moments for every sender."""

    def __init__(self, tracks: dict[str, Track]) -> None:
        super().__init__(tracks)
        self._known: dict[float, Snapshot] = {}

    def take_snapshot(self, time: float) -> Snapshot:
        """Return the entities that exist at ``time``."""
        if time not in self._known:
            self._known[time] = super().take_snapshot(time)
        return self._known[time]


def in_metres(movement: RecordedMovement, unit: float) -> RecordedMovement:
    """Return the movement in meters, given the meters per length unit."""
    scaled = {}
    for name, track in movement.tracks.items():
        made, before = Track(track.max_gap), 0
        for index, time in enumerate(track.times):
            state = track.get_state(index)
            (x, y, z), (vx, vy, vz) = state[:2]
            place, pace = (unit * x, unit * y, unit * z), (unit * vx, unit * vy, unit * vz)
            made.add(time, place, pace, state.teleports != before)
            before = state.teleports
        scaled[name] = made
    return Sampled(scaled)


class Moves(NamedTuple):
    """RMS speed (m/s, two digits) and acceleration (m/s^2, over 0.1 s); ``evenness``."""

    speed: float
    acceleration: float
    evenness: float


def moves(pieces: Sequence[RecordedMovement]) -> Moves:
    """Return the movement of all pieces, from each state to the next at least 0.1 s later."""
    speeds, bends = [], []
    for track in (track for piece in pieces for track in piece.tracks.values()):
        times = np.array(track.times)
        states = [track.get_state(index) for index in range(len(times))]
        paces = np.array([state.velocity for state in states])
        speeds.append(np.linalg.norm(paces, axis=1))
        later = np.searchsorted(times, times + 0.1)
        for first, last in enumerate(later.tolist()):
            if last == len(times) or states[first].teleports != states[last].teleports:
                continue
            if (took := times[last] - times[first]) < track.max_gap:
                bends.append(float(np.linalg.norm(paces[last] - paces[first])) / took)
    speed, bend = np.sqrt(np.mean(np.concatenate(speeds) ** 2)), np.array(bends)
    size = float(np.sqrt(np.mean(bend**2)))
    return Moves(float(f"{speed:.2g}"), size, float(np.mean(np.sqrt(bend)) ** 2 / size))


def measured(movement: RecordedMovement, seed: int, speed: float, network: str) -> Sums | None:
    """Measure every drawing of a piece with each sender; return None if it moves too briefly."""
    spec = SimulationSpec(MovementSpec(truth="-"), SenderSpec(20.0), LinkSpec.parse(network))
    plain = Simulation(spec, movement, {})
    truths = next(iterate_simulated_runs(plain, [seed])).truths or {}
    known: dict[tuple[str, str], Prepared] = {}

    def sent(send: str, judged: str) -> Prepared:
        if (send, judged) not in known:
            over = plain._replace(spec=replace(spec, send=SenderSpec.parse(send)))
            made = SimulatedRunMaker(over, seed, truths)(read_spec(judged) if judged else None)
            known[send, judged] = prepare(made, compared({}))
        return known[send, judged]

    try:
        return {
            way.label: np.stack([
                sums_of(sent(send, way.strategy if way.against == "judged" else ""), way.strategy)
                for send in way.senders(speed)
            ])
            for way in WAYS
        }  # fmt: skip
    except NothingJudged:
        return None


def sums_of(run: Prepared, strategy: str) -> Floats:
    """Return the sums of a run, over all entities."""
    # one of several networks: what one more loss would do is not asked
    spec = replace(compared({strategy: strategy}), total=FEWEST_UNITS)
    results = compare_run(run, spec).by_entity
    sums = [result.measured.sums for result in results if result.measured is not None]
    if any(each is None for each in sums) or not sums:
        raise ValueError(f"{strategy} drew nothing")
    return np.asarray(np.sum([each.sum(axis=0) for each in sums if each is not None], axis=0))


def figures(sums: Floats) -> dict[str, Floats]:
    """Return what a player sees, for each row of sums (n, fields): m, s, Hz."""
    with np.errstate(all="ignore"):
        seen = Resampled(sums, sums[0], 0.0, TICK, Weights())
        return {
            "error": seen.error,
            "lag ms": 1000 * seen.lag.seconds,
            "residual": seen.lag.residual,
            "across": read_residual_part(seen, "late_across"),
            "jumps a minute": seen.jumps / seen.rows / TICK * 60,
            "states a second": _each(sums, "sent_states"),
        }


def _each(sums: Floats, name: str) -> Floats:
    """Return one of the sent amounts, per second."""
    return np.asarray(sums[..., FIELDS.index(name)] / sums[..., FIELDS.index("sent_rows")])


def bytes_of(sums: Floats, headers: bool) -> Floats:
    """Return bytes a second, with the headers of a datagram each or of the states alone."""
    return _each(sums, "sent_bytes") if headers else _each(sums, "sent_bits") / 8


class Question:
    """A kind of recording over a network; even pieces choose settings, odd pieces judge them."""

    def __init__(
        self, kind: Kind, network: str, found: Sequence[Sums], headers: bool = True
    ) -> None:
        self.kind, self.network, self._headers = kind, network, headers
        self.counted = "datagrams" if headers else "states"
        self._found = found
        count = len(found[1::2])
        # one less than there are: its spread is that of the mean (Rao and Wu 1988)
        dice = np.random.default_rng(1).multinomial(count - 1, [1 / count] * count, DRAWS)
        self._draws = np.vstack([np.ones(count), dice])
        self._tuned = {way: self._together(way) for way in WAYS}
        self._judged: dict[Way, Floats] = {}
        self._curves: dict[Weights, dict[Way, tuple[Floats, Floats]]] = {}

    def _together(self, way: Way) -> Floats:
        """Return the sums (places, fields) of the choosing pieces."""
        return np.asarray(sum(one[way.label] for one in self._found[::2]))

    def sums(self, way: Way) -> Floats:
        """Return the sums of the judged pieces (places, draws, fields), all together first."""
        if way not in self._judged:
            each = np.stack([one[way.label] for one in self._found[1::2]])
            self._judged[way] = np.einsum("du,upf->pdf", self._draws, each)
        return self._judged[way]

    def _tuned_on(self, weights: Weights) -> dict[Way, tuple[Floats, Floats]]:
        """Return bytes and scores of each way on the choosing half."""
        if weights not in self._curves:
            self._curves[weights] = {
                way: (bytes_of(sums, self._headers), scores(sums, weights))
                for way, sums in self._tuned.items()
            }
        return self._curves[weights]

    def best(self, budget: float, weights: Weights, ways: Sequence[Way]) -> Way | None:
        """Return the way with the highest score on the choosing half.

        None: all exceed the bytes.
        """
        tuned = self._tuned_on(weights)
        ranked = [(float(at(*tuned[way], budget)), way) for way in ways]
        known = [entry for entry in ranked if entry[0] == entry[0]]
        return max(known, key=lambda entry: entry[0])[1] if known else None

    def judged(
        self, budget: float, weights: Weights, ways: Sequence[Way]
    ) -> tuple[Way | None, Floats]:
        """Return the best of these ways and its score on the judging half, then of each draw."""
        way = self.best(budget, weights, ways)
        if way is None:
            return None, np.full(1 + DRAWS, np.nan)
        return way, self._at(self.sums(way), self._scores(way, weights), budget)

    def bytes_for(self, way: Way, points: Floats, weights: Weights) -> Floats:
        """Return the bytes with which a way reaches a score, all together and in each draw."""
        spent, reached = bytes_of(self.sums(way), self._headers), self._scores(way, weights)
        each = zip(spent.T, reached.T, points.tolist(), strict=True)
        return np.array([bytes_for(*one) for one in each])

    def _scores(self, way: Way, weights: Weights) -> Floats:
        sums = self.sums(way)
        return scores(sums.reshape(-1, sums.shape[-1]), weights).reshape(sums.shape[:2])

    def seen(self, way: Way, budget: float) -> dict[str, Floats]:
        """Return the visible errors at this budget."""
        sums = self.sums(way)
        flat = figures(sums.reshape(-1, sums.shape[-1]))
        found = {
            name: self._at(sums, values.reshape(sums.shape[:2]), budget)
            for name, values in flat.items()
        }
        return found | {"bytes": np.full(1 + DRAWS, self.spent(way, budget))}

    def spent(self, way: Way, budget: float) -> float:
        """Return the budget, or the most bytes that any sender of this way uses, if less."""
        most = float(bytes_of(self.sums(way), self._headers)[:, 0].max())
        return min(budget, most)

    def _at(self, sums: Floats, values: Floats, budget: float) -> Floats:
        spent = bytes_of(sums, self._headers)
        return np.array([at(*both, budget) for both in zip(spent.T, values.T, strict=True)])


def at(spent: Floats, values: Floats, budget: float) -> Floats:
    """Interpolate a figure for a budget of bytes, over log(bytes) between two senders.

    If no sender takes that many, return that of the one that takes most; NaN if all take more.
    """
    order = np.argsort(spent, kind="stable")
    found = np.interp(np.log(budget), np.log(spent[order]), values[order], left=np.nan)
    return np.asarray(found)


def bytes_for(spent: Floats, values: Floats, wanted: float) -> float:
    """Return the fewest bytes that reach a figure, interpolated as in ``at``; infinite: none do."""
    order = np.argsort(spent, kind="stable")
    spent, reached = np.log(spent[order]), np.maximum.accumulate(values[order])
    if not wanted <= reached[-1]:
        return np.inf
    place = int(np.searchsorted(reached, wanted))
    if place == 0:
        return float(np.exp(spent[0]))
    share = (wanted - reached[place - 1]) / (reached[place] - reached[place - 1])
    return float(np.exp(spent[place - 1] + share * (spent[place] - spent[place - 1])))


def some(**wanted: str) -> list[Way]:
    """Return the ways with these attributes."""
    return [way for way in WAYS if all(getattr(way, key) == wanted[key] for key in wanted)]


def scored(
    one: Question, budgets: Sequence[float], games: Sequence[str] = ("usual",)
) -> Iterator[dict[str, Any]]:
    """Return each side's score at equal bytes, and the best predictor's lead."""
    for game, budget in itertools.product(games, budgets):
        weights = GAME_WEIGHTS[game]
        row = {
            "network": one.network, "recording": one.kind.name, "game": game,
            "counted": one.counted, "bytes": budget,
        }  # fmt: skip
        points: dict[str, Floats] = {}
        for side, keys in SIDES.items():
            way, points[side] = one.judged(budget, weights, some(**keys))
            row |= {side: "" if way is None else way.label}
            row |= with_ends(f"{side}: score", points[side])
            row[f"{side}: bytes"] = "" if way is None else f"{one.spent(way, budget):.4g}"
        both = {who: one.judged(budget, weights, some(side=who)) for who in WHO}
        row |= {who: "" if way is None else way.label for who, (way, _) in both.items()}
        row |= with_ends("ahead", both["predictor"][1] - both["buffer"][1])
        for who in WHO:
            gained = points[f"{who}, threshold"] - points[f"{who}, rate"]
            row |= with_ends(f"{who}'s threshold", gained)
        yield row


def seen(one: Question) -> Iterator[dict[str, Any]]:
    """Return visible errors (m, ms) at equal bytes, for the ways chosen by the usual weights."""
    for budget, (side, keys) in itertools.product(BUDGETS, SIDES.items()):
        way = one.best(budget, GAME_WEIGHTS["usual"], some(**keys))
        if way is None:
            continue
        row = {"network": one.network, "recording": one.kind.name, "budget": budget,
               "side": side, "way": way.label}  # fmt: skip
        for name, values in one.seen(way, budget).items():
            row |= with_ends(name, values)
        yield row


def by_strategy(one: Question) -> Iterator[dict[str, Any]]:
    """Return the best settings of each strategy with each kind of sender, by the usual weights.

    ``at a rate``: the bytes with which the same drawing scores as much at a fixed rate.
    """
    kinds = dict.fromkeys((way.name, way.against) for way in WAYS)
    for budget, (name, against) in itertools.product(BUDGETS, kinds):
        weights = GAME_WEIGHTS["usual"]
        way, points = one.judged(budget, weights, some(name=name, against=against))
        if way is None:
            continue
        row = {"network": one.network, "recording": one.kind.name, "budget": budget,
               "strategy": name, "sent": against or "rate", "way": way.strategy}  # fmt: skip
        row |= with_ends("score", points)
        (plain,) = some(strategy=way.strategy, against="")
        look = one.seen(way, budget)
        row |= {key: f"{look[key][0]:.4g}" for key in ("bytes", "error", "jumps a minute")}
        if against:
            needed = one.bytes_for(plain, points, weights)
            row |= with_ends("at a rate", needed)
        ends = ("at a rate", "at a rate low", "at a rate high")
        yield row | {key: row.get(key, "") for key in ends}


def with_ends(name: str, values: Floats) -> dict[str, str]:
    """Return a figure and its 95 % interval as text; empty if unknown."""
    if np.isnan(values[0]):
        return {name: "", f"{name} low": "", f"{name} high": ""}
    low, high = spread(values[~np.isnan(values)][1:])
    return {name: f"{values[0]:.4g}", f"{name} low": f"{low:.4g}", f"{name} high": f"{high:.4g}"}


def picture(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw the scores of the four sides over the bytes, kind by kind."""
    panels = []
    for kind in PLAIN:
        own = [row for row in rows if row["recording"] == kind.name and row["game"] == "usual"
               and row["network"] == "moderate" and row["counted"] == "datagrams"]  # fmt: skip
        lines = []
        for number, side in enumerate(SIDES):
            known = [row for row in own if row[f"{side}: score"]]
            up = [float(row[f"{side}: score"]) for row in known]
            lines.append(
                Line(
                    side,
                    [row["bytes"] / 1000 for row in known],
                    up,
                    number // 2 * 2,
                    number % 2 > 0,
                )
            )
        panels.append(Panel(kind.name, lines))
    return chart(
        "Scores for the same bytes, on pieces that nothing was chosen on",
        panels,
        Axis("kB a second", [budget / 1000 for budget in BUDGETS], logarithmic=True),
        Axis("score", (0, 20, 40, 60, 80, 100)),
        "100 ms one way, jitter 8 ms, 1 % lost; with the headers of IPv4 and UDP.",
    )


#: Tables of the text: these budgets in short ones.
SHORT, ONE = (250, 1000), 500


def tables(read: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[list[str]]:
    """Return the text's tables in Markdown, from the rows of the files."""
    kinds = [kind.name for kind in PLAIN]

    def cell(name: str, **wanted: object) -> Mapping[str, str]:
        keys = {key: str(value) for key, value in wanted.items()}
        return next(row for row in read[name] if keys.items() <= row.items())

    def table(head: Sequence[object], lines: Iterator[list[str]]) -> list[str]:
        rows = [["", *map(str, head)], ["---"] * (len(head) + 1), *lines]
        return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]

    def scores_of(**wanted: object) -> Mapping[str, str]:
        return cell(
            "sending", **{"network": "moderate", "game": "usual", "counted": "datagrams"} | wanted
        )

    def moving(kind: str) -> list[str]:
        how = cell("sending_movement", recording=kind)
        row = cell("sending_strategies", network="moderate", recording=kind, budget=SHORT[0],
                   strategy="dead-reckoning", sent=STRAIGHT)  # fmt: skip
        spent = float(row["bytes"])
        closed = spent / float(how["evenness"]) ** 0.5
        found = [how[key] for key in ("pieces", "speed", "evenness")]
        return [kind, *found, f"{spent:.0f}", f"{closed:.0f}", ends(row, "at a rate")]

    yield table(
        ("pieces", "V, m/s", "evenness", "by a threshold", "closed form", "at a rate"),
        map(moving, kinds),
    )
    yield table(
        [f"{budget} bytes/s" if budget == BUDGETS[0] else budget for budget in BUDGETS],
        ([kind, *(ends(scores_of(recording=kind, bytes=budget), "ahead") for budget in BUDGETS)]
         for kind in kinds),
    )  # fmt: skip

    def both(kind: str, who: str, budget: float) -> str:
        row = scores_of(recording=kind, bytes=budget)
        return " : ".join(
            rounded(row[f"{side}: score"])
            + "*" * (float(row[f"{side}: bytes"] or budget) < 0.99 * budget)
            for side in SIDES
            if side.startswith(who)
        )

    yield table(
        [f"{who}, {budget}" for budget in SHORT for who in WHO],
        ([kind, *(both(kind, who, budget) for budget in SHORT for who in WHO)] for kind in kinds),
    )


def rounded(number: str) -> str:
    """Return a score as text; empty without one."""
    return f"{float(number):.0f}" if number else "-"


def ends(row: Mapping[str, str], name: str) -> str:
    """Return a difference with its 95 % interval as text."""
    if not row[name]:
        return "-"
    middle, low, high = (f"{float(row[key]):.0f}" for key in (name, f"{name} low", f"{name} high"))
    return f"{middle} ({low} to {high})".replace("-0 ", "0 ").replace("-0)", "0)")


class Kept(NamedTuple):
    """The movement of a kind, and the measurements of its pieces in order, by network."""

    moves: Moves
    pieces: Mapping[str, Sequence[Sums]]


def kept(kind: Kind, folder: Path) -> Kept:
    """Measure a kind; leave out pieces in which nothing is judged."""
    pieces = [in_metres(piece, kind.unit) for piece in matches(kind, folder)]
    moving = moves(pieces)
    found = {
        name: [measured(piece, seed, moving.speed, link) for seed, piece in enumerate(pieces)]
        for name, link in NETWORKS.items()
    }
    return Kept(moving, everywhere(found))


def everywhere(found: Mapping[str, Sequence[Sums | None]]) -> dict[str, list[Sums]]:
    """Return the pieces in which something is judged on each network."""
    whole = [place for place, each in enumerate(zip(*found.values(), strict=True)) if all(each)]
    return {
        name: [one for place, one in enumerate(each) if place in whole and one is not None]
        for name, each in found.items()
    }


def movement(found: Mapping[str, Kept]) -> Iterator[dict[str, Any]]:
    """Return the movement of each kind, and the thresholds (m) derived from it."""
    for name, (moving, pieces) in found.items():
        thresholds = [f"{share * moving.speed:.4g}" for share in THRESHOLDS]
        yield {
            "recording": name,
            "pieces": len(pieces[next(iter(NETWORKS))]),
            "speed": f"{moving.speed:g}",
            "acceleration": f"{moving.acceleration:.4g}",
            "evenness": f"{moving.evenness:.2f}",
            "thresholds": " ".join(thresholds),
        }


def made(found: Mapping[str, Kept], out: Path) -> None:
    """Write the tables and the picture."""
    rows: list[dict[str, Any]] = []
    look: list[dict[str, Any]] = []
    each: list[dict[str, Any]] = []
    plain: list[dict[str, Any]] = []
    for network, kind in itertools.product(NETWORKS, PLAIN):
        if kind.name not in found:
            continue
        own = found[kind.name].pieces[network]
        one = Question(kind, network, own)
        rows += scored(one, BUDGETS, list(GAME_WEIGHTS))
        look += seen(one)
        each += by_strategy(one)
        plain += scored(Question(kind, network, own, headers=False), STATE_BYTES)
    write(out / "sending.csv", [*rows, *plain])
    write(out / "sending_movement.csv", list(movement(found)))
    write(out / "sending_seen.csv", look)
    write(out / "sending_strategies.csv", each)
    (out / "sending.svg").write_text(picture(rows))


def main() -> None:
    """Make the tables and the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="recorded movement")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--only", default="", help="recordings of kinds with this in their name")
    options = parser.parse_args()
    if wrong := complaints(options.data):
        raise SystemExit("\n".join(wrong))
    chosen = [kind for kind in PLAIN if options.only in kind.name]
    found = {}
    for kind in chosen:
        found[kind.name] = kept(kind, options.data)
        print(kind.name, {name: len(each) for name, each in found[kind.name].pieces.items()})
    made(found, options.out)


if __name__ == "__main__":
    main()
