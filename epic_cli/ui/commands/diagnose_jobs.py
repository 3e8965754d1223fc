"""One recording diagnosed, in whatever process: what is found, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.diagnosis.diagnose import Diagnosis, diagnose
from epic_cli.analysis.diagnosis.spec import DiagnoseSpec
from epic_cli.analysis.diagnosis.traffic import TooFewPackets, Traffic, traffic_of
from epic_cli.analysis.jobs.journal import digest_of, key
from epic_cli.ui.commands.archive import JobResult, capture_job, layout_key, what_it_is
from epic_cli.ui.commands.recordings import of_entity
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load

if TYPE_CHECKING:
    from epic_cli.analysis.drawn.path import DrawnPath


class Request(NamedTuple):
    """What is wanted of every recording, and how messages are shown; also in another process."""

    spec: DiagnoseSpec
    remarks: Messages
    color: bool


def run(request: Request, file: str) -> JobResult[Diagnosis]:
    """Diagnoses a recording; what is to be said is kept, and what is wrong with it."""

    def work(reporter: Reporter) -> Diagnosis:
        return diagnosis_of(traffic_in(request.spec, file, reporter), reporter.name)

    answer = capture_job(file, request.remarks, request.color, work)
    return answer._replace(said=answer.said + answer.closing, closing="")


def traffic_in(spec: DiagnoseSpec, file: str, reporter: Reporter) -> Traffic:
    """The traffic of a recording; raises ``CannotAccess`` and ``WrongUsage``."""
    packets = load(file, spec.input_format, reporter, spec.layout)
    return traffic_of(of_entity(packets, spec.entity, reporter.name), spec)


def diagnosis_of(
    traffic: Traffic, name: str, drawn: Mapping[str, DrawnPath] | None = None
) -> Diagnosis:
    """What is wrong with the traffic of a recording; raises ``WrongUsage``, ``UnusableDrawing``."""
    try:
        return diagnose(traffic, drawn)
    except TooFewPackets as error:
        raise WrongUsage(f"{name}: not enough to say: {error}") from error


def key_maker(request: Request) -> Callable[[str], str | None]:
    """What names the findings in a journal: the recording's content, and what is wanted of it."""
    spec = request.spec
    shared = {
        "candidates": list(map(what_it_is, spec.strategies)),
        "span": list(spec.span),
        "entity": spec.entity,
        "input_format": spec.input_format,
        "layout": layout_key(spec.layout),
    }

    def key_of(file: str) -> str | None:
        try:
            return key(recording=digest_of(file), **shared)
        except OSError:
            return None

    return key_of
