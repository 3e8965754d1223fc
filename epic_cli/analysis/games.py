"""What matters in which kind of game: weights for the score, with the reason for them."""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.analysis.weights import Weights


class Game(NamedTuple):
    """A kind of game, what its players notice (``why``), and the weights that say so."""

    name: str
    weights: Weights
    why: str


#: The usual weights are for games of no special kind.
GAMES = (
    Game(
        "shooter",
        Weights(accuracy=4, smoothness=1, latency=0.5, recovery=2, overshoot=2, backward=1),
        # Bernier 2001, "Latency Compensating Methods": the server rewinds by what the view lags
        "the server rewinds to what the shooter saw, so lag costs little; an opponent drawn where"
        " he never was is a hit that the rewind refuses",
    ),
    Game(
        "vehicle",
        Weights(accuracy=2, smoothness=2, latency=2, recovery=1, overshoot=1, backward=0.5),
        # Murphy 2011, "Believable Dead Reckoning for Networked Games"
        "side by side at speed, lag is distance and a jerk looks like a crash; wheels may overshoot"
        " a little",
    ),
    Game(
        "fighting",
        Weights(accuracy=1, smoothness=0.5, latency=4, recovery=1, overshoot=1, backward=0.5),
        "a move must be seen in time to block it: each frame of lag is one less to react in",
    ),
    Game(
        "observer",
        Weights(accuracy=1, smoothness=4, latency=0, recovery=2, overshoot=1, backward=2),
        "nobody who watches answers: a second late is fine, a jerk or a step back is not",
    ),
)


def game(name: str) -> Game:
    """The kind of game of this name; raises ``KeyError``."""
    return {one.name: one for one in GAMES}[name]
