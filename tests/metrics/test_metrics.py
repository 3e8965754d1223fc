"""Tests that everything that shows metrics shows a newly declared metric."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import environment

from epic_cli.metrics import METRICS
from epic_cli.show.metric_list import describe_metrics

#: One more entry, with an interval of what it adds up over rows, and then several commands.
ONE_MORE = """
import json
import os
import sys
import numpy as np
from epic_cli import metrics
from epic_cli.metrics.metric import Metric
entry = Metric(
    "mean_error",
    "the mean distance from the truth",
    lambda measured: measured.mean("distances"),
    title="mean",
    unit="length",
    format=lambda value: f"<{value:.1f}>",
    weight=9,
    interval=True,
    sums={"distances": lambda drawn: np.linalg.norm(drawn.shown - drawn.truth.positions, axis=1)},
)
metrics.METRICS += (entry,)
metrics.SUMS.update(entry.sums)
from epic_cli.main import main
for name, words in json.loads(sys.argv[1]).items():
    with open(name, "w") as file:
        os.dup2(file.fileno(), 1)
        assert main(words) == 0
        sys.stdout.flush()
"""
THREE = [str(SAMPLES / "turn.txt"), "-s", "epic,lerp,dumb-terminal"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what ``epic compare`` writes with one more metric declared."""
    folder = tmp_path_factory.mktemp("more")
    commands = {
        **{kind: ["compare", *THREE, "--format", kind] for kind in ("csv", "jsonl", "markdown")},
        "table": ["compare", *THREE, "--full"],
        "text": ["compare", *THREE, "--html", "page"],
        "intervals": ["compare", str(SAMPLES / "jitter.txt"), "-s", "epic,lerp", "--format", "csv"],
        "help": ["compare", "--help-all"],
    }
    done = subprocess.run(
        [sys.executable, "-c", ONE_MORE, json.dumps(commands)],
        cwd=folder,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_one_more_metric_is_in_every_format(shown: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((shown / "csv").read_text())))
    values = [float(row["mean_error"]) for row in rows]
    assert all(0 < one < float(row["error"]) for one, row in zip(values, rows, strict=True))
    lines = [json.loads(line) for line in (shown / "jsonl").read_text().splitlines()]
    assert [line["mean_error"] for line in lines] == values
    head, _, *cells = (shown / "markdown").read_text().splitlines()[2:7]
    assert head.endswith("| mean |")
    written = [f"<{value:.1f}>" for value in values]
    assert [unescape(line.split("|")[-2].strip(" *")) for line in cells] == written
    table = (shown / "table").read_text()
    assert re.search(r"^strategy .* mean\b", table, re.MULTILINE)
    assert all(name in table for name in written)


def test_the_help_lists_every_metric_and_fits_a_terminal() -> None:
    lines = describe_metrics()
    listed = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert listed == [metric.name for metric in METRICS]
    assert max(map(len, lines)) <= 76
