"""The options of commands that work through archives of recordings, on one machine or on many."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from epic_cli.cli.options.groups import OptionGroup
from epic_cli.engine.text.widths import printable
from epic_cli.terminal.errors import CannotAccess, WrongUsage, say

if TYPE_CHECKING:
    from epic_cli.analysis.archive.journal import Journal


Part = TypeVar("Part")


class Shard(NamedTuple):
    """Part ``number`` (from 1) of so many (``of``)."""

    number: int
    of: int


class ShardText(click.ParamType[Shard]):
    """``2/10``."""

    name = "i/n"

    def convert(
        self, value: str | Shard, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        """Refuses what is no part of a whole."""
        if isinstance(value, Shard):
            return value
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", value)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            self.fail(f"{value!r} is no part such as 2/10, the second of ten", param, ctx)
        return Shard(int(found[1]), int(found[2]))


class SchedulerAddress(click.ParamType[str]):
    """``tcp://host:8786``."""

    name = "address"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses what is no address."""
        from epic_cli.analysis.archive.cluster import place_of

        try:
            place_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value


@dataclass(frozen=True)
class Archive:
    """Who works, on which part, what is remembered, and how much may go wrong."""

    workers: int | None = None
    scheduler: str | None = None
    journal: str | None = None
    shard: Shard | None = None
    allowed_failures: int = 0

    def __post_init__(self) -> None:
        """Refuses what does not go together."""
        if self.workers is not None and self.scheduler is not None:
            raise WrongUsage("--workers are processes here, --scheduler has workers: give one")
        if self.shard is not None and self.journal is None:
            raise WrongUsage("--shard leaves its results in a journal: give --journal, too")

    @property
    def elsewhere(self) -> bool:
        """Whether other processes read the recordings."""
        return self.workers is not None or self.scheduler is not None

    @property
    def options(self) -> str:
        """The options that are in force and need recordings with names; empty: none."""
        given = {
            "--workers": self.workers,
            "--scheduler": self.scheduler,
            "--journal": self.journal,
        }
        return " and ".join(name for name, value in given.items() if value is not None)

    def part(self, names: Sequence[Part]) -> Sequence[Part]:
        """Those of all that there are which are this shard's: every so many-th."""
        return names if self.shard is None else names[self.shard.number - 1 :: self.shard.of]

    @property
    def which(self) -> str:
        """Which part this is, to begin a sentence with; empty: all."""
        return f"part {self.shard.number} of {self.shard.of}: " if self.shard else ""

    @contextlib.contextmanager
    def executor(self) -> Iterator[Executor]:
        """The workers that have been asked for; raises ``CannotAccess``.

        It can only be asked for where there are some (``elsewhere``).
        """
        from epic_cli.analysis.archive.cluster import Cluster, NoCluster
        from epic_cli.analysis.archive.processes import Processes

        if self.scheduler is None:
            with Processes(self.workers or 1) as processes:
                yield processes
            return
        try:
            with Cluster(self.scheduler) as cluster:
                yield cluster
        except NoCluster as error:
            hint = "; the journal has what it had done" if self.journal else ""
            raise CannotAccess("use", self.scheduler, OSError(f"{error}{hint}")) from error

    @contextlib.contextmanager
    def open_journal(self, kind: str) -> Iterator[Journal | None]:
        """The journal, with those of all shards to be read; None: there is to be none.

        That something of it was damaged is said. Raises ``WrongUsage``, ``CannotAccess``.
        """
        if self.journal is None:
            yield None
            return
        from glob import escape, glob

        from epic_cli.analysis.archive.journal import Journal, UnusableJournal

        path, others = (
            self.journal,
            sorted(
                glob(f"{escape(self.journal)}.*-of-*")  # noqa: PTH207 - names as they were given
            ),
        )
        if self.shard is not None:
            path = f"{path}.{self.shard.number}-of-{self.shard.of}"
            others = [one for one in [self.journal, *others] if one != path]
        try:
            journal = Journal(path, kind, others)
        except UnusableJournal as error:
            raise WrongUsage(printable(str(error))) from error
        except OSError as error:
            raise CannotAccess("write to", path, error) from error
        if journal.cut:
            say(f"epic: {printable(path)}: its last line is not whole, and is asked again\n")
        with journal:
            yield journal


#: All of them, as ``archive: Archive``.
archive_options = OptionGroup(
    "archive",
    Archive,
    click.option(
        "--workers",
        type=click.IntRange(1, 1024),
        help="Let so many processes do the work, each with one thread unless --threads says"
        " otherwise.  [default: the threads of this process]",
    ),
    click.option(
        "--scheduler",
        type=SchedulerAddress(),
        help="Let the workers of a Dask cluster do it, which find the recordings under the same"
        " names: tcp://host:8786.",
    ),
    click.option(
        "--journal",
        type=click.Path(),
        help="Keep each result in this file, and take from it what is known: after any end, the"
        " same command goes on.",
    ),
    click.option(
        "--shard",
        type=ShardText(),
        help="Only work through this part of the recordings, or of the strategies that are tuned"
        " (2/10: the second of ten), into a journal of its own beside --journal; without --shard,"
        " all are put together.",
    ),
    click.option(
        "--allowed-failures",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="So many recordings may be left out (they cannot be read or judged, or a worker died"
        " of them) before that shows in the exit status.",
    ),
)
