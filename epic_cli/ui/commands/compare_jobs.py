"""One recording judged, in whatever process: read, compared, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.analysis.compare import Comparison
from epic_cli.analysis.jobs.journal import digest_of, key
from epic_cli.analysis.study import Asked, Run, Verdict, verdict
from epic_cli.analysis.truth import Truth, truths_of
from epic_cli.formats.layout import STATE, Beginning, begun_together
from epic_cli.formats.layout import Layout as RecordingLayout
from epic_cli.ui.commands.archive import JobResult, capture_job, layout_key, what_it_is
from epic_cli.ui.commands.recordings import of_entity
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load, source_name

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from epic_cli.analysis.compare import Progress
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.ui.io.profiles import Saving
    from epic_cli.ui.options.drawn import DrawnFile


class Request(NamedTuple):
    """What is asked of every recording; another process can be asked as well.

    ``given`` is how they are read, with the truth's beginning where there is a ``truth`` (a file).
    """

    asked: Asked
    given: RecordingLayout | None = None
    input_format: str = "auto"
    entity: str | None = None
    truth: str | None = None
    remarks: Messages = Messages()
    color: bool = False
    threads: int | None = 1


class Job(NamedTuple):
    """A recording by its name; with a ``selection``, what is drawn of it is kept for pictures."""

    file: str
    selection: Selection | None = None


#: What came of a recording.
Judged = JobResult[Verdict]


def judge(request: Request, job: Job) -> Judged:
    """Reads and judges a recording, in a process that has nothing but its name."""
    return capture_job(
        job.file,
        request.remarks,
        request.color,
        lambda reporter: judge_here(request, job, reporter, _truths_for(request), request.threads),
    )


def judge_here(
    request: Request,
    job: Job,
    reporter: Reporter,
    truths: Mapping[str, Truth] | None,
    threads: int | None = None,
    *,
    saving: Saving | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    drawing: DrawnFile | None = None,
    look: Callable[[Run], object] | None = None,
) -> Verdict:
    """Reads and judges a recording; raises ``CannotAccess`` and ``WrongUsage``.

    With a ``drawing``, the last candidate is what the game drew. ``look`` is shown the recording.
    """
    asked = request.asked
    given = request.given if request.truth else begun_together(request.given)
    run = _loaded(request, job.file, given, reporter, truths)
    reporter.save(saving, request.given)
    if any(block.lacks_velocity() for block in run.packets.values()):
        reporter.estimated()
    if drawing is not None and drawing.drawn is not None:
        run, drawn = drawing.beside(run, given, request.remarks)
        asked = asked._replace(candidates=[*asked.candidates[:-1], drawn])
    if look is not None:
        look(run)
    found = verdict(
        run,
        asked,
        selection=job.selection,
        threads=threads,
        progress=progress,
        stop=stop,
    )
    if isinstance(found, Comparison):
        reporter.refuse(found.refused)
        found = replace(found, refused=())
    return found


def recording_of(request: Request, file: str) -> Run:
    """A recording once more, of which all has been said; raises as ``judge_here``."""
    given = request.given if request.truth else begun_together(request.given)
    silent = Reporter(source_name(file), Messages(quiet=True))
    return _loaded(request, file, given, silent, None)


def _loaded(
    request: Request,
    file: str,
    given: RecordingLayout | None,
    reporter: Reporter,
    truths: Mapping[str, Truth] | None,
) -> Run:
    packets = load(file, request.input_format, reporter, given)
    return Run(reporter.name, of_entity(packets, request.entity, reporter.name), truths)


def _truths_for(request: Request) -> Mapping[str, Truth] | None:
    given = request.given
    if request.truth is None or given is None:
        return None
    time = given.beginning.time if given.beginning else None
    return _truths(request.truth, given._replace(beginning=None), time, request.asked.offset)


@lru_cache(maxsize=1)
def _truths(
    file: str, given: RecordingLayout, beginning: float | None, offset: float
) -> Mapping[str, Truth]:
    """The truth, read once in each process; the one that asks has said what is odd about it."""
    silent = Reporter(source_name(file), Messages(quiet=True))
    given = given.beside(STATE)._replace(beginning=Beginning(beginning))
    return truths_of(load(file, "auto", silent, given), "given", offset)[0]


def key_maker(request: Request) -> Callable[[Any], str | None]:
    """What names the verdict on a job in a journal: the recording's content, and what is asked.

    None where the recording cannot be read, and where pictures are wanted.
    """
    asked, given = request.asked, request.given
    shared = {
        "candidates": list(map(what_it_is, asked.candidates)),
        "timing": list(map(str, asked.timing)),
        "weights": list(asked.weights or ()),
        "offset": asked.offset,
        "warm_up": asked.warm_up,
        "share": asked.share,
        "layout": layout_key(given),
        "beginning": given.beginning.time if given and given.beginning else None,
        "input_format": request.input_format,
        "entity": request.entity,
        "truth": digest_of(request.truth) if request.truth else None,
    }

    def key_of(job: Job) -> str | None:
        if job.selection is not None:
            return None
        try:
            return key(recording=digest_of(job.file), **shared)
        except OSError:
            return None

    return key_of


def settled(given: RecordingLayout, names: list[str], input_format: str) -> RecordingLayout:
    """The layout with the moment at which all recordings begin, as if they were read in order."""
    from epic_cli.ui.io.sources import blocks

    beginning = given.beginning or Beginning()
    for name in names:
        if beginning.time is not None or name == "-":
            break
        silent = Reporter(source_name(name), Messages(quiet=True))
        try:
            next(blocks(name, input_format, given, silent), None)
        except (CannotAccess, WrongUsage):
            continue
    return given._replace(beginning=Beginning(beginning.time))
