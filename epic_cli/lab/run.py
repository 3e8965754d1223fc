"""The bench of the lab: what an experiment comes to, first what is drawn, then the figures.

An experiment is read by the options of ``epic compare`` itself, and computed by what computes
that command, so that the line of the command makes the same figures.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.replay import TooManyRows
from epic_cli.engine.replay.playback import Timing
from epic_cli.lab.spec import BY_HAND, NOTHING, LabInputs, LabSpec, by_hand_file
from epic_cli.metrics.evaluation import compare, prepare, scenes_of
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.network import read_movement
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import source_name
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import FrontEnd
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.configuration import give_defaults
from epic_cli.shell.declared import shared, with_options
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages, Reporter
from epic_cli.shell.options.common import screen_timing_options
from epic_cli.shell.options.networks import NetworkOptions
from epic_cli.shell.options.runs import Inputs, Participants, Scoring
from epic_cli.shell.recordings import RecordingSpec, compare_spec, simulated_runs
from epic_cli.shell.refused_lines import in_three_lines
from epic_cli.show.scene import Selection

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.metrics.evaluation import CompareSpec, Run
    from epic_cli.network import RecordedMovement
    from epic_cli.show.scene import Scene


#: Seconds and packets of a path, seconds of a frame: who moves sliders does not wait for more.
LONGEST, MOST_PACKETS, SHORTEST_TICK = 600.0, 100_000, Fraction(1, 1000)


class Superseded(Exception):
    """A newer experiment has taken its place."""


class InvalidExperiment(ValueError):
    """An experiment that cannot be made, and why."""


@dataclass(frozen=True)
class Experiment:
    """An experiment that has been read: what is compared, and over what."""

    lab: LabSpec
    spec: CompareSpec
    inputs: Inputs
    network: NetworkOptions
    scoring: Scoring

    def runs(self) -> Iterator[Run]:
        """A run for each network, or the recording."""
        if not self.lab.simulated:
            return iter([_read(_as_packets, *self.inputs.recordings)])

        def load(file: str, **_: Any) -> RecordedMovement:
            found: RecordedMovement = _read(_as_movement, file)
            return found

        return simulated_runs(self.network, self.inputs, Messages(quiet=True), load)


@click.command("compare")
@with_options
def _words(
    inputs: Inputs = shared(Inputs),
    participants: Participants = shared(Participants),
    network: NetworkOptions = shared(NetworkOptions),
    timing: Timing = shared(screen_timing_options),
    scoring: Scoring = shared(Scoring),
) -> tuple[CompareSpec, Inputs, NetworkOptions, Scoring]:
    network.check(inputs.recordings, inputs.truth)
    selection = Selection()
    spec = compare_spec(participants.specs(), inputs, network, timing, scoring, selection)
    return spec, inputs, network, scoring


class ExperimentRunner:
    """Reads and computes experiments on what is given; for one thread at a time."""

    def __init__(self, given: LabInputs = NOTHING) -> None:
        self._command, _ = give_defaults(_words, {name: partial(load, name) for name in COMMANDS})
        self._folder = tempfile.TemporaryDirectory(prefix="epic-lab-")
        by_hand = os.path.join(self._folder.name, "by-hand.csv")  # noqa: PTH118
        self._given = given._replace(by_hand=by_hand)
        self._last: tuple[LabSpec, Run] | None = None

    def close(self) -> None:
        """Removes what it has written."""
        self._folder.cleanup()

    def read(self, lab: LabSpec) -> Experiment:
        """An experiment ready to be made; raises ``InvalidExperiment``."""
        if lab.moves == BY_HAND:
            Path(self._given.by_hand).write_bytes(by_hand_file(lab.points))
        try:
            words = lab.arguments(self._given)
            spec, inputs, network, scoring = self._command.main(words, standalone_mode=False)
            movement = network.movement
            if (
                movement
                and not movement.truth
                and (
                    movement.seconds > LONGEST
                    or (network.send.hertz(recorded=False) or 0.0) * movement.seconds > MOST_PACKETS
                )
            ):
                raise InvalidExperiment(
                    f"the lab sends up to {LONGEST:g} s, and {MOST_PACKETS:,} packets; the command"
                    " takes more"
                )
            if (tick := Fraction(*spec.timing.tick)) < SHORTEST_TICK:
                raise InvalidExperiment(
                    f"{float(tick):g} s between rows: the lab takes 1 ms or more"
                )
            return Experiment(lab, spec, inputs, network, scoring)
        except (click.UsageError, WrongUsage, CannotAccess, ValueError) as error:
            raise InvalidExperiment(_words_of(error)) from error

    def picture(self, experiment: Experiment) -> list[Scene]:
        """What is drawn over the first network; raises ``InvalidExperiment``."""
        one = replace(experiment.spec, total=1)
        sent = replace(experiment.lab, strategies=(), networks=1)

        def scenes() -> list[Scene]:
            if self._last is None or self._last[0] != sent:  # else only a strategy is another one
                self._last = sent, next(experiment.runs())
            return scenes_of(prepare(self._last[1], one), one)

        found: list[Scene] = _possible(scenes)
        return found

    def figures(
        self,
        experiment: Experiment,
        superseded: Callable[[], bool] = lambda: False,
        pictured: bool = True,
    ) -> Comparison:
        """The comparison, with scenes if ``pictured``.

        Raises ``InvalidExperiment`` and ``Superseded``.
        """
        threads = max(1, (os.cpu_count() or 1) - 1)  # a core is the picture's
        selection = experiment.spec.selection if pictured else None
        spec = replace(experiment.spec, threads=threads, selection=selection)

        def runs() -> Iterator[Run]:
            for run in experiment.runs():
                progress()
                yield run

        def progress(*_: int) -> None:
            if superseded():
                raise Superseded

        found: Comparison = _possible(lambda: compare(runs(), spec, progress))
        return found


def _possible(job: Callable[[], Any]) -> Any:
    try:
        return job()
    except NotEnoughToSay as error:
        raise InvalidExperiment(str(error)) from error
    except TooManyRows as error:
        raise InvalidExperiment(f"{error} for one entity") from error
    except (WrongUsage, CannotAccess, OSError, ValueError) as error:
        raise InvalidExperiment(str(error)) from error


def _words_of(error: Exception) -> str:
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def _as_packets(file: str, reporter: Reporter) -> Run:
    return RecordingSpec().of_one().run(file, reporter)


def _as_movement(file: str, reporter: Reporter) -> RecordedMovement:
    with Path(file).open("rb") as stream:
        return read_movement(stream, spec=ReadSpec(rebase_time=True), look=reporter.observe)


def _read(kind: Callable[[str, Reporter], Any], file: str) -> Any:
    return _read_once(kind, file, Path(file).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_once(kind: Callable[[str, Reporter], Any], file: str, changed: int) -> Any:
    """The file, until it changes; raises ``InvalidExperiment`` for a line that is refused."""
    del changed
    name = source_name(file)
    try:
        with Reporter(name, Messages(quiet=True)) as reporter:
            return kind(file, reporter)
    except TableRefusal as refused:
        problem = refused.worded(FrontEnd.COMMAND_LINE)
        raise InvalidExperiment(in_three_lines(problem, name, False)) from None
