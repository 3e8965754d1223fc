"""The options of ``epic check`` alone; those that say how something is drawn are the replay's."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass

import click

from epic_cli.engine.parameters import Number
from epic_cli.jobs.check.case import CheckSpec, Tolerance, Tolerances
from epic_cli.jobs.check.port import Port
from epic_cli.recordings import packet_formats
from epic_cli.shell.declared import OutputFile, ParameterType, flag, seconds, value
from epic_cli.shell.errors import WrongUsage, wrong_usage
from epic_cli.show.styles import VIEWS, View

_TOLERANCE = ParameterType(Number("tolerance", None, "", "", 0))


@dataclass(frozen=True)
class Doing:
    """What to do besides checking: accept the drawn rows, or create a case (its folder)."""

    accept: bool = flag(
        "Accept drawn rows as expected, after showing the difference; never where CI is set."
    )
    yes: bool = flag("Do not ask before --accept replaces a case's rows.")
    new: str | None = value(
        "Create a case in this folder, from the given recordings and the options below.",
        metavar="CASE",
    )


@dataclass(frozen=True)
class Program:
    """A port (another implementation), and how to compare it with ours."""

    against: str | None = value(
        "Compare the rows that your program prints for the same packets with ours.",
        metavar="COMMAND",
    )
    feed: str = value(
        "The packet format that your program reads.",
        type=click.Choice(packet_formats()),
        default="text",
        show_default=True,
    )
    timeout: float = value(
        "Time limit for one case.", type=seconds(0.01, 3600), default=10.0, show_default=True
    )
    builtin: bool = flag("Check it with the streams that epic tests its own strategies with.")
    atol: float | None = value(
        "Absolute tolerance of its numbers.  [default: as each case says, else 0]",
        type=_TOLERANCE,
        metavar="NUMBER",
    )
    rtol: float | None = value(
        "Relative tolerance of its numbers, such as 1e-6.", type=_TOLERANCE, metavar="NUMBER"
    )

    def spec(self, threads: int | None) -> CheckSpec:
        """How cases are checked; raises ``WrongUsage``."""
        if self.against is None:
            if self.builtin:
                raise WrongUsage("--builtin tests another program: add --against")
            if self.atol is not None or self.rtol is not None:
                raise WrongUsage("--atol and --rtol need --against: a case sets its own")
            return CheckSpec(threads=threads)
        with wrong_usage(f"--against {self.against!r}: "):
            command = shlex.split(self.against)
        if not command:
            raise WrongUsage("--against: the command is empty")
        if shutil.which(command[0]) is None:
            raise WrongUsage(f"--against: there is no program {command[0]!r} that can be run")
        tolerances = None
        if self.atol is not None or self.rtol is not None:
            tolerances = Tolerances(Tolerance(self.atol or 0.0, self.rtol or 0.0))
        return CheckSpec(Port(tuple(command), self.timeout), self.feed, tolerances, threads)


@dataclass(frozen=True)
class Report:
    """What is reported, and where."""

    verbose: bool = flag("List passing cases, too.", "-v", "--verbose")
    junit: str | None = value("Write JUnit XML; - is stdout.", type=OutputFile(), metavar="FILE")
    tap: str | None = value("Write TAP; - is stdout.", type=OutputFile(), metavar="FILE")
    charts: tuple[View, ...] = value(
        "Chart expected and drawn rows in the terminal; may be repeated.",
        "--chart",
        type=click.Choice(VIEWS),
        multiple=True,
    )
    html: str | None = value(
        "Write a page that shows both, for the first case that differs.",
        type=OutputFile(),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Only one of them has standard output."""
        if self.html == "-":
            raise WrongUsage("a page goes to a file")
        if self.junit == self.tap == "-":
            raise WrongUsage("--junit and --tap cannot both go to standard output")

    @property
    def silent(self) -> bool:
        """Whether standard output carries TAP or JUnit."""
        return "-" in (self.junit, self.tap)
