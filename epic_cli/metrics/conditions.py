"""Conditions on the metrics of a comparison: ``error>0.3``, ``score(snapshot)<60``, ``lag>120ms``.

Programs that judge a comparison (continuous integration, golden files) state their expectations in
this form. Names and units are those of ``METRICS``.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from epic_cli.engine.parameters import find_nearest, parse_quantity
from epic_cli.metrics import METRICS
from epic_cli.metrics.metric import Metric

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_CONDITION = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*((?:[<>=!]+)?)\s*(.*?)\s*", re.DOTALL)
_EXPECTATION = re.compile(r"\s*((?:[<>=!]+)?)\s*(.*?)\s*", re.DOTALL)

#: Seconds; a larger limit of time is one in milliseconds without its unit.
_LONGEST = 60.0


class ConditionError(ValueError):
    """An error: a text is not a condition; the message shows the correct form."""


@dataclass(frozen=True)
class Condition:
    """A condition: a ``metric`` (its name) compared with a ``limit`` in the metric's unit.

    ``strategy`` is the label of the only candidate that the condition applies to; None: all.
    ``text`` is the condition as it was written.
    """

    text: str
    metric: str
    relation: str
    limit: float
    strategy: str | None = None

    def is_about(self, label: str) -> bool:
        """Return True if the condition applies to the candidate with this label."""
        return self.strategy is None or self.strategy == label

    def is_met(self, values: Mapping[str, float]) -> bool:
        """Return True if the metric's value meets the condition; an unknown value never does."""
        return _RELATIONS[self.relation](values.get(self.metric, math.nan), self.limit)

    def is_known(self, values: Mapping[str, float]) -> bool:
        """Return True if the value of the condition's metric is known."""
        return not math.isnan(values.get(self.metric, math.nan))


def parse_condition(text: str) -> Condition:
    """Parse a condition: ``METRIC<NUMBER`` or ``METRIC(STRATEGY)>=NUMBER``.

    The metric may be an end of an interval: ``score_low<60``. The relation is one of < <= > >=; a
    time takes ``ms``, a share ``%``. Raises ``ConditionError``.
    """
    name, strategy, relation, limit = _match_parts(_CONDITION, text)
    if strategy is not None and not strategy.strip():
        raise ConditionError(f"{text!r}: write a strategy between the brackets")
    return _make_condition(text, name, relation, limit, strategy.strip() if strategy else None)


def parse_expectation(name: str, text: str, strategy: str | None = None) -> Condition:
    """Parse relation and limit, such as ``<0.3``, to a condition on the metric ``name``.

    Raises ``ConditionError``.
    """
    relation, limit = _match_parts(_EXPECTATION, text)
    return _make_condition(f"{name}{text}", name, relation or "", limit or "", strategy)


def check_strategies(conditions: Collection[Condition], labels: list[str]) -> None:
    """Raise ``ConditionError`` if a condition names a strategy that is not among ``labels``."""
    for condition in conditions:
        if condition.strategy is not None and condition.strategy not in labels:
            near = find_nearest(condition.strategy, labels)
            hint = f"did you mean {near!r}?" if near else f"these do: {', '.join(labels)}"
            raise ConditionError(
                f"{condition.text!r}: {condition.strategy!r} does not take part; {hint}"
            )


def check_sense(conditions: Collection[Condition]) -> None:
    """Raise ``ConditionError`` if two conditions together cover every value.

    For example ``error>0.3`` and ``error<=0.3``, of which one always holds.
    """
    for low in conditions:
        for high in conditions:
            if (low.metric, low.strategy) != (high.metric, high.strategy):
                continue
            if low.relation[0] != "<" or high.relation[0] != ">":
                continue
            touching = low.limit == high.limit and "=" in low.relation + high.relation
            if low.limit > high.limit or touching:
                raise ConditionError(
                    f"{low.text!r} and {high.text!r} cover every value; leave one of them out"
                )


def _match_parts(pattern: re.Pattern[str], text: str) -> tuple[str | None, ...]:
    found = pattern.fullmatch(text)
    if not found:
        raise ConditionError(f"{text!r} is no condition: {_FORM}")
    return found.groups()


_FORM = "write error>0.3, score(snapshot)<60 or lag>=120ms"


def _make_condition(
    text: str, name: str | None, relation: str | None, limit: str | None, strategy: str | None
) -> Condition:
    metrics = {
        name: metric
        for metric in METRICS
        for name in (metric.name, *(metric.ends if metric.interval else ()))
    }
    if name is None or name not in metrics:
        near = find_nearest(name or "", list(metrics))
        known = ", ".join(metric.name for metric in METRICS)
        hint = f"did you mean {near!r}?" if near else f"they are {known}"
        raise ConditionError(f"{text!r}: there is no metric {name!r}; {hint}")
    if relation is None or relation not in _RELATIONS:
        what = (
            f"{relation!r} is no relation"
            if relation
            else "there is no <, <=, > or >= after the metric"
        )
        raise ConditionError(f"{text!r}: {what}; {_FORM}")
    return Condition(text, name, relation, _parse_limit(text, metrics[name], limit or ""), strategy)


def _parse_limit(text: str, metric: Metric, written: str) -> float:
    unit = {"s": "s", "0 to 1": ""}.get(metric.unit, "length units")
    try:
        limit = parse_quantity(written, unit)
        if math.isinf(limit):  # no value is beyond it
            raise ValueError(written)
    except ValueError:
        example = {"s": "120ms or 0.12", "0 to 1": "5% or 0.05"}.get(metric.unit, "0.3")
        raise ConditionError(
            f"{text!r}: {written!r} is no limit for {metric.name}; write a number, as {example}"
        ) from None
    if metric.unit == "s" and abs(limit) > _LONGEST:
        raise ConditionError(f"{text!r}: {metric.name} is in seconds; did you mean {written}ms?")
    if metric.unit == "0 to 1" and not 0 <= limit <= 1:
        raise ConditionError(
            f"{text!r}: {metric.name} is a share from 0 to 1; did you mean {written}%?"
        )
    return limit
