"""A recorded past that is moved to where the server says it was, without playing it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: A state's numbers: position and velocity, or any others that change alike.
Values = tuple[float, ...]


class RecordedState(NamedTuple):
    """A state at a time (in any unit), and by how much it differs from the one before it."""

    time: float
    values: Values
    delta: Values


def correct_history(
    history: Sequence[RecordedState], time: float, values: Values
) -> list[RecordedState] | None:
    """The history, changed so that it passes through ``values`` at ``time``.

    The change of the first state after it is shortened to the part that lies after it, and every
    later state follows from the one before by its own change:

        after.delta *= (after.time - time) / (after.time - before.time)
        state.values = previous.values + state.delta

    The states before are left alone. None: the time is before the oldest state or after the
    newest, or there are fewer than two. Source: Mirror (MIT), Core/Prediction/Prediction.cs.
    """
    if len(history) < 2 or not history[0].time <= time <= history[-1].time:
        return None
    first = next(index for index, state in enumerate(history) if state.time >= time)
    after = history[first]
    share = 0.0
    if first and after.time > time:
        share = (after.time - time) / (after.time - history[first - 1].time)
    corrected = list(history[:first])
    previous = values
    for state in [after._replace(delta=_scaled(after.delta, share)), *history[first + 1 :]]:
        previous = tuple(one + change for one, change in zip(previous, state.delta, strict=True))
        corrected.append(state._replace(values=previous))
    return corrected


def _scaled(values: Values, share: float) -> Values:
    return tuple(value * share for value in values)
