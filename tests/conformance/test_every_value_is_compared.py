"""Every value in the conformance files is compared by some test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.conformance import FILES
from support.places import TESTS

NAMES = sorted(path.stem for path in FILES)

#: Words about a file, wherever they stand.
WORDS = re.compile(
    r"(^|[._])(columns|commit|conventions|description|disagreement|format|formula|formulas"
    r"|about|inputs|kind|licence|meta|note|op|package|path|paths|precision|provenance"
    r"|provenance_default|repo|repository|rule|shows|tolerance_reason"
    r"|settings|source|system|tests|truth|upstream_assertions?|upstream_invariants"
    r"|upstream_test_file|version)(\.\w+)?$"
)

INDEX = "an index flips by a rounding where a tick falls on a timestamp; positions are compared"
FACTS = "sentences, each of which a test has in its own numbers"
WRITTEN = "an input or a constant, which the test writes out"
SIMULATION = "of the rollback around the clock, and not of the clock"
SMOOTHING = "of what is not drawn: rotations, and the server's own screen"

#: Values that nothing is compared with, by the file and the path, and why.
EXEMPT = {
    "dis_dead_reckoning.errors": "a strategy takes no other model, and a time before a state",
    "dis_dead_reckoning.golden.open_dis_python_error": "how far another program is off",
    "epic_demo.cases.rc": "how the original ended: its input was at its end",
    "epic_library.vectors.count": "the number of the events, which are compared",
    "epic_library.vectors.events.ok": "before the first packet the library's answer says nothing",
    "gaffer.defaults.jitter_buffer_frames": "of the jitter buffer of another program",
    "gaffer.defaults.packets_per_s": "the send rate is the recording's",
    "geckos_functions.interpolate_time_or_percentage": "a time that the strategy never asks for",
    "geckos_functions.lerp": "orientations are not drawn; nor is what is beyond two snapshots",
    "geckos_functions.vault_get.closest": "a look-up that no drawing uses",
    "geckos_streams.clock": "words",
    "geckos_streams.node": "words",
    "geckos_streams.state_fields": "words",
    "geckos_streams.streams.packets": "comes in after the last row",
    "ggpo_timesync.constants.MAX_PREDICTION_FRAMES": "no peer waits for another one here",
    "ggpo_timesync.constants.MIN_UNIQUE_FRAMES": "of idle input, by which no clock is kept here",
    "gh_kalman.kalman_cv.Q": "what the filter makes of the variance, seen in its covariance",
    "gh_kalman.kalman_cv.order": "words",
    "gh_kalman.kalman_cv_position_velocity.measures": "words",
    "gh_kalman.parameters.least_squares": "a filter has no gains before its second packet",
    "gh_kalman.upstream_doc_facts.facts": FACTS,
    "jamesfrowen.streams.rows.buffer_count": INDEX,
    "jamesfrowen.streams.rows.out": "not a number in the original",
    "jamesfrowen.upstream_test_facts.facts": FACTS,
    "mirror_ema.upstream_test_facts.facts": FACTS,
    "mirror_lagcomp.upstream_test_facts.facts": FACTS,
    "mirror_streams.runs.rows.buffer_count": INDEX,
    "mirror_streams.runs.rows.delivery_std": "seen in the buffer time, which is compared",
    "mirror_streams.runs.rows.from_seq": INDEX,
    "mirror_streams.runs.rows.t": INDEX,
    "mirror_streams.runs.rows.to_seq": INDEX,
    "murphy_pvb.upstream_test_facts.facts": FACTS,
    "netfox_lightyear.lightyear.upstream_test_facts.facts": FACTS,
    "netfox_lightyear.netfox.defaults.display_offset": SIMULATION,
    "netfox_lightyear.netfox.defaults.history": SIMULATION,
    "netfox_lightyear.netfox.defaults.input_delay": SIMULATION,
    "netfox_lightyear.netfox.defaults.input_redundancy": SIMULATION,
    "netfox_lightyear.netfox.defaults.max_ticks_per_frame": SIMULATION,
    "netfox_lightyear.netfox.defaults.tickrate": SIMULATION,
    "netfox_lightyear.netfox.upstream_test_facts.facts": FACTS,
    "one_euro.bad_arguments.error": "words",
    "one_euro.ground_truth_check": "how far the package is off",
    "one_euro.ground_truth_first_last.last": "follows from 1,185 rows that are not in the file",
    "quake3_clock_error.no_lerp_when": "words",
    "quake3_clock_error.timenudge.server_time": "words",
    "robocat.defaults": WRITTEN,
    "source_lagcomp_smoothing.backtrack.reason": "words",
    "source_lagcomp_smoothing.defaults.cl_smooth": "a switch; no smoothing is a time of 0 here",
    "source_lagcomp_smoothing.defaults.cl_smoothtime": WRITTEN,
    "source_lagcomp_smoothing.error_rules": FACTS,
    "source_interpolatedvar.hermite.derivative_per_frac": "at the ends the curve goes on elsewhere",
    "streams.streams.packets.id": "there is one entity",
    "unity_ngo_legacy.scenarios.ops": "where the original throws",
    "unity_ngo_legacy.tolerance": "ours is none: bit for bit",
    "unity_ngo_new.lerp_smoothing_run.factor_after": "words",
    "unity_ngo_new.lerp_smoothing_run.factor_before": "words",
    "unreal_smoothing.defaults": SMOOTHING,
    "unreal_smoothing.linear.client_ts0": WRITTEN,
}


def unread_values(folder: Path) -> dict[str, set[str]]:
    """Return, by file, the paths of the values that no test of the file reads."""
    loads = re.compile(r"^from support\.conformance import load$", re.MULTILINE)
    users = sorted(
        str(path) for path in TESTS.rglob("test_*.py") if loads.search(path.read_text("utf-8"))
    )
    written = folder / "unread.json"
    options = ["-q", "-p", "support.reading", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *users],
        env={**os.environ, "PYTHONPATH": str(TESTS), "UNREAD_VALUES": str(written)},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    found: dict[str, list[str]] = json.loads(written.read_text("utf-8"))
    return {name: {re.sub(r"\[\d+\]", "", path) for path in found[name]} for name in found}


@pytest.mark.skipif(
    os.environ.get("EPIC_TESTS") != "exhaustive", reason="runs the tests of these files again"
)
def test_every_value_is_compared(tmp_path: Path) -> None:
    unread = unread_values(tmp_path)
    assert sorted(unread) == NAMES
    values = {name + path for name, paths in unread.items() for path in paths}
    values = {value for value in values if not WORDS.search(value.partition(".")[2])}
    excused = {
        value: reason
        for reason in EXEMPT
        for value in values
        if value == reason or value.startswith(f"{reason}.")
    }
    assert sorted(values - set(excused)) == []
    assert sorted(set(EXEMPT) - set(excused.values())) == []  # no excuse that nobody needs
