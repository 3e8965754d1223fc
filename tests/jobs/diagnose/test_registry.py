"""Detectors of other packages, as installed distributions offer them, whole and broken."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.faulty_traffic import LINKS, clean, make_table_traffic

from epic_cli.jobs.diagnose.detectors import load_registry
from epic_cli.jobs.diagnose.report import report
from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.metrics.traffic import Traffic
from epic_cli.show.documents import write_markdown

SOURCE = """
from epic_cli.jobs.diagnose.detectors import Detector, Finding

def detector(name, look):
    return Detector(name, "too short", "It takes {length:s}.", "None.", "Wait.", "length", "99 s",
                    "a test", look)

SHORT = detector("short", lambda traffic: [
    Finding("short", 0.5, traffic.duration, 99.0, {"length": traffic.duration})])
TAKEN = detector("loss", lambda traffic: [])
RAISES = detector("raises", lambda traffic: 1 / 0)
STRAY = detector("stray", lambda traffic: [Finding("loss", 0.5, 1.0, 1.0)])
WORDS = detector("words", lambda traffic: [Finding("words", 0.5, 1.0, 1.0)])
number = 7
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    monkeypatch.setenv("EPIC_ENTRY_POINTS", "on")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tiny_detectors.py").write_text(SOURCE)

    def add(**points: str) -> None:
        information = tmp_path / "tiny-1.2.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Name: tiny\nVersion: 1.2\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (information / "entry_points.txt").write_text(f"[epic_cli.detectors]\n{lines}")
        load_registry.cache_clear()

    yield add
    load_registry.cache_clear()
    sys.modules.pop("tiny_detectors", None)


def traffic() -> Traffic:
    return make_table_traffic({"": clean("circle", LINKS["lan"], 20, 1, 10.0)})


def test_a_detector_of_another_package_is_asked(install: Callable[..., None]) -> None:
    before = load_registry().detectors
    install(short="tiny_detectors:SHORT")
    assert {detector.name for detector in load_registry().detectors} == {
        *(detector.name for detector in before),
        "short",
    }
    found = diagnose(traffic())
    assert [finding.cause for finding in found.findings] == ["short"]
    assert "It takes 10 s." in write_markdown(report("", found))


def test_a_broken_one_costs_only_itself(install: Callable[..., None]) -> None:
    install(
        a="tiny_detectors:TAKEN",
        b="tiny_detectors:RAISES",
        c="tiny_detectors:number",
        d="tiny_detectors:nothing",
        e="no_such_module:x",
        f="tiny_detectors",
        g="tiny_detectors:STRAY",
        short="tiny_detectors:SHORT",
    )
    found = diagnose(traffic())
    assert [finding.cause for finding in found.findings] == ["short"]
    told = "\n".join(str(row) for row in found.left_out)
    assert "the detector 'a' of tiny 1.2 is left out: there is a detector 'loss' already" in told
    assert "the detector 'raises' is left out: ZeroDivisionError" in told
    why = "TypeError: the detector must find 'stray' alone"
    assert f"the detector 'stray' is left out: {why}" in told
    assert "'c' of tiny 1.2 is left out: tiny_detectors:number must be a Detector, not int" in told
    for name in "def":
        assert f"the detector '{name}' of tiny 1.2 is left out" in told
    text = write_markdown(report("", found)).replace("\\", "")  # escapes
    assert all(line in text for line in told.splitlines())


def test_a_value_that_is_not_there_stays_as_it_is_written(install: Callable[..., None]) -> None:
    install(words="tiny_detectors:WORDS")
    found = diagnose(traffic())
    assert "It takes {length}." in write_markdown(report("", found))


def test_with_the_switch_off_none_is_asked(
    install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPIC_ENTRY_POINTS", "off")
    install(short="tiny_detectors:SHORT")
    assert diagnose(traffic()).findings == ()
