"""The way from two logs of a game, the sample ``boats``, to code that draws in the game."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.places import ROOT, SAMPLES
from support.running import epic

GAME = SAMPLES / "boats"
GUIDE = ROOT / "epic_cli/jobs/code/README.md"

pytestmark = pytest.mark.skipif(
    shutil.which("tsc") is None or shutil.which("node") is None, reason="tsc or node is missing"
)


def play(folder: Path) -> None:
    """Run the game, which has been built."""
    done = subprocess.run(
        ["node", "boats.js"], check=False, cwd=folder, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_game_writes_its_logs_and_draws_by_the_code_that_the_guide_puts_into_it(
    tmp_path: Path,
) -> None:
    plain, smooth = tmp_path / "plain", tmp_path / "smooth"
    for folder in (plain, smooth):
        folder.mkdir()
        shutil.copy(GAME / "boats.ts", folder)
    guide = GUIDE.read_text()
    written = re.search(r"^\$ epic code (\S+) --lang typescript", guide, re.M)
    lines = re.search(r"(?s)```ts\n(import[^\n]*\n)\n(.*?)```", guide)
    assert written
    assert lines
    game = re.sub(
        r"(?s)// What tutorials teach.*?\n}\n", lambda _: lines[2], (GAME / "boats.ts").read_text()
    )
    (smooth / "boats.ts").write_text(lines[1] + game)
    made = epic("code", written[1], "--lang", "typescript", "-o", smooth / "smoothing.ts")
    assert made.returncode == 0
    build = "tsc --strict --target es2020 --module commonjs plain/boats.ts smooth/boats.ts"
    done = subprocess.run(
        build.split(), check=False, cwd=tmp_path, capture_output=True, timeout=120
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    play(plain)
    for name in ("net.csv", "draw.csv"):
        assert (plain / name).read_bytes() == (GAME / name).read_bytes(), name
    play(smooth)
    logs = ("--drawn", smooth / "draw.csv", smooth / "net.csv")
    found = json.loads(epic("diagnose", *logs, "-f", "jsonl").stdout.splitlines()[-1])["drawn"]
    assert (found["kind"], found["clock"]) == ("buffer", "min")
    assert found["low_pass_s"] == pytest.approx(0.03, rel=0.01)
    assert found["residual_of_step"] < 0.002
