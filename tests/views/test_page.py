"""The page: its structure, and what it does in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import comparisons

from epic_cli.analysis.notes import NothingToDraw
from epic_cli.views.page import page

COMPARISON = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))
PAGE = page(COMPARISON, shown=["Late", "Jumping"])

#: What a reader would do, and what the page shows then, left where the test finds it.
VISIT = """
<script>
const seen = {};
const picture = (id) => document.getElementById(id).toDataURL();
const look = () => picture("above") + picture("error");
seen.rows = document.getElementById("figures").tBodies[0].rows.length;
seen.heads = [...document.querySelectorAll("#figures th")].map((one) => one.textContent);
seen.clock = document.getElementById("clock").textContent;
const slider = document.getElementById("time");
const start = look();
slider.value = 100;
slider.dispatchEvent(new Event("input"));
seen.moved = look() !== start;
seen.later = document.getElementById("clock").textContent;
seen.now = document.querySelector('tr[data-label="Late"] .now').textContent;
const before = look();
const box = document.querySelector('tr[data-label="Late"] input');
box.click();
seen.off = look() !== before;
box.click();
seen.on = look() === before;
document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
seen.key = document.getElementById("clock").textContent;
const entity = document.getElementById("entity");
entity.value = 1;
entity.dispatchEvent(new Event("change"));
seen.entity = document.getElementById("view-title").textContent;
document.getElementById("play").click();
frame(state.then + 1000);
seen.played = document.getElementById("clock").textContent;
document.getElementById("play").click();
seen.paused = !state.playing;
document.body.dataset.seen = JSON.stringify(seen);
</script>
"""


def content(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found
    return json.loads(found[1])


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser to open the page in: none of {', '.join(BROWSERS)}")
    return found


def visit(browser: str, text: str, folder: Path) -> tuple[str, str]:
    """The page's document after its scripts have run, and what the browser complained about."""
    file = folder / "page.html"
    file.write_text(text)
    run = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}", "--no-first-run", "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--window-size=1300,900", "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return run.stdout, "\n".join(complaints)


class Tags(HTMLParser):
    """Collects the ids and whatever a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        found = dict(attrs)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        self.loads += [str(found[name]) for name in ("src", "href", "action") if found.get(name)]


def test_the_page_asks_the_network_for_nothing() -> None:
    tags = Tags()
    tags.feed(PAGE)
    assert tags.loads == ["data:,"]
    assert "default-src 'none'" in PAGE
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|@import|url\(|https?:", PAGE)


def test_scripts_find_the_elements_they_ask_for() -> None:
    tags = Tags()
    tags.feed(PAGE)
    assert set(re.findall(r'\$\("([\w-]+)"\)', PAGE)) <= tags.ids


def test_no_name_in_the_recording_ends_the_data() -> None:
    assert content(PAGE)["scenes"][0]["entity"] == "a</script>"


def test_the_data_are_those_of_the_comparison() -> None:
    found = content(PAGE)
    assert [one["label"] for one in found["rows"]] == ["Late", "Jumping", "Raising"]
    assert found["shown"] == ["Late", "Jumping"]
    scene, truth = found["scenes"][1], COMPARISON.scenes[1]
    np.testing.assert_allclose(scene["times"], truth.times, atol=1e-5)
    late = scene["drawn"][0]
    x = np.array([np.nan if v is None else v * scene["unit"] for v in late["x"]])
    np.testing.assert_allclose(x, truth.drawn[0].positions[:, 0], atol=scene["unit"])
    errors = [np.nan if v is None else v for v in late["error"]]
    np.testing.assert_allclose(errors, truth.drawn[0].errors, rtol=1e-3, atol=1e-9)


def test_the_same_comparison_gives_the_same_bytes() -> None:
    again = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))
    assert page(again, shown=["Late", "Jumping"]) == PAGE


def test_long_recordings_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epic_cli.views.page.MOST_POSITIONS", 100)
    found = content(page(COMPARISON))
    drawn = sum(len(s["times"]) * len(s["drawn"]) for s in found["scenes"])
    assert drawn <= 110
    assert re.fullmatch(r"The pictures show one row in \d+\.", found["notes"][-1])


def test_nothing_to_draw_is_an_error() -> None:
    empty = replace(comparisons.comparison("Late"), scenes=())
    with pytest.raises(NothingToDraw, match="nothing to draw"):
        page(empty)


def test_a_reader_has_something_to_look_at_and_to_press() -> None:
    tags = Tags()
    tags.feed(PAGE)
    assert {"above", "error", "time", "play", "figures", "entity"} <= tags.ids
    assert PAGE.count("addEventListener") > 10


def test_a_reader_can_use_the_page(browser: str, tmp_path: Path) -> None:
    document, complaints = visit(browser, PAGE.replace("</body>", VISIT + "</body>"), tmp_path)
    assert complaints == ""
    assert 'data-ready="yes"' in document
    found = re.search(r'data-seen="([^"]*)"', document)
    assert found, document[:2000]
    seen = json.loads(found[1].replace("&quot;", '"').replace("&lt;", "<"))
    assert seen == {
        "rows": 3,
        "heads": ["strategy", "now", "score", "error", "lag ms", "jumps"],
        "clock": "0.00 s",
        "moved": True,
        "later": "5.00 s",
        "now": "0.500",
        "off": True,
        "on": True,
        "key": "5.05 s",
        "entity": "b from above, y over x",
        "played": "1.00 s",
        "paused": True,
    }
