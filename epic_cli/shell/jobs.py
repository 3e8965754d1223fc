"""The options of jobs that several workers may share, and the messages about their recordings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import click

from epic_cli.engine.text.widths import printable
from epic_cli.engine.trust import check_program
from epic_cli.shell.declared import OutputFile, Parsed, declare_value
from epic_cli.shell.errors import WrongUsage, write_message
from epic_cli.work.jobs import JobTally, Workers


def _parse_cluster_address(text: str) -> str:
    """Return ``tcp://host:8786`` unchanged; raises ``ValueError`` for any other form."""
    from epic_cli.work.executors import parse_scheduler

    check_program("a cluster")
    parse_scheduler(text)
    return text


@dataclass(frozen=True)
class JobOptions:
    """Options of a job: its workers, its journal, and how many failures are allowed."""

    workers: int | None = declare_value(
        "Use this many processes, each with one thread unless --threads says"
        " otherwise.  [default: the threads of this process]",
        type=click.IntRange(1, 1024),
    )
    cluster: str | None = declare_value(
        "Use the workers of a Dask cluster, which must see the recordings under the same"
        " paths: tcp://host:8786.",
        type=Parsed("address", _parse_cluster_address),
    )
    journal: str | None = declare_value(
        "Store each result in this file and reuse known ones: run the same command again to"
        " resume.",
        type=OutputFile(),
    )
    allowed_failures: int = declare_value(
        "Tolerate this many skipped recordings (unreadable, not comparable, or a worker"
        " crashed) before the exit status shows it.",
        type=click.IntRange(0),
        default=0,
        show_default=True,
    )

    def settle_options(self, given: Collection[str], fits: bool) -> JobOptions:
        """Return the options that apply to this run; raise ``WrongUsage`` for conflicting ones.

        Options that are not ``given`` (they are from the configuration) are ignored if none of them
        ``fits``, or if the other kind of workers was given.
        """
        passed = {"workers", "cluster", "journal"} if not fits else set()
        if {"workers", "cluster"} & set(given):
            passed |= {"workers", "cluster"}
        none: dict[str, Any] = dict.fromkeys(passed - set(given))
        found = replace(self, **none)
        if found.workers is not None and found.cluster is not None:
            raise WrongUsage(
                "--workers are local processes, --cluster has its own workers: use one of them",
                "workers",
                "cluster",
            )
        return found

    @property
    def value(self) -> Workers:
        """The workers that the options ask for."""
        from epic_cli.work.jobs import Workers

        return Workers(self.workers, self.cluster, self.journal)


class JobMessages(JobTally):
    """The messages of a job on its recordings; ``quiet`` leaves out the count of known results."""

    def __init__(self, allowed_failures: int = 0, quiet: bool = False) -> None:
        super().__init__()
        self._allowed = allowed_failures
        self._quiet = quiet

    @property
    def incomplete(self) -> bool:
        """True if lines were refused, or more recordings were left out than allowed."""
        return self.refused or self.left_out > self._allowed

    def say(self, text: str) -> None:
        """Write a line to stderr."""
        write_message(text)

    def note(self, words: str) -> None:
        """Write a note on the job's recordings to stderr."""
        write_message(f"epic: {printable(words)}\n")

    def leave_out(self, name: str, error: Exception) -> None:
        """Report that a recording is left out, and why."""
        super().leave_out(name, error)
        self.note(f"{error}; the recording is left out")

    def report_resumed(self, words: str) -> None:
        """Report how many results were known already."""
        if not self._quiet:
            self.note(words)
