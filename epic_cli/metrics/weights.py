"""What matters in a comparison: a weight for each cost of a strategy, by kind of game."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from epic_cli.engine.parameter_base import nearest
from epic_cli.engine.parameters import Choice

#: A tenth of a second: the lag, and the error in seconds of movement, that cost 1.
SCALE = 0.1


class Weights(NamedTuple):
    """How much each cost counts; only their ratios matter."""

    accuracy: float = 1.0
    smoothness: float = 1.0
    latency: float = 1.0
    recovery: float = 1.0
    overshoot: float = 0.0
    backward: float = 0.0
    across: float = 0.0
    turning: float = 1.0
    aim: float = 0.0


def make_weights(given: Mapping[str, float], others: Weights | None = None) -> Weights:
    """Weights from those that are given; the ``others`` are the usual ones unless given, too.

    Raises ``ValueError`` for an unknown name, a weight below 0, or only zeros.
    """
    for name, value in given.items():
        if name not in Weights._fields:
            near = nearest(name, list(Weights._fields))
            hint = f"did you mean {near!r}?" if near else f"the weights are {_names()}"
            raise ValueError(f"there is no weight {name!r}: {hint}")
        if not 0 <= value < math.inf:
            raise ValueError(f"the weight {name}={value:g} is not allowed: it must be 0 or more")
    weights = (others or Weights())._replace(**given)
    if not any(without_turning(weights)):
        raise ValueError(f"these weights come to nothing: give one of {_names()} more than 0")
    if not any(without_turning(weights)._replace(recovery=0.0)):
        raise ValueError(
            "recovery alone makes no score where there is nothing to recover from:"
            " weigh something else, too, if only with 0.01"
        )
    return weights


def without_turning(weights: Weights) -> Weights:
    """What counts where nothing turns."""
    return weights._replace(turning=0.0, aim=0.0)


def _names() -> str:
    return ", ".join(Weights._fields)


class Game(NamedTuple):
    """A kind of game, what its players notice (``why``), and the weights that say so."""

    name: str
    weights: Weights
    why: str


#: The usual weights are for games of no special kind.
GAMES = (
    Game(
        "shooter",
        Weights(
            accuracy=1,
            smoothness=1,
            latency=0.5,
            recovery=2,
            overshoot=2,
            backward=1,
            across=3,
            aim=1,
        ),
        # Bernier 2001, "Latency Compensating Methods": the server rewinds by what the view lags
        "the server rewinds to what the shooter saw, so lag costs little; an opponent drawn where"
        " he never was, beside his way above all, is a hit that the rewind refuses, and where he"
        " aims is a warning",
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
        Weights(
            accuracy=0.5, smoothness=4, latency=0, recovery=2, overshoot=1, backward=2, across=0.5
        ),
        "nobody who watches answers: a second late is fine; a jerk, a step back or a wrong curve is"
        " not",
    ),
)

#: Which of them.
GAME = Choice("game", None, "Use the weights of this kind of game, which --help-all lists.",
              [one.name for one in GAMES])  # fmt: skip


def game(name: str) -> Game:
    """The kind of game of this name; raises ``KeyError``."""
    return {one.name: one for one in GAMES}[name]
