"""What a report looks like on a terminal: what comes last, and which characters."""

from __future__ import annotations

import os
import pty
import subprocess
import threading

import pytest
from support.places import SAMPLES
from support.running import EPIC, environment


def on_terminal(*words: str, lines: int, **changes: str) -> str:
    """What ``epic`` writes to a terminal of so many lines."""
    ours, theirs = pty.openpty()
    kept = {**environment(TERM="dumb", LINES=str(lines), COLUMNS="100", **changes)}
    run = subprocess.Popen([*EPIC, *words], stdout=theirs, stderr=subprocess.DEVNULL, env=kept)
    os.close(theirs)
    found: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 65536):
                found.append(data)
        except OSError:  # Linux ends so
            pass

    reader = threading.Thread(target=read)
    reader.start()
    assert run.wait(60) == 0
    reader.join()
    os.close(ours)
    return b"".join(found).decode().replace("\r\n", "\n")


@pytest.mark.parametrize("charts", [(), ("--chart", "error")])
def test_the_verdict_is_last_where_the_rest_scrolls_away(charts: tuple[str, ...]) -> None:
    words = ("compare", "-s", "epic,snapshot", str(SAMPLES / "jitter.txt"), *charts)
    high, low = (on_terminal(*words, lines=lines) for lines in (200, 12))
    verdict = high.splitlines()[0] if not charts else low.split("\n\n")[-1].splitlines()[0]
    assert verdict.count("score") == 1
    assert verdict in low.split("\n\n")[-1]
    assert low.count(verdict) == high.count(verdict) == 1
    assert sorted(low.split()) == sorted(high.split()) or charts


def test_charts_are_ascii_in_the_locale_c() -> None:
    words = ("compare", "-s", "epic,snapshot", str(SAMPLES / "turn.txt"), "--chart", "above")
    assert on_terminal(*words, lines=40, LC_ALL="C").isascii()
    assert not on_terminal(*words, lines=40).isascii()
