"""What comes out of checking one case."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.checking.case import BrokenCase, Case

if TYPE_CHECKING:
    from epic_cli.checking.circumstances import Circumstance
    from epic_cli.checking.differences import Difference
    from epic_cli.checking.figures import Figure
    from epic_cli.checking.port import PortRun
    from epic_cli.engine.failures import StrategyFailed
    from epic_cli.engine.replay.playback import Timing


class CaseStatus(enum.Enum):
    """What is the matter with a case, the worst first."""

    BROKEN = enum.auto()  # it cannot be run as it is written
    GONE = enum.auto()  # a file that it names cannot be read
    STRATEGY_FAILED = enum.auto()
    PORT_FAILED = enum.auto()  # the program under test hung, crashed, or printed no rows
    DIFFERS = enum.auto()
    FIGURES = enum.auto()  # the rows are right, and a figure is not
    NOTHING_EXPECTED = enum.auto()
    ORPHANED = enum.auto()  # expected rows that no case asks for
    HOLDS = enum.auto()


class Outcome(NamedTuple):
    """A case (None: there is none that can be run) and what came out.

    ``problem`` is what kept it from being run, or what is wrong with its expected rows, in words
    with their place. ``drawn`` are the rows, where they are not the expected ones, ``new`` is
    where they were written. ``ignored`` are columns that were not compared. A port that differs
    may draw what another ``timing`` would give; ``circumstances`` are what the packets did just
    before the first row that differs.
    """

    name: str
    file: str
    status: CaseStatus
    case: Case | None = None
    problem: str = ""
    difference: Difference | None = None
    figures: tuple[Figure, ...] = ()
    port: PortRun | None = None
    drawn: bytes | None = None
    new: str = ""
    rows: int = 0
    refused: int = 0
    ignored: tuple[str, ...] = ()
    timing: Timing | None = None
    circumstances: tuple[Circumstance, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all is as expected."""
        return self.status is CaseStatus.HOLDS

    @property
    def failed_figures(self) -> list[Figure]:
        """The conditions that do not hold."""
        return [one for one in self.figures if not one.holds]


def broken(
    name: str, file: str, error: BrokenCase | StrategyFailed, case: Case | None = None
) -> Outcome:
    """The outcome of a case that cannot be run."""
    status = CaseStatus.STRATEGY_FAILED
    if isinstance(error, BrokenCase):
        status = CaseStatus.GONE if error.gone else CaseStatus.BROKEN
    return Outcome(name, file, status, case, str(error))
