"""What a comparison has to say beside its figures, as values: views put them into words."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from epic_cli.engine.text.widths import some

# ---------------------------------------------------------------- of a truth


class Excluded(enum.Enum):
    """Why recorded states are not part of a truth."""

    NOT_FINITE = enum.auto()
    SAME_TIME = enum.auto()


@dataclass(frozen=True)
class StatesLeftOut:
    """So many states are not part of the truth; of those with one time, all but the last."""

    count: int
    reason: Excluded


class Cut(enum.Enum):
    """Where a movement is not continuous."""

    MARKED_TELEPORT = enum.auto()
    UNMARKED_TELEPORT = enum.auto()
    GAP = enum.auto()


@dataclass(frozen=True)
class CutOut:
    """So many intervals between states, ``seconds`` in all, are not bridged."""

    count: int
    cut: Cut
    seconds: float


class Unusable(enum.Enum):
    """Why recorded velocities cannot be meant."""

    ABSENT = enum.auto()
    NOT_FINITE = enum.auto()
    ALL_ZERO = enum.auto()
    MISMATCH = enum.auto()


@dataclass(frozen=True)
class VelocitiesReplaced:
    """The velocities were derived from the positions; ``mismatch``: their median difference.

    It is a share of the usual speed.
    """

    reason: Unusable
    mismatch: float = 0.0


@dataclass(frozen=True)
class Bridged:
    """So many longer intervals, ``seconds`` in all, are bridged by a curve through their ends.

    Of a truth rebuilt from packets: what happened in them, nobody knows.
    """

    count: int
    seconds: float


TruthNote = StatesLeftOut | CutOut | VelocitiesReplaced | Bridged


# ---------------------------------------------------------------- of an entity


class Unjudged(enum.Enum):
    """Why nothing can be said of an entity."""

    TOO_FEW_STATES = "its truth has fewer than two usable states"
    NOT_IN_TRUTH = "it is not in the truth"
    NO_ROWS = "none of its packets has a place on the clock"
    NO_OVERLAP = "its rows and its truth do not overlap in time"
    WARM_UP = "none of its rows is past the warm-up"


@dataclass(frozen=True)
class NotJudged:
    """An entity (its name may be empty) cannot be judged, with the numbers behind the reason.

    ``states`` is how many usable ones there are, ``known`` the entities that the truth has;
    ``rows`` and ``truth`` are the first and the last time of each, and ``warm_up`` is how long
    rows do not count, all in seconds.
    """

    entity: str
    reason: Unjudged
    states: int = 0
    known: tuple[str, ...] = ()
    rows: tuple[float, float] = (0.0, 0.0)
    truth: tuple[float, float] = (0.0, 0.0)
    warm_up: float = 0.0


@dataclass(frozen=True)
class Adjusted:
    """The truth of an entity is not quite what was recorded."""

    entity: str
    what: TruthNote


@dataclass(frozen=True)
class Outages:
    """So many times, ``seconds`` in all, no packet of a moving entity came; the ``longest`` (s).

    ``judged``: the truth is known meanwhile, and what was drawn counts.
    """

    entity: str
    count: int
    seconds: float
    longest: float
    judged: bool


@dataclass(frozen=True)
class TickHides:
    """Rows ``tick`` seconds apart show too little of what happens between packets.

    These are ``interval`` seconds apart.
    """

    tick: float
    interval: float


@dataclass(frozen=True)
class AllAlike:
    """So many networks are the same packet for packet, since nothing in them is random.

    One of them is judged: copies make nothing surer.
    """

    networks: int


Note = NotJudged | Adjusted | Outages | TickHides | AllAlike


# ---------------------------------------------------------------- of a result


class Flaw(enum.Enum):
    """Why a candidate has no figures, not all of them, or figures to be read with care."""

    FAILED = enum.auto()
    STOPPED = enum.auto()
    NOT_FINITE = enum.auto()
    NOTHING_DRAWN = enum.auto()
    NEEDS_ARRIVALS = enum.auto()
    TRUTH_AT_REST = enum.auto()
    DIVERGED = enum.auto()
    LAG_UNKNOWN = enum.auto()
    LAG_AMBIGUOUS = enum.auto()
    UNDRAWN = enum.auto()


#: A candidate with one of these is not ranked.
UNRANKED = (
    Flaw.FAILED,
    Flaw.STOPPED,
    Flaw.NOT_FINITE,
    Flaw.NOTHING_DRAWN,
    Flaw.NEEDS_ARRIVALS,
)


@dataclass(frozen=True)
class ResultNote:
    """What is wrong with a result.

    How many ``rows`` of the ``judged`` ones it is wrong in, or when and how it failed (``error``);
    how far (``beyond``) it was drawn outside of a movement that is ``extent`` across; which other
    ``lags`` (s) are as plausible.
    """

    flaw: Flaw
    rows: int = 0
    error: str = ""
    judged: int = 0
    beyond: float = 0.0
    extent: float = 0.0
    lags: tuple[float, ...] = ()


# ---------------------------------------------------------------- errors


def not_enough(why: object) -> str:
    """How it is said that the data do not decide a question."""
    return f"not enough to say: {why}"


class NotEnoughToSay(ValueError):
    """The data do not decide the question; no figure is better than a made-up one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to another process as it is: what made it cannot be called with the message."""
        return ValueError.__new__, (type(self), *self.args), vars(self)


class TooFewStates(NotEnoughToSay):
    """A truth needs two usable states; ``usable`` is how many there are."""

    def __init__(self, usable: int) -> None:
        had = "one usable state" if usable else "no usable state"
        super().__init__(f"{had}: a movement needs two")
        self.usable = usable


class NothingJudged(NotEnoughToSay):
    """No entity can be judged; ``notes`` say of each why. Without notes there are no packets."""

    def __init__(self, notes: tuple[NotJudged, ...]) -> None:
        reasons = some(f"{one.entity!r}: {one.reason.value}" for one in notes)
        super().__init__(
            f"no entity can be judged: {reasons}" if reasons else "there are no packets"
        )
        self.notes = notes


class NothingToDraw(NotEnoughToSay):
    """A picture of this span would be empty."""

    def __init__(self) -> None:
        super().__init__("there is nothing to draw in this span")
