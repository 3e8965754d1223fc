"""The options of commands that run jobs on many recordings, on one machine or on many."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from epic_cli.engine.text.widths import printable
from epic_cli.ui.io.errors import CannotAccess, WrongUsage, say
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.options.groups import OptionGroup

if TYPE_CHECKING:
    from epic_cli.analysis.jobs.journal import Journal


Part = TypeVar("Part")


class Shard(NamedTuple):
    """Part ``number`` (from 1) of so many (``of``)."""

    number: int
    of: int


def parse_shard(text: str) -> Shard:
    """``2/10``; raises ``ValueError``."""
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is not a part such as 2/10, the second of ten")
    return Shard(int(found[1]), int(found[2]))


def parse_scheduler(text: str) -> str:
    """``tcp://host:8786``, as it is; raises ``ValueError``."""
    from epic_cli.analysis.jobs.cluster import place_of

    place_of(text)
    return text


@dataclass(frozen=True)
class JobOptions:
    """Who works, on which part, what is remembered, and how much may go wrong."""

    workers: int | None = None
    scheduler: str | None = None
    journal: str | None = None
    shard: Shard | None = None
    allowed_failures: int = 0

    def settled(self, given: Collection[str], fits: bool) -> JobOptions:
        """What is in force; raises ``WrongUsage`` for what does not go together.

        Options that have not been ``given`` (they are those of the configuration) are passed over
        where nothing of this ``fits``, or where it is another's workers that have been.
        """
        passed = {"workers", "scheduler", "journal", "shard"} if not fits else set()
        if {"workers", "scheduler"} & set(given):
            passed |= {"workers", "scheduler"}
        if "shard" not in given and self.journal is None:
            passed.add("shard")
        none: dict[str, Any] = dict.fromkeys(passed - set(given))
        found = replace(self, **none)
        if found.workers is not None and found.scheduler is not None:
            raise WrongUsage("--workers are processes here, --scheduler has workers: give one")
        if found.shard is not None and found.journal is None:
            raise WrongUsage("--shard leaves its results in a journal: give --journal, too")
        return found

    @property
    def remote(self) -> bool:
        """Whether other processes do the work."""
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
    def part_label(self) -> str:
        """Which part this is, to begin a sentence with; empty: all."""
        return f"part {self.shard.number} of {self.shard.of}: " if self.shard else ""

    @contextlib.contextmanager
    def executor(self) -> Iterator[Executor]:
        """The workers that have been asked for; raises ``CannotAccess``.

        It can only be asked for where there are some (``remote``).
        """
        from epic_cli.analysis.jobs.cluster import Cluster, NoCluster
        from epic_cli.analysis.jobs.executors import Processes

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

        from epic_cli.analysis.jobs.journal import Journal, UnusableJournal

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
            say(f"epic: {printable(path)}: its last line is cut off, and computed again\n")
        with journal:
            yield journal


#: All of them, as ``jobs: JobOptions``.
job_options = OptionGroup(
    "jobs",
    JobOptions,
    click.option(
        "--workers",
        type=click.IntRange(1, 1024),
        help="Let so many processes do the work, each with one thread unless --threads says"
        " otherwise.  [default: the threads of this process]",
    ),
    click.option(
        "--scheduler",
        type=Parsed("address", parse_scheduler),
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
        type=Parsed("i/n", parse_shard, Shard),
        help="Only work through this part of the recordings, or of the strategies that are tuned"
        " (2/10: the second of ten), into a journal of its own beside --journal; without --shard,"
        " all are put together.",
    ),
    click.option(
        "--allowed-failures",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="So many recordings may be left out (they cannot be read or compared, or a worker died"
        " of them) before that shows in the exit status.",
    ),
)
