"""The page: its structure, and what it does in a browser."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import comparisons

from epic_cli.analysis.notes import NothingToDraw
from epic_cli.views.page import Content, page, page_of
from epic_cli.views.page_words import About

COMPARISON = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))
PAGE = page(COMPARISON, shown=["Late", "Jumping"])

#: What a reader would do, and what the page shows then, left where the test finds it.
VISIT = """
<script>
const seen = {};
const picture = (id) => { drawNow(); return $(id).toDataURL(); };
const words = (id) => $(id).textContent;
const key = (name, on = document.body) => on.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
const changed = (id, act) => { redraw(); const before = picture(id); act(); redraw(); return picture(id) !== before; };
seen.heads = [...document.querySelectorAll("#figures th[scope=col]")].map((one) => one.textContent);
seen.shown = [...document.querySelectorAll("#figures input:checked")].map((one) => one.closest("tr").dataset.label);
seen.folded = [...document.querySelectorAll("#figures tr.folded")].map((one) => one.dataset.label);
$("more").click();
seen.unfolded = document.querySelectorAll("#figures tr.folded").length;
// it opens at the worst moment of the best strategy, near enough to see it
const best = visible()[0];
seen.worst = state.time === best.t[best.worst] && $("follow").checked;
seen.error = best.error[best.worst] * state.view.scale > 25;
// the largest error in the picture is that of the data, however coarse it is drawn
showTime(0, duration());
drawNow();
seen.top = state.errorTop === Math.max(...visible().map((one) => one.error[one.worst]));
state.time = -1;
$("time").value = 5;
$("time").dispatchEvent(new Event("input"));
drawNow();
seen.clock = words("clock");
seen.now = document.querySelector('tr[data-label="Late"] .now').textContent;
const box = document.querySelector('tr[data-label="Late"] input');
seen.switched = [...LANES.slice(0, 3), "above", "histogram"].filter((id) => changed(id, () => { box.click(); }));
box.click();
key("ArrowRight");
seen.step = words("clock");
seen.said = words("said").includes("5.05 s");
key("+");
seen.zoomed = Math.round(duration() / (state.window[1] - state.window[0]));
key("PageDown", $("over-time"));
seen.scrolled = state.window[0] > 5;
$("time-all").click();
seen.all = state.window[1] === duration();
key("l");
seen.log = state.log;
const wheel = (on, deltaY) => on.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: 300, clientY: 300, bubbles: true, cancelable: true }));
const scale = state.view.scale;
wheel($("above"), -100);
seen.nearer = state.view.scale > scale;
wheel($("error"), -100);
seen.shorter = state.window[1] - state.window[0] < duration();
seen.hover = wordsAt("error", 5).slice(0, 2);
seen.packet = wordsAt("packets", 5)[1].split("\\n")[0];
$("entity").value = 1;
$("entity").dispatchEvent(new Event("change"));
seen.entity = words("view-title");
go(0);
$("play").click();
frame(state.then + 1000);
seen.played = words("clock");
$("play").click();
seen.paused = !state.playing;
dispatchEvent(new Event("beforeprint"));
seen.print = [document.querySelectorAll("details:not([open])").length, color("--card")];
dispatchEvent(new Event("afterprint"));
seen.described = [...document.querySelectorAll("canvas")].every((one) => one.getAttribute("role") === "img" && one.getAttribute("aria-label"));
seen.words = words("error-words").slice(0, 15);
document.body.dataset.seen = JSON.stringify(seen);
</script>
"""

SEEN = {
    "heads": ["strategy", "now", "score", "error", "max", "lag ms"],
    "shown": ["Late", "Jumping"],
    "folded": ["Raising"],
    "unfolded": 0,
    "worst": True,
    "error": True,
    "top": True,
    "clock": "5.00 s",
    "now": "0.500",
    "switched": ["error", "lag", "status", "above", "histogram"],
    "step": "5.05 s",
    "said": True,
    "zoomed": 2,
    "scrolled": True,
    "all": True,
    "log": True,
    "nearer": True,
    "shorter": True,
    "hover": ["5.00 s", "Jumping  2.00"],
    "packet": "packet sent 5.00 s",
    "entity": "b from above, y over x (lengths)",
    "played": "1.00 s",
    "paused": True,
    "print": [0, "#ffffff"],
    "described": True,
    "words": "Error over time",
}

#: Levels of detail keep the extremes and the holes of whatever the series is.
LEVELS = """
<script>
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const wrong = [];
for (let round = 0; round < 200; round++) {
  const count = 1 + Math.floor(random() * 500), holes = random() < 0.5 ? 0.02 : 0.3;
  const values = Float32Array.from({ length: count }, () => (random() < holes ? NaN : random() ** 9));
  const rows = level(values, [8, 32, 128][round % 3]);
  const known = (list) => list.filter((value) => value === value);
  const kept = known([...rows].map((row) => values[row])), all = known([...values]);
  const same = all.length === 0 || (Math.max(...kept) === Math.max(...all) && Math.min(...kept) === Math.min(...all));
  let joined = rows[0] === 0 && rows[rows.length - 1] === count - 1;
  for (let k = 1; k < rows.length; k++) {
    const between = values.subarray(rows[k - 1], rows[k] + 1);
    const ends = [between[0], between[between.length - 1]];
    if (known(ends).length === 2 && known([...between]).length < between.length) joined = false;
  }
  if (!same || !joined) wrong.push(round);
}
document.body.dataset.seen = JSON.stringify(wrong);
</script>
"""

#: A link that somebody sent long ago, or was sent by this page.
LINK = "#t=3.5&off=Late&on=Raising&entity=b&log=1"
LINKED = """
<script>
document.body.dataset.seen = JSON.stringify([$("clock").textContent, [...state.on].sort(), scene().entity, state.log]);
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


