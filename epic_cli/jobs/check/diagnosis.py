"""What kind of mistake a difference looks like: one tick late, a factor, rounding, ...

Each pattern is tried on the rows that both sides have; the first that explains them is reported,
with the figures that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from epic_cli.jobs.check.differences import Diagnosis, Difference, Pattern


def diagnose(difference: Difference) -> list[Diagnosis]:
    """What it looks like: the kind of the deviation, then what there is of rows on one side."""
    found = [*_ends(difference)]
    if not difference.differing:
        return found
    from epic_cli.jobs.check.patterns import numbers_of, patterns  # numpy is slow to load

    group = max(difference.groups, key=lambda one: sum(bool(pair.apart) for pair in one.pairs))
    numbers = numbers_of(difference, group)
    total = sum(pair.expected is not None and pair.drawn is not None for pair in group.pairs)
    differing = [index for index, pair in enumerate(group.pairs) if pair.apart]
    first = group.pairs[differing[0]].time
    diagnosis = next(patterns(group, numbers))
    diagnosis = replace(
        diagnosis,
        count=diagnosis.count or len(differing),
        total=diagnosis.total or total,
        time=diagnosis.time or first,
    )
    return [diagnosis, *found]


def _ends(difference: Difference) -> Iterator[Diagnosis]:
    """Rows that only one side has, where all of them are at one end."""
    for pairs, at_end, at_begin, side in (
        (difference.missing, Pattern.ENDS_EARLY, Pattern.BEGINS_LATE, "drawn"),
        (difference.extra, Pattern.GOES_ON, Pattern.BEGINS_EARLY, "expected"),
    ):
        if not pairs:
            continue
        alone = [
            [getattr(pair, side) is None for pair in group.pairs]
            for group in difference.groups
            if any(getattr(pair, side) is None for pair in group.pairs)
        ]
        total = sum(1 for _ in difference.pairs())
        if all(one == sorted(one) for one in alone):
            yield Diagnosis(at_end, count=len(pairs), total=total, time=pairs[0].time)
        elif all(one == sorted(one, reverse=True) for one in alone):
            yield Diagnosis(at_begin, count=len(pairs), total=total, time=pairs[-1].time)
