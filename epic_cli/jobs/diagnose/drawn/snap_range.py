"""The snap distances with which a strategy draws the same frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.metrics.digits import round_up_to_two_digits

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.jobs.diagnose.fitted import FittedStrategy

#: Most doublings of the distance that are tried, and halvings of what is left between two.
DOUBLINGS, HALVINGS = 6, 3

#: A range whose ends are nearer than this factor tells the number.
TOLD = 1.3


def find_snap_range(
    comparison: FrameComparison, found: FittedStrategy, enough: float
) -> tuple[float, float] | None:
    """Return the least and the largest ``snap`` (length, two digits) that draw the same frames.

    ``enough`` is the error (length) of frames that are the same. None without a ``snap``, or if the
    frames tell its number.
    """
    own = found.candidate.settings.get("snap")
    if not isinstance(own, float | int) or not own > 0:
        return None
    most = max(comparison.measure_error(found).residual * 1.001, enough)

    def draws_same(snap: float) -> bool:
        return comparison.measure_error(found.change({"snap": snap})).residual <= most

    def find_end(factor: float) -> float:
        inside = outside = float(own)
        for _ in range(DOUBLINGS):
            outside *= factor
            if not draws_same(outside):
                break
            inside = outside
        for _ in range(HALVINGS):
            middle = (inside * outside) ** 0.5
            inside, outside = (middle, outside) if draws_same(middle) else (inside, middle)
        return inside

    low, high = find_end(0.5), find_end(2.0)
    inward = round_up_to_two_digits(low), -round_up_to_two_digits(-high)
    return inward if high > TOLD * low else None
