"""What a command means by its recordings: files, folders, a truth, or simulated networks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.text.widths import printable
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.network.movement_spec import load_movement
from epic_cli.recordings.opening import (
    MOST_ENTITIES,
    UNUSABLE,
    ReadingLog,
    load,
    read_file,
    source_name,
)
from epic_cli.recordings.read_spec import INFERRED, ReadSpec, begun_together
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages, Reporter

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.evaluation import CompareSpec, Participant, Run
    from epic_cli.metrics.truth import Truth
    from epic_cli.network import RecordedMovement
    from epic_cli.network.link import Way
    from epic_cli.shell.jobs import JobTally
    from epic_cli.shell.options.networks import NetworkOptions
    from epic_cli.shell.options.runs import Inputs, Scoring
    from epic_cli.shell.profiles import Saving
    from epic_cli.show.scene import Selection


class RecordingSpec(NamedTuple):
    """How recordings are read, which ``entity`` (None: all), and whether ``traces`` will do."""

    spec: ReadSpec = INFERRED
    entity: str | None = None
    traces: bool = False

    @classmethod
    def of(cls, inputs: Inputs) -> RecordingSpec:
        """As the command line says; what is 0 is shared with the truth, if there is one."""
        spec = begun_together(inputs.read) if inputs.truth else inputs.read
        return cls(spec, inputs.entity)

    def packets(self, file: str, reporter: ReadingLog) -> dict[str, PacketBlock]:
        """The packets by entity; raises ``CannotAccess``, ``WrongUsage``."""
        if self.traces and (trace := self.trace(file, reporter)) is not None:
            return trace
        return load(file, self.spec, reporter, self.entity, MOST_ENTITIES)

    def trace(self, file: str, reporter: ReadingLog) -> dict[str, PacketBlock] | None:
        """The packets of a recorded network, at the origin; None: it is something else.

        ``entity`` is the flow; ``arrival=owd_up_ms`` alone is the way up. Raises as
        ``packets``.
        """
        columns = self.spec.columns or ()
        up = columns == (("arrival", "owd_up_ms"),)
        regular = os.path.isfile(file)  # noqa: PTH113 - pathlib is slow to load
        if not regular or self.spec.format not in ("auto", "csv") or (columns and not up):
            return None
        from epic_cli.network.trace import recorded, trace_packets

        direction: Way = "up" if up else "down"
        found = read_file(file, lambda stream: recorded(stream, self.entity, direction))
        if found is None:
            return None
        reporter.as_trace(found.words)
        return {self.entity or "": trace_packets(found.trace)}

    def of_one(self) -> RecordingSpec:
        """The same for a single recording, whose first packet is at 0 unless the layout says when.

        The layout can then be shared with a file that is beside the recording.
        """
        if self.spec.beginning is not None:
            return self
        return self._replace(spec=begun_together(self.spec))

    def run(
        self, file: str, reporter: ReadingLog, truths: Mapping[str, Truth] | None = None
    ) -> Run:
        """A recording to be evaluated, with its truth; raises as ``packets``."""
        from epic_cli.metrics.evaluation import Run

        packets = self.packets(file, reporter)
        if any(block.lacks_velocity() for block in packets.values()):
            reporter.estimated()
        return Run(reporter.name, packets, truths, tuple(reporter.watch.findings))

    def identity(self) -> dict[str, Any]:
        """What results depend on, for a journal."""
        beginning = self.spec.beginning
        return {
            "read": self.spec.write(),
            "beginning": beginning.time if beginning is not None else None,
            "entity": self.entity,
        }


def given_truths(
    truth: str | None, offset: float, given: ReadSpec, messages: Messages, color: bool
) -> tuple[Mapping[str, Truth] | None, bool]:
    """The ``truth`` (a file) by entity, if there is one, and whether lines of it were refused.

    ``given`` is how the recordings are read beside it.
    """
    from epic_cli.metrics.notes import why
    from epic_cli.metrics.truth import truths_of
    from epic_cli.recordings.read_spec import STATE

    if truth is None:
        return None, False
    name = source_name(truth)
    with Reporter(name, messages, color) as reporter:
        states = load(truth, given.beside(STATE), reporter)
    truths, missing = truths_of(states, "given", offset)
    for note in missing:
        place = f"{name}: {note.entity}" if note.entity else name
        reporter.say(f"epic: {printable(place)}: {printable(why(note))}\n")
    if not truths:
        raise WrongUsage(str(NotEnoughToSay(f"{name} has no movement to compare with")))
    return truths, reporter.refused


def recorded_runs(
    names: Sequence[str],
    inputs: Inputs,
    tally: JobTally,
    messages: Messages,
    color: bool,
    saving: Saving | None,
    traces: bool = False,
) -> list[Run]:
    """The recordings of these names, all in memory, each with the truth that is given.

    Raises ``WrongUsage`` and ``CannotAccess`` for the only one; of several it is reported, and the
    others are taken.
    """
    reading = RecordingSpec.of(inputs)._replace(traces=traces)
    truth, offset = inputs.real
    truths, tally.refused = given_truths(truth, offset, reading.spec, messages, color)
    runs = []
    for file in names:
        try:
            with Reporter(source_name(file), messages, color) as reporter:
                runs.append(reading.of_one().run(file, reporter, truths))
                reporter.save(saving, inputs.read)
            tally.refused |= reporter.refused
        except UNUSABLE as error:
            if len(names) == 1:
                raise
            tally.leave_out(error)
    return runs


def compare_spec(
    participants: Sequence[Participant],
    inputs: Inputs,
    network: NetworkOptions,
    timing: Timing,
    scoring: Scoring,
    selection: Selection | None = None,
    threads: int | None = None,
) -> CompareSpec:
    """What ``epic compare`` is asked for, of recordings or of simulated networks."""
    from epic_cli.metrics.evaluation import CompareSpec

    simulates = network.simulates
    return CompareSpec(
        participants,
        timing if simulates else network.with_latency(timing),
        scoring.weighing.weights,
        inputs.truth_offset,
        scoring.warm_up,
        selection,
        seed=network.seed,
        threads=threads,
        total=len(network.all_seeds) if simulates else 1,
        runs_are="networks" if simulates else "recordings",
        aim_range=scoring.weighing.aim_range,
    )


def simulated_runs(
    network: NetworkOptions,
    inputs: Inputs,
    messages: Messages,
    load: Callable[..., RecordedMovement] | None = None,
) -> Iterator[Run]:
    """A run for each seed; raises what reading the movement or the network raises.

    ``load`` reads the movement, if not as the ``inputs`` say.
    """
    from epic_cli.metrics.evaluation import simulated

    log = partial(Reporter, messages=messages)
    load = load or partial(load_movement, spec=inputs.read, log=log)
    return simulated(network.simulation.open(load), network.all_seeds)
