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

from epic_cli.metrics import METRICS, find_metric
from epic_cli.show.metric_list import describe_metrics

#: One more entry, with an interval of what it adds up over rows, and then the command line.
ONE_MORE = """
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
sys.exit(main(sys.argv[1:]))
"""


def extended(*args: str | Path) -> str:
    """Return the output of ``epic compare`` with one more metric declared."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_MORE, "compare", *args],
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def compared(*args: str | Path) -> str:
    return extended(SAMPLES / "turn.txt", "-s", "epic,lerp,dumb-terminal", *args)


def test_one_more_metric_is_in_every_format() -> None:
    rows = list(csv.DictReader(io.StringIO(compared("--format", "csv"))))
    values = [float(row["mean_error"]) for row in rows]
    assert all(0 < one < float(row["error"]) for one, row in zip(values, rows, strict=True))
    lines = [json.loads(line) for line in compared("--format", "jsonl").splitlines()]
    assert [line["mean_error"] for line in lines] == values
    head, _, *cells = compared("--format", "markdown").splitlines()[2:7]
    assert head.endswith("| mean |")
    shown = [f"<{value:.1f}>" for value in values]
    assert [unescape(line.split("|")[-2].strip(" *")) for line in cells] == shown
    table = compared("--full")
    assert re.search(r"^strategy .* mean\b", table, re.MULTILINE)
    assert all(name in table for name in shown)


def test_one_more_metric_has_an_interval() -> None:
    found = extended(SAMPLES / "jitter.txt", "-s", "epic,lerp", "--format", "csv")
    for row in csv.DictReader(io.StringIO(found)):
        low, value, high = (float(row[f"mean_error{end}"]) for end in ("_low", "", "_high"))
        assert low < value < high


def test_one_more_metric_is_in_the_help() -> None:
    text = extended("--help-all")
    assert re.search(r"^ *mean_error +mean +the mean distance from the truth", text, re.MULTILINE)


def test_one_more_metric_is_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    compared("--html", page)
    metric = '"title":"mean","name":"mean_error","meaning":"the mean distance from the truth"'
    assert metric in page.read_text()


def test_the_help_lists_every_metric_and_fits_a_terminal() -> None:
    lines = describe_metrics()
    listed = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert listed == [metric.name for metric in METRICS]
    assert max(map(len, lines)) <= 76


def test_names_are_one_word_each_and_differ() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert find_metric("none").name == "none"
    with pytest.raises(KeyError):
        find_metric("given")
