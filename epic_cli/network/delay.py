"""How long a packet takes: a latency, and jitter of a chosen distribution around it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from epic_cli.network.portable_maths import exponential, logarithm, normal_probability
from epic_cli.network.randomness import normal, stream

Distribution = Literal["uniform", "normal", "pareto", "gamma"]
DISTRIBUTIONS: tuple[Distribution, ...] = ("uniform", "normal", "pareto", "gamma")

_SQRT_2 = math.sqrt(2)


def uniform_quantile(u: float) -> float:
    """From -1 to 1: the jitter is the greatest deviation, as in netem."""
    return 2 * u - 1


def pareto_quantile(u: float) -> float:
    """The Pareto distribution with shape 3 (netem's), of mean 0 and standard deviation 1.

    x = (1 - u)^(-1/3) has the mean 3/2 and the variance 3/4.
    """
    return (exponential(-logarithm(1 - u) / 3) - 1.5) / math.sqrt(0.75)


def gamma_quantile(u: float) -> float:
    """The gamma distribution with shape 2, of mean 0 and standard deviation 1.

    1 - u = (1 + x) exp(-x), solved by Newton's method from an upper bound (I. Chatzigeorgiou,
    "Bounds on the Lambert Function", IEEE Communications Letters 17 (8), 2013), from where it
    comes down to the root without passing it. x has the mean 2 and the variance 2.
    """
    left = -logarithm(1 - u)
    x = math.sqrt(2 * left) + left
    for _ in range(6 if x > 0 else 0):
        x -= (x - logarithm(1 + x) - left) * (1 + x) / x
    return (x - 2) / _SQRT_2


_QUANTILES: dict[str, Callable[[float], float]] = {
    "uniform": uniform_quantile,
    "pareto": pareto_quantile,
    "gamma": gamma_quantile,
}


class Delays:
    """The delays of the packets of a link, one after the other.

    ``jitter`` (seconds) is the standard deviation; for the uniform distribution the greatest
    deviation. ``latency`` (seconds) is the mean. No delay is below 0.

    ``correlation`` (0 to below 1) is that of neighbours. netem mixes the last random number into
    the next one, which narrows the distribution. Here the correlated sequence is normal,
    z' = c z + sqrt(1 - c^2) e, and is then given the wanted distribution by its quantiles (a
    Gaussian copula), so that correlation changes nothing but the order: it is c for the normal
    distribution, 6/pi asin(c/2) for the uniform one (never more than 0.018 off c), and somewhat
    below c for the two with tails.
    """

    def __init__(
        self,
        latency: float,
        jitter: float,
        distribution: Distribution,
        correlation: float,
        seed: int,
        purpose: str,
    ) -> None:
        self._latency = latency
        self._jitter = jitter
        self._quantile = _QUANTILES.get(distribution)
        self._correlation = correlation
        self._fresh = math.sqrt(1 - correlation * correlation)
        self._source = stream(seed, purpose)
        self._z = normal(self._source) if correlation else 0.0

    def next(self) -> float:
        """The delay of the next packet in seconds."""
        if not self._jitter:
            return self._latency
        return max(self._latency + self._jitter * self._deviation(), 0.0)

    def _deviation(self) -> float:
        if self._quantile and not self._correlation:
            return self._quantile(self._source.random())
        fresh = normal(self._source)
        self._z = self._correlation * self._z + self._fresh * fresh
        return self._quantile(normal_probability(self._z)) if self._quantile else self._z
