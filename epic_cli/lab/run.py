"""The lab's experiments: first the picture, then the metrics.

An experiment is read by the options of ``epic compare`` itself, and computed by that command's
functions, so that the line of the command gives the same metrics.
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
from epic_cli.jobs.compare.spec import CompareJob
from epic_cli.lab.spec import BY_HAND, NOTHING, LabInputs, LabSpec, write_points
from epic_cli.metrics.evaluation import Run, compare, draw_scenes, prepare
from epic_cli.metrics.inputs import RecordedRuns, RecordingSpec, SimulatedRuns
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.network.movement_spec import load_movement
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import ReadingLog
from epic_cli.recordings.tables import TableRefusal
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS
from epic_cli.shell.configuration import give_defaults
from epic_cli.shell.declared import add_options, declare_shared
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages
from epic_cli.shell.options.common import screen_timing_options
from epic_cli.shell.options.networks import NetworkOptions
from epic_cli.shell.options.runs import (
    Inputs,
    Participants,
    Scoring,
    TimedFile,
    make_drawn_option,
)
from epic_cli.shell.recordings import compare_spec, list_given_runs
from epic_cli.shell.refused_lines import describe_refusal
from epic_cli.show.scene import Scene, Selection

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.network.simulation import SimulationSpec


#: The most seconds and packets of a path, and the shortest tick, so that sliders stay quick.
LONGEST, MOST_PACKETS, SHORTEST_TICK = 600.0, 100_000, Fraction(1, 1000)


class Superseded(Exception):
    """An error: a newer experiment has replaced this one, whose computation stops."""


class InvalidExperiment(ValueError):
    """An error: the experiment cannot be computed, for the reason in the message."""


@dataclass(frozen=True)
class Experiment:
    """A parsed experiment: its query's values, and the comparison as a job."""

    lab: LabSpec
    job: CompareJob

    @property
    def labels(self) -> list[str]:
        """The labels of all participants, what the game drew included."""
        return [participant.label for participant in self.job.how.participants]

    def list_runs(self) -> Iterator[Run]:
        """Return a run for each network, or a single run for the recording.

        A file is read again only if it changes.
        """
        given = self.job.runs
        if isinstance(given, RecordedRuns):
            return iter([_read_recorded_run(given)])
        return iter(replace(given, load=lambda file, **_: _read_cached_run(load_movement, file)))


_drawn_option = make_drawn_option("")


@click.command("compare")
@add_options
def _parse_words(
    inputs: Inputs = declare_shared(Inputs),
    participants: Participants = declare_shared(Participants),
    network: NetworkOptions = declare_shared(NetworkOptions),
    drawn: TimedFile = declare_shared(_drawn_option),
    timing: Timing = declare_shared(screen_timing_options),
    scoring: Scoring = declare_shared(Scoring),
) -> CompareJob:
    given = list_given_runs(inputs, network, Messages(quiet=True), drawn)
    shown = None if drawn.file is None else _read_recorded_run(given).drawn
    how = compare_spec(
        [*participants.list_specs(), *([shown] if shown else [])],
        inputs,
        network,
        timing,
        scoring.weighing,
        scoring.warm_up,
        Selection(),
    )
    return CompareJob(given, how)


