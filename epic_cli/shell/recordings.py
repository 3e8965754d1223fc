"""The command line's recordings and networks as a value, and the reporters of their reading."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from epic_cli.metrics.evaluation import CompareSpec, Participant
from epic_cli.metrics.inputs import RecordedRuns, RecordingSpec, RunInputs, SimulatedRuns
from epic_cli.network.movement_spec import load_movement
from epic_cli.recordings.opening import list_recordings
from epic_cli.shell.console import ColorChoice, use_color
from epic_cli.shell.errors import WrongUsage
from epic_cli.shell.messages import Messages, Reporter

if TYPE_CHECKING:
    from epic_cli.engine.replay.playback import Timing
    from epic_cli.metrics.metric import Weighing
    from epic_cli.recordings.opening import Logs
    from epic_cli.shell.options.networks import NetworkOptions
    from epic_cli.shell.options.runs import Inputs, TimedFile
    from epic_cli.shell.profiles import Saving
    from epic_cli.show.scene import Selection


def make_reporters(messages: Messages, color: ColorChoice, saving: Saving | None = None) -> Logs:
    """Return a function that makes the reporter of a recording, which any process can call."""
    colored = use_color(color, sys.stderr)
    return partial(Reporter, messages=messages, color=colored, saving=saving)


def list_given_runs(
    inputs: Inputs,
    network: NetworkOptions,
    messages: Messages,
    drawn: TimedFile | None = None,
    traces: bool = False,
) -> RunInputs:
    """Return the recordings or simulated networks that the command line gives.

    Raises ``WrongUsage``, ``SettingError``, ``UNUSABLE``, ``Overwrites``.
    """
    network.check(inputs.recordings, inputs.truth)
    file, offset = (drawn.file, drawn.offset) if drawn else (None, 0.0)
    if network.simulates:
        if file is not None:
            raise WrongUsage("--drawn belongs to one recording, not to simulated networks", "drawn")
        load = partial(load_movement, spec=inputs.read, log=partial(Reporter, messages=messages))
        return SimulatedRuns(network.simulation, network.all_seeds, load)
    names = list_recordings(inputs.recordings, inputs.truth)
    reading = RecordingSpec(inputs.read, inputs.entity, traces)
    return RecordedRuns(tuple(names), reading, inputs.truth, file, offset)


def compare_spec(
    participants: Sequence[Participant],
    inputs: Inputs,
    network: NetworkOptions,
    timing: Timing,
    weighing: Weighing,
    warm_up: float | None,
    selection: Selection | None = None,
    threads: int | None = None,
) -> CompareSpec:
    """Return the comparison that the command line asks for."""
    return CompareSpec(
        participants,
        timing if network.simulates else network.apply_latency(timing),
        weighing.weights,
        inputs.truth_offset,
        warm_up,
        selection,
        seed=network.seed,
        threads=threads,
        aim_range=weighing.aim_range,
    )
