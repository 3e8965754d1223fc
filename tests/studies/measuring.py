"""Dead reckoning and buffers on a piece of recorded movement, measured as sums that add up.

Each piece is sent over one network for each latency and rate, and every strategy draws the same
packets; ``epic``'s own measurement, summed over the piece. Sums of several pieces are those of all
of them, so settings can be chosen, games weighed and pieces drawn again without drawing rows again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from epic_cli.api.comparing import make_participants
from epic_cli.api.replaying import make_timing
from epic_cli.engine.packets import Status
from epic_cli.engine.strategies import get_declaration
from epic_cli.metrics.delays import BUFFERS
from epic_cli.metrics.delays import BufferLine as Clock
from epic_cli.metrics.evaluation import (
    CompareSpec,
    Run,
    compare_run,
    group_by_entity,
    iterate_simulated_runs,
    prepare,
)
from epic_cli.metrics.measurement import Entity, Grid, Resampled, measure
from epic_cli.metrics.metric import SCALE, Weights, drop_turning
from epic_cli.metrics.notes import NothingJudged
from epic_cli.metrics.score import compute_costs, compute_score
from epic_cli.network.link import GilbertElliott, Link, LinkConditions
from epic_cli.network.movement import RecordedMovement
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import Simulation, SimulationSpec, simulate
from studies.buffer import Cell, missing, needed
from studies.recordings import Floats

LATENCIES = (0.02, 0.05, 0.1, 0.2, 0.3)
RATES = (5, 10, 20, 60)
TICK = 1 / 60
#: Where an aim is judged: 20 m in Rocket League's centimetres, the only recording that turns.
AIM_RANGE = 2000.0
#: Rows count from so long after a beginning: no buffer is still filling then.
WARM_UP = 1.5


class Network(NamedTuple):
    """A link apart from its latency: jitter (s; gamma), losses, and the cells that use it."""

    name: str
    jitter: float
    loss: float
    burst: int
    cells: tuple[tuple[float, int], ...]


NETWORKS = (
    Network("moderate", 0.008, 0.01, 1, tuple(itertools.product(LATENCIES, RATES))),
    Network("rough", 0.025, 0.05, 3, ((0.05, 20), (0.1, 20), (0.2, 20), (0.3, 20))),
)

#: For recordings with rotations.
TURNED = ((0.1, 20),)

RECKONING = (
    *(f"dead-reckoning+correction_time={time}" for time in (0.25, 0.5)),
    "dead-reckoning+correction_time=0.25+acceleration=estimated",
    *(f"projective+age=stamp+smoothing_time={time}" for time in ("average", 0.1, 0.25)),
)
#: Buffers, the settings that they keep, and their delays: shares of what study A says for 1 %.
BUFFERED: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
    "snapshot": ({}, (1, 1.5)),
    "hermite": ({}, (1, 1.5)),
    "source": ({}, (0.5, 0.75, 1)),
    "mirror": ({"dynamic_adjustment": "off"}, (1,)),
    "unity-ngo": ({"server_buffer": 0.0}, (0.75,)),
}
CHASING = ("lerp+lerp_time=0.05", "lerp+lerp_time=0.15")

#: What people take, by the literature (see README): a lag, jitter, dropouts.
LIMITS: dict[str, tuple[str, float]] = {
    "lag 50 ms": ("lag", 0.05),
    "lag 110 ms": ("lag", 0.11),
    "lag 300 ms": ("lag", 0.3),
    "jitter 40 ms each frame": ("frames", 0.04),
    "jitter 40 ms over 0.1 s": ("wander", 0.04),
    "10 % of the frames dropped": ("drop", 0.1),
}

#: Going on straight for so many seconds is wrong by P(s).
AGES = np.arange(0.02, 0.62, 0.02)

#: The sums of what was measured (``FIELDS``) by network, latency, rate and label.
Sums = dict[tuple[str, float, int, str], Floats]


class Measured(NamedTuple):
    """The measurements of a piece of a recording: drawings, costs of the limits, movement.

    ``moves`` (ages, 4): rows, squares of the speed, of P(s), of its part along the movement.
    """

    drawn: Sums
    limits: dict[str, Floats]
    moves: Floats


@cache
def delay_needed(network: Network, rate: int) -> float:
    """Return the delay (s, behind the fastest packet) that leaves at most 1 % of the rows without
    data.
    """
    cell = Cell(network.loss, network.burst, network.jitter * rate)
    return needed(0.01, partial(missing, cell=cell, phases=200)) / rate


@cache
def participants(network: Network, latency: float, rate: int) -> dict[str, str]:
    """Return the strategies by label; a buffer's label names the share of the needed delay."""
    found = {name: name for name in (*RECKONING, *CHASING)}
    least = latency - math.sqrt(2) * network.jitter
    usual = least + 1.187 * network.jitter  # the median, of shape 2
    clock = Clock(1 / rate, math.sqrt(2) * network.jitter, least, usual, usual, usual)
    for name, (kept, shares) in BUFFERED.items():
        own = {**kept, "step": 0.5 / rate} if name == "snapshot" else kept
        own = {**kept, "cl_updaterate": float(rate)} if name == "source" else own
        for share in shares:
            behind = least + share * delay_needed(network, rate)
            made = BUFFERS[name].compute_settings(behind, get_declaration(name).values(own), clock)
            every = {**own, **{key: max(round(float(made[key]), 6), 0.0) for key in made
                               if not isinstance(made[key], str)}}  # fmt: skip
            words = "+".join(f"{key}={value}" for key, value in every.items())
            found[f"{name} {share:g}"] = f"{name}+{words}"
    return found