class ExperimentRunner:
    """A runner of experiments on the given inputs; one thread at a time."""

    def __init__(self, given: LabInputs = NOTHING) -> None:
        self._command, _ = give_defaults(
            _parse_words, {name: partial(load, name) for name in COMMANDS}
        )
        self._folder = tempfile.TemporaryDirectory(prefix="epic-lab-")
        by_hand = os.path.join(self._folder.name, "by-hand.csv")  # noqa: PTH118
        self._given = given._replace(by_hand=by_hand)
        self._last: tuple[LabSpec, Run] | None = None

    def close(self) -> None:
        """Remove the temporary files."""
        self._folder.cleanup()

    def read(self, lab: LabSpec) -> Experiment:
        """Return the parsed experiment; raise ``InvalidExperiment``."""
        if lab.moves == BY_HAND:
            Path(self._given.by_hand).write_bytes(write_points(lab.points))
        try:
            words = lab.list_arguments(self._given)
            job = self._command.main(words, standalone_mode=False)
            if isinstance(job.runs, SimulatedRuns):
                _check_length(job.runs.simulation)
            if (tick := Fraction(*job.how.timing.tick)) < SHORTEST_TICK:
                raise InvalidExperiment(
                    f"tick: {float(tick):g} s is too short: the lab needs 1 ms or more"
                )
            return Experiment(lab, job)
        except (click.UsageError, WrongUsage, CannotAccess, ValueError) as error:
            raise InvalidExperiment(_format_error(error)) from error

    def draw_picture(self, experiment: Experiment) -> list[Scene]:
        """Return the scenes of the first network; raise ``InvalidExperiment``."""
        one = replace(experiment.job.how, total=1)
        sent = replace(experiment.lab, strategies=(), networks=1)

        def make_scenes() -> list[Scene]:
            if self._last is None or self._last[0] != sent:  # else only a strategy changed
                self._last = sent, next(experiment.list_runs())
            return draw_scenes(prepare(self._last[1], one), one)

        found: list[Scene] = _convert_errors(make_scenes)
        return found

    def compute_comparison(
        self,
        experiment: Experiment,
        superseded: Callable[[], bool] = lambda: False,
        pictured: bool = True,
    ) -> Comparison:
        """Compute the comparison, with scenes if ``pictured``.

        Raise ``InvalidExperiment`` and ``Superseded``.
        """
        threads = max(1, (os.cpu_count() or 1) - 1)  # one core draws the picture
        selection = experiment.job.how.selection if pictured else None
        spec = replace(experiment.job.how, threads=threads, selection=selection)

        def iterate_runs() -> Iterator[Run]:
            for run in experiment.list_runs():
                report_progress()
                yield run

        def report_progress(*_: int) -> None:
            if superseded():
                raise Superseded

        found: Comparison = _convert_errors(lambda: compare(iterate_runs(), spec, report_progress))
        return found


def _convert_errors(job: Callable[[], Any]) -> Any:
    try:
        return job()
    except NotEnoughToSay as error:
        raise InvalidExperiment(str(error)) from error
    except TooManyRows as error:
        raise InvalidExperiment(f"{error} for one entity") from error
    except (WrongUsage, CannotAccess, OSError, ValueError) as error:
        raise InvalidExperiment(str(error)) from error


def _format_error(error: Exception) -> str:
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def _check_length(simulation: SimulationSpec) -> None:
    movement, rate = simulation.movement, simulation.send.get_rate(recorded=False) or 0.0
    if not movement.truth and (
        movement.seconds > LONGEST or rate * movement.seconds > MOST_PACKETS
    ):
        raise InvalidExperiment(
            f"the lab sends at most {LONGEST:g} s and {MOST_PACKETS:,} packets; 'epic compare'"
            " sends more"
        )


def _read_recording(file: str, drawn: str | None, offset: float) -> Run:
    with ReadingLog(file) as log:
        return RecordedRuns((file,), RecordingSpec(), None, drawn, offset).run(
            file, log, None, ReadingLog
        )


def _read_recorded_run(given: Any) -> Run:
    """Read the recording, and the positions that the game drew for it."""
    found: Run = _read_cached_run(
        _read_recording, *given.recordings, given.drawn, given.drawn_offset
    )
    return found


def _read_cached_run(kind: Callable[..., Any], *about: Any) -> Any:
    files = (Path(file) for file in about if isinstance(file, str))
    return _read_files(kind, about, tuple(file.stat().st_mtime_ns for file in files))


@lru_cache(maxsize=2)
def _read_files(kind: Callable[..., Any], about: tuple[Any, ...], changed: tuple[int, ...]) -> Any:
    """Return what is read from files, again only if they changed.

    Raise ``InvalidExperiment`` for a refused line.
    """
    del changed
    try:
        return kind(*about)
    except TableRefusal as refused:
        raise InvalidExperiment(describe_refusal(refused)) from None
