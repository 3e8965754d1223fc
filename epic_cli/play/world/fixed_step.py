"""When a machine's next step is due, on its own clock."""

from __future__ import annotations

from fractions import Fraction


class FixedStepLoop:
    """A loop that takes steps of fixed length, however often it is called.

        while loop.advance(now_us):
            simulate_one_step()

    The n-th step is due at ``first_us + n * step_us``, rounded to a microsecond once, so a step
    of 1/60 s does not drift. ``time_us`` is the time of the step taken last.

    Source: "Multiplayer Platformer Log #5 - Entity Interpolation", Synchronizing Client Update
    Loop. The log takes a step as soon as more than its length has passed; here a step is due when
    exactly that has passed, since a simulated clock shows such times.

    Raises ``ValueError`` for a step of no length.
    """

    def __init__(self, step_us: Fraction | int, first_us: int) -> None:
        self.time_us = first_us
        self.due_us = first_us
        self.change_step(step_us)

    def change_step(self, step_us: Fraction | int) -> None:
        """The step that is due stays where it is; those after it come at the new distance."""
        if not step_us > 0:
            raise ValueError("a step is longer than 0 s")
        self._step_us = step_us
        self._first_us = self.due_us
        self._taken = 0

    def advance(self, now_us: int) -> bool:
        """Whether a step is due at this time of the machine's clock; if so it counts as taken."""
        if now_us < self.due_us:
            return False
        self.time_us = self.due_us
        self._taken += 1
        self.due_us = self._first_us + round(self._taken * self._step_us)
        return True