def link(network: Network, latency: float, seed: int) -> Link:
    """Return a link of these conditions."""
    loss: float | GilbertElliott = network.loss
    if network.burst > 1:
        loss = GilbertElliott(network.loss / (1 - network.loss) / network.burst, 1 / network.burst)
    made = LinkConditions(latency, network.jitter, "gamma", loss=loss)
    return Link(made, seed=seed)


def cells(network: Network, turns: bool) -> tuple[tuple[float, int], ...]:
    """Return the latencies and rates of a network: all, or those with measured rotations."""
    return tuple(cell for cell in network.cells if not turns or cell in TURNED)


def compared(strategies: Mapping[str, str]) -> CompareSpec:
    """Compare strategies on one piece over one network, as ``epic compare`` does."""
    return CompareSpec(
        make_participants(strategies) if strategies else (),
        make_timing("1/60", "exact", None, None),
        warm_up=WARM_UP, threads=1, runs_are="networks", aim_range=AIM_RANGE,
    )  # fmt: skip


def measured(movement: RecordedMovement, seed: int) -> Measured:
    """Measure every strategy on a piece of a recording, one network for each cell."""
    sent = SimulationSpec(MovementSpec(truth="-"), SenderSpec(20.0))
    send = Simulation(sent, movement, {})
    plain = next(iterate_simulated_runs(send, [seed]))
    drawn: Sums = {}
    for network in NETWORKS:
        for latency, rate in cells(network, movement.turns):
            packets = simulate(movement, send_rate=rate, channel=link(network, latency, seed))
            spec = compared(participants(network, latency, rate))
            ready = prepare(Run("", group_by_entity(packets), plain.truths), spec)
            for result in compare_run(ready, spec).by_entity:
                if result.measured is None or result.measured.sums is None:
                    raise ValueError(f"{result.label} drew nothing at {latency} s, {rate} Hz")
                place = network.name, latency, rate, result.label
                drawn[place] = drawn.get(place, 0.0) + result.measured.sums.sum(axis=0)
    entities = prepare(plain, compared({})).entities.judged
    limited = {
        name: np.sum([limit(entity, *what) for entity in entities], axis=0)
        for name, what in LIMITS.items()
    }
    return Measured(drawn, limited, np.sum([moves(entity) for entity in entities], axis=0))


def judged(movement: RecordedMovement, seed: int) -> Measured | None:
    """Return ``measured``; None if the movement is too short to be judged."""
    try:
        return measured(movement, seed)
    except NothingJudged:
        return None


def limit(entity: Entity, kind: str, size: float) -> Floats:
    """Return the sums of the truth itself: delayed, at uneven times, or with held frames."""
    sampled, dice = entity.truth, np.random.default_rng(7)
    count = len(sampled.times)
    late = np.full(count, size)
    if kind == "frames":
        late = dice.normal(0, size, count)
    elif kind == "wander":
        knots = np.arange(0, count + 6, 6)
        late = np.interp(np.arange(count), knots, dice.normal(0, size, len(knots)))
    elif kind == "drop":
        shown = np.where(dice.random(count) >= size, np.arange(count), 0)
        late = (np.arange(count) - np.maximum.accumulate(shown)) * TICK
    at = sampled.times - late
    motion = sampled.truth.interpolate(at)
    now = sampled.truth.interpolate(sampled.times).segments
    # what is ahead of a teleport is not to be seen yet
    inside = (motion.segments >= 0) & ((late >= 0) | (motion.segments == now))
    positions = np.where(inside[:, None], motion.positions, sampled.positions)
    turned = None
    if sampled.turns is not None:
        turned = sampled.turns.turns.interpolate(at)
        turned = np.where(inside[:, None], turned, sampled.turns.rotations)
    status = np.full(count, int(Status.INTERPOLATED), np.int32)
    found = measure(positions, status, entity, Weights(), Grid(0.0, 1e9, 1), turned)
    assert found.sums is not None
    return np.asarray(found.sums.sum(axis=0))


def moves(entity: Entity) -> Floats:
    """Return the error of going on straight, by its duration (ages, 4)."""
    sampled = entity.truth
    rows = sampled.counted
    found = np.zeros((len(AGES), 4))
    for place, age in enumerate(AGES):
        before = sampled.truth.interpolate(sampled.times, float(age))
        known = rows & (before.segments == sampled.segments)
        off = sampled.positions - before.positions - before.velocities * age
        squares = np.einsum("ij,ij->i", off, off)[known]
        along = sampled.square_along(off, sampled.velocities)[known]
        speed = np.einsum("ij,ij->i", sampled.velocities, sampled.velocities)[known]
        found[place] = known.sum(), speed.sum(), squares.sum(), along.sum()
    return found


def costs_of(sums: Floats, weights: Weights) -> tuple[float, ...]:
    """Return the costs of one row of sums, in the order of ``Weights``."""
    with np.errstate(all="ignore"):
        found = compute_costs(Resampled(sums, sums[0], 0.0, TICK, weights))
    return tuple(float(np.asarray(cost).reshape(-1)[0]) for cost in found)


def scores(sums: Floats, weights: Weights, free: float = 0.0) -> Floats:
    """Return the score of each row of sums (n, fields); a lag up to ``free`` s costs nothing."""
    with np.errstate(all="ignore"):
        resampled = Resampled(sums, sums[0], 0.0, TICK, weights)
        found = np.asarray(compute_score(resampled))
        if not free:
            return found
        made = compute_costs(resampled)
        used = drop_turning(weights) if np.isnan(made.turning).all() else weights
        saved = used.latency * np.minimum(made.latency, free / SCALE)
        return np.asarray(100 / (100 / found - saved / sum(used._replace(recovery=0.0))))


def family(label: str) -> str:
    """Return the strategy to which a label belongs."""
    return label.partition("+")[0].partition(" ")[0]
