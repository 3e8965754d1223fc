"""Why it jitters, asked from Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.analysis.candidates import candidates
from epic_cli.analysis.diagnosis.diagnose import Diagnosis
from epic_cli.analysis.diagnosis.diagnose import diagnose as look
from epic_cli.analysis.diagnosis.finding import Finding
from epic_cli.analysis.diagnosis.registry import detector_of
from epic_cli.analysis.diagnosis.traffic import traffic_of
from epic_cli.api.comparing import by_entity
from epic_cli.api.replaying import packets_of

if TYPE_CHECKING:
    from epic_cli.api.reading import Path
    from epic_cli.engine.contract import Packet


class Explanation(NamedTuple):
    """A finding in sentences: what is wrong, what it does to what is drawn, what helps."""

    title: str
    what: str
    effect: str
    cure: str


def diagnose(
    packets: Path | Iterable[Packet],
    strategies: str | Iterable[str] = (),
    *,
    span: tuple[float, float] = (-math.inf, math.inf),
) -> Diagnosis:
    """Looks for causes of jitter in a recording, as ``epic diagnose`` does.

    ``packets`` are what ``replay`` takes: packets, or the path of a recording. Only those stamped
    in the ``span`` (seconds) are looked at. Of ``strategies``, named as ``epic compare`` names
    them (``"source+cl_interp=0.05"``), it is looked at how often their delay buffers run empty.

    Returns a frozen ``Diagnosis``. Its ``findings`` stand worst first; each has its ``cause`` by
    name, the ``share`` of the recording that suffers from it (0 to 1), the ``statistic`` that
    passed the ``threshold``, its ``values`` by name, and where to look: ``first`` and ``worst``
    are stamps in seconds (None: it is everywhere). ``consequences`` are what it explains.
    ``unable`` are detectors that could not look, each with what the recording lacks, ``left_out``
    those of other packages that failed. ``explain`` has the words of a finding.

    Raises what ``replay`` does for what is no recording, and ``ValueError`` for wrong strategies
    and where no entity has 20 packets.
    """
    wanted = [strategies] if isinstance(strategies, str) else list(strategies)
    taking_part = candidates(wanted) if wanted else []
    traffic = traffic_of(by_entity(packets_of(packets)), span, taking_part)
    if not traffic.streams:
        from epic_cli.views.diagnosis import how_few

        raise ValueError(f"not enough to say: no entity has 20 packets: {how_few(traffic)}")
    return look(traffic)


def explain(finding: Finding) -> Explanation:
    """The words of a finding."""
    from epic_cli.views.diagnosis import sentence

    detector = detector_of(finding.cause)
    return Explanation(
        detector.title,
        *(sentence(one, finding) for one in (detector.says, detector.effect, detector.cure)),
    )
