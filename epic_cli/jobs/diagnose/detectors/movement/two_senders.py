"""Two senders under one id: the entity jumps between two places."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.metrics.traffic import APART, EACH, Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Return the entity whose packets alternate most between two movements."""
    return select_worst(
        (
            Finding(
                "two-senders", 1.0, two.share, EACH,
                {"share": two.share, "apart": two.apart, "who": name or "the one entity"},
                two.first, None, (name,) if name else (),
            )
            for name, two in traffic.senders.items()
        )
    )  # fmt: skip


DETECTOR = Detector(
    "two-senders",
    "two senders use one id",
    "The packets of {who} are those of two movements in turn, {apart:number} apart: {share:share}"
    " of them belong to the second one.",
    "It is drawn in two places in turn, or between them, and every buffer and prediction mixes two"
    " movements.",
    "Give each sender its own id: a client that came back while its old connection still sent, an"
    " id that is given twice, an object that two peers take for theirs. Where a column tells the"
    " two apart, make it part of the name (--read entity=ID+COLUMN). All else here is judged of"
    " each movement for itself.",
    "packets that are nearer to one of four earlier ones than to the one before; the distance of"
    " the two movements, to which packets are assigned by nearness",
    f"{EACH * 100:g} % of each quarter of the packets are of either movement, and the two are"
    f" {APART:g} usual steps apart",
    "nearest-neighbor tracking",
    detect,
    rank=2,
)
