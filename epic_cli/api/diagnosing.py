"""Diagnoses of jitter, from Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.api.reading import StrictLog, load_entities, raise_python_errors, read_packets
from epic_cli.api.shown import register
from epic_cli.engine.contract import Packet, Sample
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.diagnose.detectors import Finding, find_detector
from epic_cli.jobs.diagnose.link import FoundLink, find_link
from epic_cli.jobs.diagnose.per_recording import DiagnoseEach
from epic_cli.jobs.diagnose.run import Diagnosis, run
from epic_cli.metrics.drawn_path import ROWS, make_drawn_paths
from epic_cli.metrics.inputs import RecordingSpec
from epic_cli.metrics.traffic import make_traffic
from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.rows import PacketSource, Path, make_source

if TYPE_CHECKING:
    from epic_cli.show.report import Report


class Explanation(NamedTuple):
    """A finding in sentences: the fault, its effect on the drawn positions, its cure."""

    title: str
    what: str
    effect: str
    cure: str


def diagnose(
    packets: PacketSource,
    strategies: str | Iterable[str] = (),
    *,
    span: tuple[float, float] = (-math.inf, math.inf),
    drawn: Path | Iterable[Packet | Sample] | None = None,
    drawn_offset: float = 0.0,
) -> Diagnosis:
    """Look for causes of jitter in a recording, as ``epic diagnose`` does.

    ``packets`` are of the kinds that ``replay`` takes: packets, or the path of a recording; or the
    path of a recorded network without positions (``epic_cli.network.trace.read_trace``). Only
    packets stamped in the ``span`` (seconds) count. ``strategies``, named as in ``epic compare``
    (``"source+cl_interp=0.05"``), are checked for how often their delay buffers run empty.

    ``drawn`` is what the game really drew, at times of the receiver's clock minus ``drawn_offset``
    (seconds): samples, packets, or the path of a recording or of rows. The diagnosis then has
    ``drawn``: the strategy and settings that draw so (``best``), the remaining distance
    (``residual``), the lag (``lag``, ``shift``), whether it was smoothed twice (``smoothed``,
    ``best.constant``), whether packets are stamped with the time of the frame that reads them
    (``by_frame``; None: the same is drawn either way), and what draws it better (``advice``: its
    ``cure`` and ``drawbacks``).

    Return a frozen ``Diagnosis``. Its ``findings`` stand worst first; each has its ``cause`` by
    name, the ``share`` of the recording that suffers from it (0 to 1), the ``statistic`` that
    passed the ``threshold``, its ``values`` by name, and the stamps ``first`` and ``worst`` where
    it shows, in seconds (None: it is everywhere). ``consequences`` are the findings that it
    explains, ``trial`` is the effect of its cure on this recording (None: not tried, or no help).
    ``unable`` are detectors that could not run, each with what the recording lacks, ``left_out``
    those of other packages that failed. ``explain`` has the words of a finding. ``in_recording``
    are faults of the recording itself, with a ``code`` each, as ``inspect`` finds them.

    Raise what ``replay`` does for what is no recording, and ``ValueError`` for wrong strategies,
    where no entity has 20 packets, and where what was drawn cannot be used.
    """
    wanted = [strategies] if isinstance(strategies, str) else list(strategies)
    taking_part = tuple(read_specs(wanted)) if wanted else ()
    source = make_source(packets)
    each = DiagnoseEach(RecordingSpec(), StrictLog, taking_part, span)
    with raise_python_errors(), source.log or StrictLog(source.name) as log:
        path = os.fsdecode(packets) if isinstance(packets, (str, os.PathLike)) else None
        spec = each.make_spec(path or source, log)
    if drawn is not None:
        paths = make_drawn_paths(
            load_entities(_read_drawn_packets(drawn))[0], spec.packets, drawn_offset
        )
        spec = replace(spec, drawn=paths)
    return run(replace(spec, in_recording=log.findings))


def _read_drawn_packets(drawn: Path | Iterable[Packet | Sample]) -> Iterable[Packet]:
    if isinstance(drawn, (str, os.PathLike)):
        with open(drawn, "rb") as stream:  # noqa: PTH123
            rows = stream.read(4).startswith(b"pos:")
        return read_packets(drawn, read=ReadSpec(pattern=ROWS) if rows else INFERRED)
    return [
        Packet(packet.position, packet.velocity, packet.time, entity=packet.entity)
        for packet in drawn
        if not (isinstance(packet, Sample) and packet.status == "none")
    ]


def link_of(packets: PacketSource) -> FoundLink:
    """Return the network that a recording shows, as ``epic diagnose --link-out`` writes it.

    Its ``trace`` is for ``epic_cli.network.TraceLink``, its ``conditions`` are for
    ``epic_cli.network.Link``; ``rate`` (Hz) and ``duration`` (s) are those of the packets sent.
    Raise what ``replay`` does for what is no recording, and ``ValueError`` where there are no
    arrival times, or fewer than 20 messages.
    """
    return find_link(make_traffic(load_entities(packets)[0]))


def explain(finding: Finding) -> Explanation:
    """Explain a finding in sentences."""
    from epic_cli.jobs.diagnose.report.sentences import fill_sentence, write_remedy

    detector = find_detector(finding.cause)
    says, effect = (fill_sentence(words, finding) for words in (detector.says, detector.effect))
    return Explanation(detector.title, says, effect, write_remedy(finding))


def _make_report(found: Diagnosis) -> Report:
    from epic_cli.jobs.diagnose.report import report

    return report("recording", found)


register(Diagnosis, _make_report)
