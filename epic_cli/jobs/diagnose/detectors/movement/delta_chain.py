"""Lost deltas: after a loss, all states are wrong until the next full state."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import NUMBERS, Detector, Finding, select_worst
from epic_cli.metrics.arrays import compute_lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Floats, Numbers, Stream, Traffic

#: Fewest losses.
LEAST = 6

#: Least share of ends of losses on the period of full states, and the largest probability of that
#: by chance.
FITS, CHANCE = 0.7, 1e-5

#: Shortest chain in packets: a shorter one costs no more than the losses.
SHORTEST = 3

#: Largest difference between what a loss leaves out, what is made good later, and what is missing.
NEAR = 0.35


def detect(traffic: Traffic) -> list[Finding]:
    """Find losses after which states are missing or wrong until the next full state."""
    return select_worst(
        (
            _detect_dropped_changes(stream) or _detect_wrong_base(stream)
            for stream in traffic.numbered
        ),
        lambda found: found.share,
    )


def _detect_dropped_changes(stream: Stream) -> Finding | None:
    """Detect receivers that drop deltas without a baseline until the next full state."""
    places = np.flatnonzero(stream.missing > 0)
    if len(places) < LEAST or len(stream.times) < FEWEST_STATES:
        return None
    lost = stream.missing[places]
    begins = (stream.sequence[places] / stream.usual_gap).astype(int)
    for clock in (begins + lost.astype(int), np.round(stream.times[places + 1] / stream.period)):
        length = _find_period(np.diff(clock), np.diff(begins), int(lost.max()))
        if length:
            arrived, mean = len(stream.came), float(lost.mean())
            return _make_finding(
                stream, places, float(lost.sum() / (arrived + lost.sum())), mean,
                {
                    # of packets that a loss breaks, those behind it are not seen to be lost
                    "own": len(places) / (arrived + len(places)), "longest": float(lost.max()),
                    "what": "are missing", "length": f"{length:,} packets",
                    "every": length * stream.period,
                },
            )  # fmt: skip
    return None


def _find_period(ends: Floats, begins: Floats, longest: int) -> int:
    """Return the period of full states, by the ends of losses or else their beginnings; or 0."""
    best, count = 0, len(ends)
    for length in range(max(SHORTEST, longest // 3), 4 * longest + 1):
        fits = int((ends % length == 0).sum())
        if fits < FITS * count:
            continue
        # of whole numbers, however many there are: a float holds neither of the two
        if math.comb(count, fits) * 4 * longest / length**fits > CHANCE:
            continue
        if (begins % length == 0).mean() < 0.5 * fits / count:
            best = length
    return best


def _detect_wrong_base(stream: Stream) -> Finding | None:
    """Detect receivers that apply deltas to a wrong baseline.

    A lost delta is missing until the next full state.
    """
    places = np.flatnonzero(stream.missing > 0)
    places = places[(places > 0) & (places < len(stream.times) - 2)]
    if len(places) < LEAST:
        return None
    steps = np.diff(stream.positions, axis=0)
    even = (steps[places - 1] + steps[places + 1]) / 2  # what each packet brings around a loss
    lacks = even * (1 + stream.missing[places])[:, None] - steps[places]
    due = even * stream.missing[places][:, None]
    moving = compute_lengths(due) > 0.5 * stream.usual_step
    open_ = moving & (compute_lengths(lacks - due) < NEAR * compute_lengths(due))
    if moving.sum() < LEAST or open_.sum() < FITS * moving.sum():
        return None
    # what a step has more than those beside it
    more = steps[1:-1] - (steps[2:] + steps[:-2]) / 2
    runs, made = [], 0
    ends = np.append(places[1:], len(steps) - 1)
    for place, end, lack in zip(places[open_], ends[open_], lacks[open_], strict=True):
        later = np.arange(place + 1, end)
        later = later[(later > 1) & (later < len(more))]
        good = later[compute_lengths(more[later - 1] - lack) < NEAR * math.hypot(*lack)]
        made += bool(len(good))
        runs.append((good[0] if len(good) else end) - place)
    if made < LEAST // 2:
        return None
    lost = float(stream.missing[stream.missing > 0].sum())
    values: dict[str, float | str] = {
        "own": lost / (lost + len(stream.times)),
        "longest": float(max(runs)), "length": "", "every": max(runs) * stream.period,
        "what": "lack what was lost",
    }  # fmt: skip
    share = sum(runs) / len(stream.times)
    return _make_finding(stream, places[open_], share, float(np.mean(runs)), values)


def _make_finding(
    stream: Stream, places: Numbers, share: float, mean: float, values: dict[str, float | str]
) -> Finding:
    values = {"wrong": share, "mean": mean, "losses": float(len(places)), **values}
    return Finding(
        "delta-chain", share, mean, 1.0, values, float(stream.times[places[0]]), None,
        stream.entities,
    )  # fmt: skip


DETECTOR = Detector(
    "delta-chain",
    "a loss breaks a chain of changes",
    "After each of {losses:number} losses {mean:number} states on average {what}, {longest:number}"
    " at most, until the next full one: {wrong:share} of all, where {own:share} were lost.",
    "One lost packet costs as much as a burst: buffers run empty and predictions go astray, or the"
    " entity is drawn beside its way and leaps back.",
    "Send changes against the last state that the receiver has acknowledged, or repeat the states"
    " before in each packet; try it with --send 'pack=delta' and 'pack=chain,redundancy=1'. Full"
    " states more often than every {every:s} shorten it.",
    "the share of the distances between ends of losses that are multiples of one length, against"
    " that between their beginnings; or steps over a loss that lack the lost change, and later"
    " steps that make up for it",
    f"it is {FITS}, over {LEAST} losses at least, and chance does that less than once in 100,000"
    " times",
    "definition of delta encoding; Fiedler, Snapshot Compression, 2015",
    detect,
    needs=(NUMBERS,),
    explains=("loss", "teleport", "velocity", "server-stall", "delay-buffer"),
    rank=9,
)
