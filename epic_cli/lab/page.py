"""The lab's page: the parts of a page of ``--html``, and the lab's own parts in ``parts/``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from epic_cli.engine.strategies import get_declaration, list_remote_names, list_system_names
from epic_cli.engine.strategies.systems import compositions
from epic_cli.jobs.code.command import LANGUAGES
from epic_cli.jobs.code.spec import strategies
from epic_cli.jobs.compare.report import report
from epic_cli.lab.run import Experiment, ExperimentRunner
from epic_cli.lab.spec import (
    BY_HAND,
    GROUPS,
    NOTHING,
    OPENING,
    RECORDED,
    RECORDING,
    SCORE,
    STEPS,
    LabInputs,
)
from epic_cli.live.browser.session import MOST_STRATEGIES
from epic_cli.metrics.inputs import SimulatedRuns
from epic_cli.metrics.metric import GAMES
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import RECORDED as AS_RECORDED
from epic_cli.network.sender import USUAL_RATE
from epic_cli.network.simulation import SimulationSpec
from epic_cli.show.page import (
    PAGE,
    PageParts,
    describe_control,
    make_content,
    make_page_data,
    write_value,
)

if TYPE_CHECKING:
    from epic_cli.metrics.comparison import Comparison
    from epic_cli.show.page import Pack

#: The page of scenes, with sliders.
LAB = PageParts(
    (*PAGE.scripts, "controls", "talk", "experiment"),
    ("lab", "page"),
    ("page", "controls", "lab"),
    files("epic_cli.lab") / "parts",
)


#: The controls that are always visible, and the others by topic.
FRONT = ("loss", "jitter", "latency", "send_rate")
FOLDS = {
    "A network by name": ("preset",),
    "The path": ("speed", "size", "turning", "duration"),
    "When a state is sent": ("threshold", "angle_threshold", "against", "at_least", "budget"),
    "Encoding": (
        "layout", "quantize", "quantize_velocity", "bits", "range", "velocity", "rotation",
        "rotation_bits", "pack", "redundancy", "repeats", "separate", "mtu",
    ),
    "The sender's clock": ("clock_offset", "clock_drift"),
    "Distribution of delays": ("distribution", "correlation", "in_order"),
    "Bursts, duplicates, corruption": (
        "gemodel", "loss_correlation", "duplicate", "corrupt"
    ),
    "Reordering": ("reorder", "reorder_gap", "reorder_correlation"),
    "Bandwidth": ("rate", "queue", "packet_size"),
    "Score": ("weights", "tick", "seed"),
}  # fmt: skip


@lru_cache(maxsize=1)
def make_lab_page(given: LabInputs = NOTHING) -> str:
    """Return the lab's page, which shows the default experiment until its own is computed."""
    return LAB.write_html("epic lab", _make_data(given))


def _make_data(given: LabInputs) -> dict[str, Any]:
    with closing(ExperimentRunner(given)) as runner:
        data = make_comparison_data(runner.compute_comparison(runner.read(OPENING)))
    return {**data, "title": "epic lab", "lab": list_controls(given)}


def make_comparison_data(found: Comparison, pack: Pack | None = None) -> dict[str, Any]:
    """Return the data of a page of ``--html`` without the picture of scores."""
    content = make_content(found, report(found, "given"))
    return make_page_data(found.scenes, replace(content, scores=""), pack)


def list_controls(given: LabInputs = NOTHING) -> dict[str, Any]:
    """Return the description of all controls of an experiment, for the page."""
    recording = Path(given.recording).name
    ways = {RECORDING: f"{recording}, as it arrived", RECORDED: f"{recording}, sent again"}
    placed = {"path", *FRONT, *(name for names in FOLDS.values() for name in names)}
    rest = [each.name for group in GROUPS.values() for each in group if each.name not in placed]
    return {
        "moves": {
            **(ways if recording else {}),
            **{path: path for path in PATHS},
            BY_HAND: "drawn",
        },
        "simulated": [RECORDED, *PATHS, BY_HAND],
        "groups": {
            name: [describe_control(parameter) for parameter in group if parameter.name != "path"]
            for name, group in GROUPS.items()
        },
        "strategies": {
            name: _describe_strategy(name)
            for name in (*list_remote_names(), *list_system_names(), *given.own)
        },
        "front": FRONT,
        "folds": {**FOLDS, **({"Other settings": rest} if rest else {})},
        "opening": OPENING.query(),
        "start": given.start(),
        "languages": LANGUAGES,
        "coded": [
            *strategies(),
            *(name for name, one in compositions().items() if one.base in strategies()),
        ],
        "most": MOST_STRATEGIES,
        "steps": list(STEPS),
    }


def _describe_strategy(name: str) -> dict[str, Any]:
    declared = get_declaration(name)
    return {
        "help": declared.summary,
        "settings": [
            {**describe_control(setting), "value": str(setting.default)}
            for setting in declared.settings
        ],
    }


def list_values(experiment: Experiment) -> dict[str, str]:
    """Return the value of each control: the experiment's, its preset's, or the default."""
    given, spec = experiment.job.runs, experiment.job.how
    network = given.simulation if isinstance(given, SimulatedRuns) else SimulationSpec()
    movement = network.movement
    recorded = movement.truth is not None or not experiment.lab.simulated
    game = next((game.name for game in GAMES if game.weights == spec.weights), None)
    holders: dict[str, object] = {
        "movement": movement,
        "send": network.send,
        "link": network.link.ways.down,
        SCORE: SimpleNamespace(
            weights=game, tick=spec.timing.tick, pacing=spec.timing.pacing, seed=spec.seed
        ),
    }
    found = {}
    for name, group in GROUPS.items():
        for parameter in group:
            if parameter.name in ("path", "preset"):
                continue
            found[parameter.name] = write_value(parameter, holders[name])
            if parameter.name == "send_rate" and not found[parameter.name]:
                found[parameter.name] = parameter.write(AS_RECORDED if recorded else USUAL_RATE)
            if parameter.name == "duration" and not recorded:
                found[parameter.name] = parameter.write(movement.seconds)
    found["preset"] = dict(experiment.lab.values).get("preset", "")
    return found