def visit(browser: str, text: str, folder: Path, link: str = "") -> tuple[str, str]:
    """The page's document after its scripts have run, and what the browser complained about."""
    file = folder / "page.html"
    file.write_text(text)
    run = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}", "--no-first-run", "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--window-size=1300,900", "--dump-dom", f"{file.as_uri()}{link}",
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
    np.testing.assert_allclose(numbers(scene["truth"]["t"]) + scene["start"], truth.times, atol=1e-5)
    late = scene["drawn"][0]
    x = numbers(late["x"]) + scene["origin"][0]
    np.testing.assert_allclose(x, truth.drawn[0].positions[:, 0], atol=1e-5)
    np.testing.assert_allclose(numbers(late["distance"]), truth.drawn[0].distances, rtol=1e-6)
    counted = np.frombuffer(base64.b64decode(late["counted"]), "u1") > 0
    np.testing.assert_array_equal(counted, np.isfinite(truth.drawn[0].errors))


def numbers(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_the_same_comparison_gives_the_same_bytes() -> None:
    again = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))
    assert page(again, shown=["Late", "Jumping"]) == PAGE


def test_a_thinned_page_says_so_and_is_as_large_as_it_may_be() -> None:
    scene = COMPARISON.scenes[0]
    rows = slice(0, len(scene.times), 2)
    thin = [one._replace(times=one.times[rows], positions=one.positions[rows],
                         distances=one.distances[rows], errors=one.errors[rows])
            for one in scene.drawn]  # fmt: skip
    thinned = scene._replace(times=scene.times[rows], truth=scene.truth[rows], drawn=tuple(thin))
    facts = dict(content(page(replace(COMPARISON, scenes=(thinned,))))["facts"])
    assert "up to 102 of 204 rows" in facts["Pictures"]
    assert "Pictures" not in dict(content(PAGE)["facts"])


def test_it_says_what_it_is() -> None:
    about = About("jitter.txt", "truth.csv", "epic compare '<b>' jitter.txt")
    text = page(COMPARISON, about=about)
    facts = dict(content(text)["facts"])
    assert facts["Command"] == about.command
    assert "epic compare '<b>'" not in text
    assert "<title>What each strategy draws: jitter.txt</title>" in text
    assert facts["Packets of b"].startswith("201 packets, sent from 0.00 to 10.00 s")
    assert "which packets were lost is not known" in facts["Network of b"]
    assert facts["Units"] == "lengths are in the recording's own unit, times in seconds"


def test_any_scenes_make_a_page() -> None:
    text = page_of(COMPARISON.scenes, Content("Expected and drawn", verdict=["3 rows differ."]))
    found = content(text)
    assert found["verdict"] == ["3 rows differ."]
    assert [one["label"] for one in found["rows"]] == ["Late", "Jumping"]


def test_nothing_to_draw_is_an_error() -> None:
    empty = replace(comparisons.comparison("Late"), scenes=())
    with pytest.raises(NothingToDraw, match="nothing to draw"):
        page(empty)


def test_a_reader_can_use_the_page(browser: str, tmp_path: Path) -> None:
    assert visited(browser, PAGE, VISIT, tmp_path) == SEEN


def test_levels_of_detail_keep_extremes_and_holes(browser: str, tmp_path: Path) -> None:
    assert visited(browser, PAGE, LEVELS, tmp_path) == []


def test_links_open_what_they_name(browser: str, tmp_path: Path) -> None:
    found = visited(browser, PAGE, LINKED, tmp_path, LINK)
    assert found == ["3.50 s", ["Jumping", "Raising"], "b", True]


def visited(browser: str, text: str, script: str, folder: Path, link: str = "") -> Any:
    document, complaints = visit(browser, text.replace("</body>", script + "</body>"), folder, link)
    assert complaints == ""
    assert 'data-ready="yes"' in document
    found = re.search(r'data-seen="([^"]*)"', document)
    assert found, document[:2000]
    return json.loads(unescape(found[1]))
