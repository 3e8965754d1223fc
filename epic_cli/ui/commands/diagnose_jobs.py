"""One recording looked at, in whatever process: what is found, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from epic_cli.analysis.diagnosis.diagnose import Diagnosis, diagnose
from epic_cli.analysis.diagnosis.finding import Finding
from epic_cli.analysis.diagnosis.network import Network, network_of
from epic_cli.analysis.diagnosis.registry import LeftOut, detector_of
from epic_cli.analysis.diagnosis.traffic import Traffic, traffic_of
from epic_cli.analysis.jobs.journal import digest_of, key
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.formats.layout import Layout, begun_together
from epic_cli.formats.recordings import InputFormat
from epic_cli.ui.commands.archive import JobResult, capture_job, layout_key, what_it_is
from epic_cli.ui.commands.recordings import of_entity
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.sources import load
from epic_cli.ui.options.drawn import Drawing
from epic_cli.views.diagnosis import Report, how_few


class Request(NamedTuple):
    """What is asked of every recording; another process can be asked as well."""

    candidates: tuple[StrategySpec, ...]
    span: tuple[float, float]
    entity: str | None
    input_format: InputFormat
    given: Layout | None
    remarks: Messages
    color: bool


class Looked(NamedTuple):
    """What was found in a recording; ``unable`` are detectors by name, with what they lack."""

    packets: int
    duration: float
    network: Network | None
    findings: tuple[Finding, ...]
    unable: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: tuple[LeftOut, ...]

    @property
    def causes(self) -> set[str]:
        """The causes that were found, and what follows from them."""
        below = {each.cause for one in self.findings for each in one.consequences}
        return below | {one.cause for one in self.findings}


def look(request: Request, file: str) -> JobResult[Looked]:
    """Looks at a recording; what is to be said is kept, and what is wrong with it."""
    answer = capture_job(
        file,
        request.remarks,
        request.color,
        lambda reporter: found_in(traffic_in(request, file, reporter)),
    )
    return answer._replace(said=answer.said + answer.closing, closing="")


def traffic_in(
    request: Request, file: str, reporter: Reporter, drawing: Drawing | None = None
) -> Traffic:
    """What a recording has to look at, with what was drawn of it, if that is known.

    Raises ``CannotAccess`` and ``WrongUsage``.
    """
    drawn = drawing is not None and drawing.drawn is not None
    given = begun_together(request.given) if drawn else request.given
    packets = load(file, request.input_format, reporter, given)
    packets = of_entity(packets, request.entity, reporter.name)
    traffic = traffic_of(packets, request.span, request.candidates)
    if not traffic.streams:
        few = f"{reporter.name} has no entity with 20 packets: {how_few(traffic)}"
        raise WrongUsage(f"not enough to say: {few}")
    if drawing is None or not drawn:
        return traffic
    from epic_cli.ui.commands.drawn_file import matched

    return replace(traffic, drawn=matched(packets, drawing, given, request.remarks))


def found_in(traffic: Traffic) -> Looked:
    """What is found."""
    found = diagnose(traffic)
    return Looked(
        traffic.packets,
        traffic.duration,
        network_of(traffic.messages) if traffic.messages is not None else None,
        found.findings,
        tuple((detector.name, lacking) for detector, lacking in found.unable),
        found.left_out,
    )


def report_on(name: str, looked: Looked) -> Report:
    """The report on a recording that somebody has looked at."""
    unable = tuple((detector_of(one), lacking) for one, lacking in looked.unable)
    diagnosis = Diagnosis(looked.findings, unable, looked.left_out)
    return Report(name, looked.packets, looked.duration, looked.network, diagnosis)


def key_maker(request: Request) -> Callable[[str], str | None]:
    """What names the findings in a journal: the recording's content, and what is asked of it."""
    shared = {
        "candidates": list(map(what_it_is, request.candidates)),
        "span": list(request.span),
        "entity": request.entity,
        "input_format": request.input_format,
        "layout": layout_key(request.given),
    }

    def key_of(file: str) -> str | None:
        try:
            return key(recording=digest_of(file), **shared)
        except OSError:
            return None

    return key_of
