"""One recording compared, in whatever process: what ``epic compare`` does with each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from epic_cli.analysis.compare.pool import RunResult, compare_one
from epic_cli.analysis.compare.result import Comparison
from epic_cli.analysis.compare.spec import CompareSpec, Run
from epic_cli.analysis.jobs.journal import digest_of
from epic_cli.analysis.truth import Truth, truths_of
from epic_cli.formats.columns import STATE
from epic_cli.formats.layout import Beginning, Layout
from epic_cli.ui.commands.jobs import strategy_identity
from epic_cli.ui.commands.recordings import Reading
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import blocks, load, source_name

if TYPE_CHECKING:
    import threading

    from epic_cli.analysis.compare.run import Progress
    from epic_cli.ui.io.profiles import Saving
    from epic_cli.ui.options.drawn import DrawnFile


class Here(NamedTuple):
    """What only this process has: the truth as it has been read, threads, and what looks on.

    With a ``drawing``, the last participant is what the game drew. ``look`` is shown each run.
    """

    truths: Mapping[str, Truth] | None = None
    threads: int | None = None
    stop: threading.Event | None = None
    saving: Saving | None = None
    progress: Progress | None = None
    drawing: DrawnFile | None = None
    look: Callable[[Run], object] | None = None


@dataclass(frozen=True)
class CompareJobs:
    """What is done with every recording; ``here`` is None in other processes.

    The layout of ``reading`` has the truth's beginning where there is a ``truth`` (a file). Scenes
    are kept of the recording that is ``pictured``.
    """

    kind: ClassVar[str] = "compare"

    spec: CompareSpec
    reading: Reading
    truth: str | None = None
    messages: Messages = Messages()  # noqa: RUF009 - a value
    color: bool = False
    pictured: str | None = None
    here: Here | None = None

    def run(self, recording: str, reporter: Reporter) -> RunResult:
        """Reads and compares a recording; raises ``CannotAccess`` and ``WrongUsage``."""
        here = self.here or Here(self._truths(), self.spec.threads or 1)
        spec, reading = self.spec, self.reading.of_one()
        run = reading.run(recording, reporter, here.truths)
        reporter.save(here.saving, self.reading.layout)
        if here.drawing is not None and here.drawing.drawn is not None:
            run, drawn = here.drawing.beside(run, reading.layout, self.messages)
            spec = replace(spec, participants=[*spec.participants[:-1], drawn])
        if here.look is not None:
            here.look(run)
        if recording != self.pictured:
            spec = replace(spec, selection=None)
        found = compare_one(run, spec, threads=here.threads, progress=here.progress, stop=here.stop)
        if isinstance(found, Comparison):
            reporter.refuse(found.refused)
            found = replace(found, refused=())
        return found

    def identity(self) -> dict[str, Any]:
        """What a result depends on beside the recording."""
        spec = self.spec
        return {
            "candidates": list(map(strategy_identity, spec.participants)),
            "timing": list(map(str, spec.timing)),
            "weights": list(spec.weights),
            "offset": spec.truth_offset,
            "warm_up": spec.warm_up,
            "share": spec.share,
            **self.reading.identity(),
            "truth": digest_of(self.truth) if self.truth else None,
        }

    def _truths(self) -> Mapping[str, Truth] | None:
        layout = self.reading.layout
        if self.truth is None or layout is None:
            return None
        begin = layout.beginning.time if layout.beginning else None
        return _read_truths(
            self.truth, layout._replace(beginning=None), begin, self.spec.truth_offset
        )


@lru_cache(maxsize=1)
def _read_truths(
    file: str, layout: Layout, begin: float | None, offset: float
) -> Mapping[str, Truth]:
    """The truth, read once in each process; the main one has reported what is odd about it."""
    silent = Reporter(source_name(file), Messages(quiet=True))
    layout = layout.beside(STATE)._replace(beginning=Beginning(begin))
    return truths_of(load(file, "auto", silent, layout), "given", offset)[0]


def with_common_beginning(layout: Layout, recordings: Sequence[str], input_format: str) -> Layout:
    """The layout with the moment at which all recordings begin, as if they were read in order."""
    beginning = layout.beginning or Beginning()
    for name in recordings:
        if beginning.time is not None or name == "-":
            break
        silent = Reporter(source_name(name), Messages(quiet=True))
        try:
            next(blocks(name, input_format, layout, silent), None)
        except (CannotAccess, WrongUsage):
            continue
    return layout._replace(beginning=Beginning(beginning.time))
