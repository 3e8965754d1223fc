"""The rates of right and wrong winners of a comparison, by their true lead.

    python -m endurance.winners [--runs RUNS] [--first SEED] [--only WORDS]      (in tests/)

Every recording of ``bursty.py``'s movements and networks, and of two more networks that lose
(nearly) nothing, is compared once for each group of strategies. Who wins in truth, and by how much,
is what many longer recordings of the kind come to. Prints, by length and lead, the share that got a
clear answer, and every winner that was wrong. Status 1 where the goals are missed: with a lead of
10 points and more 85 % answered in 20 s and 95 % in 60 s, of all winners at most 0.5 % wrong.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from endurance.bursty import MOVEMENTS, NETWORKS, Network, independent, sent_over
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.comparison import Confidence
from epic_cli.metrics.evaluation import CompareSpec, Run, compare_run, evaluate, pool_runs, prepare

STRATEGIES = ("epic", "snapshot", "lerp", "dead-reckoning", "projective", "mirror", "hermite")

#: Places of those that are compared with each other.
GROUPS = (
    (0, 1),
    (2, 3),
    (1, 4),
    (3, 5),
    (0, 2, 6),
    (0, 3, 5),
    (1, 2, 4, 6),
    (2, 5),
    tuple(range(7)),
)

LINKS = {
    "no loss": Network(lambda count, random: independent(count, random, 0.0)),
    "0.4 % independent": Network(lambda count, random: independent(count, random, 0.004)),
    **NETWORKS,
}
LENGTHS = (20, 60)

#: Truth is what so many recordings of so many seconds come to.
MANY, LONG = 24, 60
#: A lead (points) that is to be told, how often by length (s), and how many winners may be wrong.
LEAD, ANSWERED, WRONG = 10.0, {20: 0.85, 60: 0.95}, 0.005
LEADS = (0.0, 2.0, 5.0, LEAD, 1000.0)


class Claim(NamedTuple):
    """The claim of one comparison, and the true lead (points) of the highest score.

    ``leads`` is below 0 if another strategy leads. ``clear``: it was called the winner.
    """

    link: str
    movement: str
    seconds: int
    seed: int
    best: str
    clear: bool
    leads: float
    apart: float


def _spec(group: Sequence[int] = range(len(STRATEGIES))) -> CompareSpec:
    return CompareSpec(read_specs([STRATEGIES[place] for place in group]), SCREEN_TIMING, threads=1)


def recording(link: str, movement: str, seconds: int, seed: int) -> Run:
    """Return one recording."""
    kinds = list(LINKS).index(link), list(MOVEMENTS).index(movement)
    random = np.random.default_rng([9, seed, *kinds, seconds])
    return sent_over(LINKS[link], movement, seconds, random).run(str(seed))


@cache
def true_scores(link: str, movement: str) -> np.ndarray:
    """Return the scores of all strategies over many long recordings, as the mean of their costs."""
    kinds = list(LINKS).index(link), list(MOVEMENTS).index(movement)
    each = []
    for seed in range(MANY):
        random = np.random.default_rng([8, seed, *kinds])
        spec = _spec()
        ready = prepare(sent_over(LINKS[link], movement, LONG, random).run(), spec)
        scores = [evaluate(ready, one, spec.weights).value("score") for one in spec.participants]
        each.append(100 / np.array(scores) - 1)
    return np.asarray(100 / (1 + np.mean(each, axis=0)))


def claims(link: str, movement: str, seconds: int, seed: int) -> Iterator[Claim]:
    """Return the claim of each group of strategies over one recording."""
    scores = true_scores(link, movement)
    run = recording(link, movement, seconds, seed)
    for group in GROUPS:
        whole = pool_runs([("", compare_run(run, _spec(group)))], 0)
        best = whole.advice.best
        assert best is not None
        place = STRATEGIES.index(best.label)
        others = [scores[other] for other in group if other != place]
        ordered = np.sort(scores[list(group)])
        clear = whole.advice.confidence is Confidence.CLEAR or (
            best.rank == 1 and not whole.advice.tied and best.interval("score")[0] > 0
        )
        leads, apart = float(scores[place] - max(others)), float(ordered[-1] - ordered[-2])
        yield Claim(link, movement, seconds, seed, best.label, clear, leads, apart)


def table(made: Sequence[Claim]) -> bool:
    """Print the counts of claims; return whether the goals are met."""
    met = True
    print("| s | lead in truth | comparisons | raw order right | answered | wrong |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for seconds, (least, most) in itertools.product(LENGTHS, itertools.pairwise(LEADS)):
        some = [one for one in made if one.seconds == seconds and least <= one.apart < most]
        if not some:
            continue
        told = np.mean([one.clear for one in some])
        wrong = sum(one.clear and one.leads < 0 for one in some)
        right = np.mean([one.leads >= 0 for one in some])
        words = f"{least:g} to {most:g}" if most < LEADS[-1] else f"{least:g} and more"
        print(f"| {seconds} | {words} | {len(some)} | {right:.1%} | {told:.1%} | {wrong} |")
        met = met and (least < LEAD or bool(told >= ANSWERED[seconds]))
    clear = [one for one in made if one.clear]
    wrong_ones = [one for one in clear if one.leads < 0]
    print(f"\n{len(clear)} winners named, {len(wrong_ones)} of them wrong")
    for one in wrong_ones:
        print(f"{one}")
    print("\n| network | 20 s | 60 s |\n| --- | ---: | ---: |")
    for link in LINKS:
        cells = []
        for seconds in LENGTHS:
            kind = (link, seconds)
            leaders = [one for one in made if (one.link, one.seconds) == kind and one.apart >= LEAD]
            share = sum(one.clear for one in leaders) / max(len(leaders), 1)
            cells.append(f"{share:.0%} of {len(leaders)}" if leaders else "")
        if any(cells):
            print(f"| {link} | {' | '.join(cells)} |")
    return met and len(wrong_ones) <= WRONG * len(clear)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4, help="recordings of a kind")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--only", default="", help="networks with these words")
    given = parser.parse_args(arguments)
    links = [link for link in LINKS if given.only in link]
    made = [
        claim
        for link, movement, seconds, seed in itertools.product(
            links, MOVEMENTS, LENGTHS, range(given.first, given.first + given.runs)
        )
        for claim in claims(link, movement, seconds, seed)
    ]
    return int(not table(made))


if __name__ == "__main__":
    sys.exit(main())
