"""Folders of the tests' data."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
CONFORMANCE = TESTS / "conformance"
GOLDEN = TESTS / "golden"
SAMPLES = ROOT / "sample_inputs"

#: The streams that strategies are tested with, and ports: they are installed with the program.
STREAMS = ROOT / "epic_cli" / "jobs" / "check" / "streams.json"
