"""The figures of ``epic compare`` that a case expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from epic_cli.checking.case import Case, Recording
from epic_cli.checking.drawing import packets
from epic_cli.checking.toml_file import BrokenCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.analysis.compare import Comparison, Participant
    from epic_cli.analysis.conditions import Condition
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.engine.packets import PacketBlock


class Figure(NamedTuple):
    """A condition on the figures of one strategy (``label``), and its ``value``; NaN: unknown."""

    condition: Condition
    label: str
    value: float
    holds: bool


def figures(case: Case) -> list[Figure]:
    """Each condition with each strategy that it concerns; raises ``BrokenCase``."""
    if not case.conditions:
        return []
    results = compared(case, case.drawing.candidates).results
    return [
        Figure(one, result.label, result.value(one.metric), one.holds(result.values))
        for one in case.conditions
        for result in results
        if one.concerns(result.label)
    ]


def compared(
    case: Case,
    candidates: Sequence[Participant],
    selection: Selection | None = None,
    entity: str | None = None,
) -> Comparison:
    """What ``epic compare`` says of the case's recording, or of one entity in it.

    Raises ``BrokenCase`` where nothing can be judged.
    """
    from epic_cli.analysis.compare import compare
    from epic_cli.analysis.notes import NotEnoughToSay
    from epic_cli.analysis.truth import truths_of
    from epic_cli.engine.replay.trace import TooManyRows

    drawing, truth = case.drawing, case.truth
    (recording,) = drawing.recordings
    own = _separated(case, recording)
    truths = None
    if truth.path is not None:
        states = _separated(case, Recording(truth.path, truth.path))
        truths, _ = truths_of(states, "given", truth.offset)
        if not truths:
            raise BrokenCase(truth.path, "has no movement to compare with")
    if entity is not None:
        own = {entity: own[entity]}
    try:
        return compare(
            own,
            candidates,
            drawing.timing,
            truths,
            offset=truth.offset,
            warm_up=truth.warm_up,
            selection=selection,
            threads=1,  # cases are checked side by side
        )
    except (NotEnoughToSay, TooManyRows) as error:
        raise BrokenCase(case.file, f"its figures cannot be told: {error}") from error


def _separated(case: Case, recording: Recording) -> dict[str, PacketBlock]:
    from epic_cli.engine.replay.trace import separate
    from epic_cli.formats.layout import STATE

    entities: dict[str, PacketBlock] = {}
    truth = recording not in case.drawing.recordings
    drawing = case.drawing._replace(row_format="tsv")  # which has room for all entities
    if truth and drawing.given is not None:
        drawing = drawing._replace(given=drawing.given.beside(STATE))
    if truth:
        drawing = drawing._replace(input_format="auto", entity=None, strict=False)
    for block in packets(drawing, recording):
        separate(block, entities)
    return entities
