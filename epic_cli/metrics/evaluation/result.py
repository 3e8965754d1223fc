"""What comes out of a comparison, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.metrics import METRICS
from epic_cli.metrics.certainty.rare import Rare
from epic_cli.metrics.certainty.resampling import Certainty
from epic_cli.metrics.certainty.uncertainty import UNKNOWN, Standing
from epic_cli.metrics.evaluation.advice import Advice, advice
from epic_cli.metrics.notes import UNRANKED, Flaw, Note, ResultNote
from epic_cli.metrics.tabular import Tabular
from epic_cli.recordings.findings import doubts

if TYPE_CHECKING:
    from epic_cli.engine.refusals import Refusal
    from epic_cli.metrics.cells import Grid
    from epic_cli.metrics.evaluation.spec import Runs
    from epic_cli.metrics.measurement import Measurement
    from epic_cli.metrics.truth import Origin
    from epic_cli.metrics.weights import Weights
    from epic_cli.recordings.findings import Finding
    from epic_cli.show.scene import Scene


@dataclass(frozen=True)
class Result:
    """One line of the table: a participant's ``values`` by the names of ``METRICS``.

    ``entity`` None: all of them together. ``notes`` say why there are no values, or why a value is
    NaN, or to be read with care. ``recording`` is that of a line of its own, ``standing`` how
    sure the values are; ``waver`` (s) is by how much the lag may differ in another session.
    ``measured`` is what they are computed from.
    """

    label: str
    entity: str | None
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[ResultNote, ...] = ()
    recording: str | None = None
    standing: Standing = UNKNOWN
    measured: Measurement | None = field(default=None, repr=False, compare=False)
    waver: float = 0.0

    def __post_init__(self) -> None:
        """Keeps plain numbers, and one and the same NaN, so that results can be equal."""
        plain = {
            name: math.nan if math.isnan(value) else float(value)
            for name, value in self.values.items()
        }
        object.__setattr__(self, "values", MappingProxyType(plain))

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to another process as its fields."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return Result, tuple({**own, "values": dict(self.values)}.values())

    @property
    def place(self) -> str:
        """The entity or recording that it is of; empty: all."""
        return self.entity or self.recording or ""

    @property
    def rank(self) -> int | None:
        """One more than how many others are clearly better by score; None: no score."""
        return self.standing.rank

    @property
    def note(self) -> ResultNote | None:
        """The gravest of the notes."""
        return self.notes[0] if self.notes else None

    def has(self, *flaws: Flaw) -> bool:
        """Whether one of these is noted."""
        return any(one.flaw in flaws for one in self.notes)

    @property
    def failed(self) -> bool:
        """Whether the strategy's own code failed."""
        return self.has(Flaw.FAILED)

    @property
    def ranked(self) -> bool:
        """Whether it can be called better or worse than others."""
        return bool(self.values) and not self.has(*UNRANKED)

    def value(self, name: str) -> float:
        """A metric by its name; NaN: not enough to say."""
        return self.values.get(name, math.nan)

    def figures(self) -> dict[str, float]:
        """All values by name, and the ends of their intervals, as ``metrics.figure_names``."""
        found = {}
        for metric in METRICS:
            found[metric.name] = self.value(metric.name)
            if metric.interval:
                ends = zip(metric.ends, self.interval(metric.name), strict=True)
                found.update(ends)
        return found

    def interval(self, name: str) -> tuple[float, float]:
        """From where to where a metric is likely to be; NaN: unknown."""
        return self.standing.intervals.get(name, (math.nan, math.nan))


class Skipped(NamedTuple):
    """A run that could not be compared, and why."""

    recording: str
    error: ValueError


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """What came out.

    ``results`` are by participant, ``by_entity`` by participant and entity. ``origin`` says which
    truth it was, ``notes`` what was cut out of it, and what cannot be measured. ``refused`` are
    packets that have no place on the clock. ``rows`` is how many rows count, of ``all_rows``;
    lengths that differ by less than ``resolution`` do not differ.
    ``tick`` is in seconds, and so are ``warm_ups``, one of each run. ``cells`` are those for
    which results keep sums, ``rare`` is what the network did now and then.

    ``certainty`` is what intervals rest on. Of several ``recordings``, ``results`` are those of
    all together, ``by_recording`` has each one's, ``scenes`` are of the first; ``skipped`` are
    those that could not be compared, ``notes_of`` notes that are not of all. ``findings`` are what
    was found wrong with the recordings themselves.
    """

    weights: Weights
    tick: float
    warm_ups: tuple[float, ...]
    rows: int = 0
    origin: Origin = "rebuilt"
    notes: tuple[Note, ...] = ()
    results: tuple[Result, ...] = ()
    by_entity: tuple[Result, ...] = ()
    scenes: tuple[Scene, ...] = ()
    refused: tuple[Refusal, ...] = ()
    all_rows: int = 0
    resolution: float = 0.0
    cells: Grid | None = None
    certainty: Certainty | None = None
    recordings: tuple[str, ...] = ()
    by_recording: tuple[Result, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes_of: tuple[tuple[str, Note], ...] = ()
    runs_are: Runs = "recordings"
    rare: Rare = Rare()  # noqa: RUF009 - nobody changes it
    findings: tuple[Finding, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of findings that make all of it doubtful."""
        return doubts(self.findings)

    @property
    def turns(self) -> bool:
        """Whether the recording has rotation, and one of the strategies turns."""
        return any(not math.isnan(one.value("angle")) for one in self.results)

    @property
    def advice(self) -> Advice:
        """What the results come to: which strategy, how surely, what it costs."""
        return advice(self.results, self.weights, self.by_recording, bool(self.doubts))
