"""What a comparison is of: who takes part, over which runs, and what counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from epic_cli.metrics.metric import AIM_RANGE
from epic_cli.metrics.weights import Weights

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.truth import Truth
    from epic_cli.recordings.findings import Finding
    from epic_cli.show.scene import Selection


class Participant(Protocol):
    """Who takes part: a ``StrategySpec``, what a game drew, or whatever makes strategies."""

    @property
    def label(self) -> str:
        """What results call it."""

    @property
    def make(self) -> Callable[[], SmoothingStrategy]:
        """A new strategy."""


#: What several runs are: recordings of what happened, or simulated networks.
Runs = Literal["recordings", "networks"]


class Run(NamedTuple):
    """One recording, or one simulated network: packets by entity, as ``separate`` makes them.

    Without ``truths``, the truth of each entity is rebuilt from its packets. ``findings`` are what
    was found wrong with the recording itself.
    """

    name: str
    packets: Mapping[str, PacketBlock]
    truths: Mapping[str, Truth] | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class CompareSpec:
    """A comparison: built once, by a front end, and carried whole to where the work is done.

    ``truth_offset`` (s) is the receiver's clock less the sender's: it is added to the times of a
    truth that is rebuilt. ``warm_up`` is in seconds, see ``sample_truth``. With a ``selection``,
    scenes of the first run are kept for pictures. ``intervals``: how sure figures are is computed,
    from draws that depend on the ``seed`` alone. ``threads``: as many as there are cores unless
    given. ``total`` is how many runs there are to come, ``runs_are`` what they are called.
    An aim is judged at the ``aim_range`` (length).
    """

    participants: Sequence[Participant]
    timing: Timing
    weights: Weights = Weights()  # noqa: RUF009 - nobody changes it
    truth_offset: float = 0.0
    warm_up: float | None = None
    selection: Selection | None = None
    intervals: bool = True
    seed: int = 0
    threads: int | None = None
    total: int = 1
    runs_are: Runs = "recordings"
    aim_range: float = AIM_RANGE

    @property
    def share(self) -> int:
        """Of about how many runs each is one, in powers of two.

        A few more of them then change nothing of what has been computed already.
        """
        return 1 << (self.total.bit_length() - 1)
