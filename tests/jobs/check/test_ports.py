"""The guide's ports pass, and wrong ports are distinguished in words.

Building five programs takes about two seconds, once.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.places import ROOT, STREAMS
from support.ports import WRONG, build, example, script, wrong
from support.recordings import EXHAUSTIVE

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.check.case_file import make_builtin_cases
from epic_cli.jobs.check.outcome import Outcome
from epic_cli.jobs.check.port import Port
from epic_cli.jobs.check.report import explain_failure
from epic_cli.jobs.check.run import check
from epic_cli.jobs.check.spec import CheckSpec, DrawSpec

pytestmark = pytest.mark.skipif(
    not shutil.which(os.environ.get("CXX", "g++").split()[0]), reason="needs a compiler"
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    sources = {name: wrong(name) for name in WRONG}
    return build(tmp_path_factory.mktemp("ports"), right=example("cpp"), **sources)


def outcomes(
    command: str, strategy: str, feed: str, timing: Timing, *, every: int = 1
) -> list[Outcome]:
    """Return the outcomes of every so many of the built-in cases."""
    drawing = DrawSpec((), tuple(read_specs([strategy]))).replace_fields(timing=timing)
    spec = CheckSpec(Port(tuple(command.split()), 300.0), feed)
    return [check(case, spec) for case in make_builtin_cases(drawing)[::every]]


def test_the_cpp_of_the_guide_is_right(programs: dict[str, Path]) -> None:
    for outcome in outcomes(str(programs["right"]), "epic", "text", Timing(pacing="demo")):
        assert outcome.holds, explain_failure(outcome)
        assert outcome.rows > 20
        assert outcome.ignored == ("status", "entity")


def test_the_python_of_the_guide_is_right(tmp_path: Path) -> None:
    command = script(tmp_path, example("py"))
    for outcome in outcomes(
        command, "dumb-terminal", "jsonl", Timing((1, 60)), every=1 if EXHAUSTIVE else 5
    ):
        assert outcome.holds, explain_failure(outcome)


def test_the_streams_are_installed_with_the_program() -> None:
    import tomllib

    assert STREAMS.stat().st_size < 40_000
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert STREAMS.name in settings["tool"]["setuptools"]["package-data"]["epic_cli.jobs.check"]
    assert len(make_builtin_cases(DrawSpec((), ()))) == 46
