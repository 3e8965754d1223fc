"""Tries that a journal remembers: a search that was cut off goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from epic_cli.analysis.jobs.journal import Journal, key
from epic_cli.analysis.tuning.tries import Memory

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.bench import EvaluationSet
    from epic_cli.analysis.tuning.elsewhere import Figures
    from epic_cli.engine.settings import Value

#: What kind of answers the journal has.
KIND = "tune"


class JournalMemory(Memory):
    """The tries on one bench: what it holds and how it is judged is part of each one's key."""

    def __init__(self, journal: Journal, bench: EvaluationSet) -> None:
        self._journal = journal
        self._digest = bench.digest

    def find(self, strategy: str, settings: Mapping[str, Value]) -> Figures | None:
        """What these settings came to; None: nobody knows."""
        found = self._journal.find(self._key(strategy, settings))
        return found if isinstance(found, dict) else None

    def keep(self, strategy: str, settings: Mapping[str, Value], figures: Figures) -> None:
        """Keeps it; it is on its way to the disk when this returns."""
        self._journal.add(self._key(strategy, settings), dict(figures))

    def _key(self, strategy: str, settings: Mapping[str, Value]) -> str:
        written = {
            name: value if isinstance(value, str) else float(value)
            for name, value in settings.items()
        }
        return key(bench=self._digest, strategy=strategy, settings=written)
