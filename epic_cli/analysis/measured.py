"""What metrics are computed from, of one measurement (numbers) or of many draws (arrays)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from epic_cli.analysis.weights import Weights
    from epic_cli.engine.packets import Status


class Measured(Protocol):
    """What ``Measurement`` and ``Resampled`` have in common."""

    @property
    def tick(self) -> float:
        """Seconds from row to row."""

    @property
    def resolution(self) -> float:
        """The least length that means something."""

    @property
    def weights(self) -> Weights:
        """What the score weighs."""

    @property
    def rows(self) -> Any:
        """How many rows count."""

    @property
    def error(self) -> Any:
        """Root mean square distance from the truth."""

    @property
    def lag(self) -> Any:
        """The lag: its ``seconds``, ``residual`` and what it is ``charged`` as."""

    @property
    def jumps(self) -> Any:
        """How many steps are jumps."""

    @property
    def backward(self) -> Any:
        """How many steps go backward."""

    @property
    def overshoot_rms(self) -> Any:
        """Root mean square of how far it is ahead of the truth."""

    @property
    def recoveries(self) -> Any:
        """From how much there was to recover."""

    @property
    def recovery_seconds(self) -> Any:
        """How long that took in all."""

    @property
    def jerk_rms(self) -> Any:
        """Root mean square jerk of what was drawn."""

    @property
    def truth_jerk(self) -> Any:
        """Root mean square jerk of the truth in the same rows."""

    @property
    def usual_jerk(self) -> float:
        """The jerk that others are multiples of."""

    @property
    def speed(self) -> Any:
        """Root mean square speed of the truth."""

    def share(self, status: Status) -> Any:
        """Which share of the rows that count has this status."""
