"""The metrics of a comparison, each declared once, in the module of its theme.

Tables, CSV, JSON lines, Markdown, the page, the session's ``:compare``, ``--sort`` and the help of
``epic compare`` all read ``METRICS``. A metric is computed from what was accumulated over all rows
that count (``Measurement``), so that several entities together are measured as one is. With p(i)
what is drawn and x(i) the truth at row i of n, and T the tick:

    error       sqrt(mean |p(i) - x(i)|^2)
    lag         the shift s that minimizes mean |p(t) - x(t - s)|^2 (``lag.py``)
    residual    the root of that minimum
    jump        max over i of |p(i) - p(i-1)| - the truth's longest step within 0.5 s
    jerk_rms    sqrt(mean |p(i) - 3 p(i-1) + 3 p(i-2) - p(i-3)|^2) / T^3
    truth_jerk  the same of x(i)
    jerk        jerk_rms / truth_jerk
    overshoot   max over i of the least (p(i) - x(j)) . u, u the direction of p(i) - p(i-1), over
                the rows j within 0.5 s of the one that is drawn, lag included
    recovery    ``recovery.py``
    score       ``score.py``

The modules of entries need no numpy, since help does not: what computes is imported when it is
called.
"""

from __future__ import annotations

from epic_cli.metrics import accuracy, score, sent, smoothness, turning
from epic_cli.metrics.metric import Metric

#: All metrics, in the order of columns.
METRICS: tuple[Metric, ...] = (
    *accuracy.METRICS,
    *smoothness.METRICS,
    *score.METRICS,
    *turning.METRICS,
    *sent.METRICS,
)

#: Metrics of rotations, and their sums.
TURNING = {"turning_cost", "aim_cost", *(metric.name for metric in turning.METRICS)}
TURN_SUMS = tuple(name for metric in turning.METRICS for name in metric.sums)

#: Metrics of what is sent, and their sums.
SENT = {metric.name for metric in sent.METRICS}
SENT_SUMS = tuple(name for metric in sent.METRICS for name in metric.sums)

#: The sums over rows that metrics need, by name.
SUMS = {name: of for metric in METRICS for name, of in metric.sums.items()}


def list_shown_metrics() -> list[Metric]:
    """Return the metrics that have a column in tables."""
    return [metric for metric in METRICS if metric.weight]


def find_metric(name: str) -> Metric:
    """Return the metric with this name; raise ``KeyError`` for an unknown name."""
    return {metric.name: metric for metric in METRICS}[name]


def list_column_names(turns: bool = True, sent: bool = True) -> list[str]:
    """Return the column names of metrics and of the ends of their intervals in CSV and JSON lines.

    Without ``turns`` and ``sent``, the metrics of rotation and of sent data are left out.
    """
    left_out = (set() if turns else TURNING) | (set() if sent else SENT)
    chosen = [metric for metric in METRICS if metric.name not in left_out]
    return [name for each in chosen for name in (each.name, *(each.ends if each.interval else ()))]
