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
from epic_cli.shell.declared import OutputFile, Parsed, value
from epic_cli.shell.errors import CannotAccess, WrongUsage, say

if TYPE_CHECKING:
    from epic_cli.work.journal import Journal


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
    from epic_cli.work.executors import place_of

    place_of(text)
    return text


@dataclass(frozen=True)
class JobOptions:
    """Which workers, which part, which journal, and how many failures are allowed."""

    workers: int | None = value(
        "Use this many processes, each with one thread unless --threads says"
        " otherwise.  [default: the threads of this process]",
        type=click.IntRange(1, 1024),
    )
    scheduler: str | None = value(
        "Use the workers of a Dask cluster, which must see the recordings under the same"
        " paths: tcp://host:8786.",
        type=Parsed("address", parse_scheduler),
    )
    journal: str | None = value(
        "Store each result in this file and reuse known ones: run the same command again to"
        " resume.",
        type=OutputFile(),
    )
    shard: Shard | None = value(
        "Process only this part of the recordings, or of the strategies to tune (2/10: the"
        " second of ten), into its own journal beside --journal; a run without --shard combines"
        " them.",
        type=Parsed("i/n", parse_shard, Shard),
    )
    allowed_failures: int = value(
        "Tolerate this many skipped recordings (unreadable, not comparable, or a worker"
        " crashed) before the exit status shows it.",
        type=click.IntRange(0),
        default=0,
        show_default=True,
    )

    def settled(self, given: Collection[str], fits: bool) -> JobOptions:
        """The options in force; raises ``WrongUsage`` for conflicting ones.

        Options that are not ``given`` (they are from the configuration) are ignored where none of
        them ``fits``, or where the other kind of workers was given.
        """
        passed = {"workers", "scheduler", "journal", "shard"} if not fits else set()
        if {"workers", "scheduler"} & set(given):
            passed |= {"workers", "scheduler"}
        if "shard" not in given and self.journal is None:
            passed.add("shard")
        none: dict[str, Any] = dict.fromkeys(passed - set(given))
        found = replace(self, **none)
        if found.workers is not None and found.scheduler is not None:
            raise WrongUsage(
                "--workers are local processes, --scheduler has its own workers: use one of them"
            )
        if found.shard is not None and found.journal is None:
            raise WrongUsage("--shard needs --journal, which receives its results")
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
        """Every n-th of all: the items of this shard."""
        return names if self.shard is None else names[self.shard.number - 1 :: self.shard.of]

    @property
    def part_label(self) -> str:
        """A prefix for messages that names the shard; empty: all."""
        return f"part {self.shard.number} of {self.shard.of}: " if self.shard else ""

    @contextlib.contextmanager
    def executor(self) -> Iterator[Executor]:
        """The requested workers, if ``remote``; raises ``CannotAccess``."""
        from epic_cli.work.executors import Cluster, NoCluster, Processes

        if self.scheduler is None:
            with Processes(self.workers or 1) as processes:
                yield processes
            return
        try:
            with Cluster(self.scheduler) as cluster:
                yield cluster
        except NoCluster as error:
            hint = "; the journal has the results so far" if self.journal else ""
            raise CannotAccess("use", self.scheduler, OSError(f"{error}{hint}")) from error

    @contextlib.contextmanager
    def open_journal(self, kind: str) -> Iterator[Journal | None]:
        """The journal, which also reads those of all shards; None: no ``--journal``.

        Reports damage. Raises ``WrongUsage``, ``CannotAccess``.
        """
        if self.journal is None:
            yield None
            return
        from glob import escape, glob

        from epic_cli.work.journal import Journal, UnusableJournal

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
            say(f"epic: {printable(path)}: its last line is truncated and will be recomputed\n")
        for damage in journal.damage:
            say(f"epic: {printable(str(damage))}\n")
        try:
            with journal:
                yield journal
        except OSError as error:
            if error.filename == path:
                raise CannotAccess("write to", path, error) from error
            raise
