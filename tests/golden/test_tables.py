"""The rows of every strategy on every sample recording: cases, which epic's pytest plugin collects.

``pytest tests/golden --epic-accept`` writes the rows again after a change that is meant; read them
with ``git diff``.
"""

import pytest
from support.places import GOLDEN, SAMPLES

from epic_cli.jobs.check.case_file import read_case

CASES = sorted((GOLDEN / "strategies").glob("*/case.toml"))


def test_every_sample_has_its_case() -> None:
    samples = {path.name for path in SAMPLES.iterdir() if path.suffix in (".txt", ".csv", ".jsonl")}
    drawn = {
        recording.name.rpartition("/")[2]
        for path in CASES
        for recording in read_case(str(path)).drawing.recordings
    }
    assert samples - drawn == {"airliner.csv", "broken.txt", "match.csv", "own_player.txt"}


def test_the_plugin_collects_them(request: pytest.FixtureRequest) -> None:
    # an installation from before the plugin does not know of it: pip install -e '.[test]'
    assert request.config.pluginmanager.has_plugin("epic")
