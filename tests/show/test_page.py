"""The page: its structure, and its behavior in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import comparisons, movements
from support.browser import Page
from support.pages import content, numbers, places_of, times_of, visited

from epic_cli.engine.parameters import Number
from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.jobs.compare.report import report as compared
from epic_cli.jobs.diagnose.detectors import Finding
from epic_cli.jobs.diagnose.report import report
from epic_cli.jobs.diagnose.run import Diagnosis
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.network import link
from epic_cli.network.sender import SENDER
from epic_cli.show.page import About, Content, Section, make_content, make_page, make_slider
from epic_cli.show.report import Column, Figure, Report, Table, Usage

COMPARISON = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))


def page(comparison: Comparison, **how: Any) -> str:
    """Return the page of a comparison."""
    return make_page(comparison.scenes, make_content(comparison, compared(comparison), **how))


PAGE = page(COMPARISON, shown=["Late", "Jumping"])

#: What a reader sees.
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
    "turns": [False, False, ""],
    "words": "Error over time",
}


#: A link that somebody sent long ago, or was sent by this page.
LINK = "#t=3.5&off=Late&on=Raising&entity=b&log=1"


class Tags(HTMLParser):
    """A collector of ids, and of everything that a page would load."""

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
    page = PAGE.replace("http://www.w3.org/2000/svg", "")  # a name
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|@import|url\(|https?:", page)


def test_scripts_find_the_elements_they_ask_for() -> None:
    tags = Tags()
    tags.feed(PAGE)
    assert set(re.findall(r'\$\("([\w-]+)"\)', PAGE)) <= tags.ids


def test_no_name_in_the_recording_ends_the_data() -> None:
    assert content(PAGE)["scenes"][0]["entity"] == "a</script>"


def test_the_data_are_those_of_the_comparison() -> None:
    found = content(PAGE)
    assert [row["label"] for row in found["rows"]] == ["Late", "Jumping", "Raising"]
    assert found["shown"] == ["Late", "Jumping"]
    scene, truth = found["scenes"][1], COMPARISON.scenes[1]
    np.testing.assert_allclose(times_of(scene, {}), truth.times, atol=1e-9)
    late = scene["drawn"][0]
    x = places_of(scene, late, "x")
    np.testing.assert_allclose(x, truth.drawn[0].positions[:, 0], atol=1e-4)
    np.testing.assert_allclose(numbers(late["distance"]), truth.drawn[0].distances, rtol=7e-5)
    known = np.isfinite(truth.drawn[0].errors)
    counted = np.unpackbits(np.frombuffer(late["counted"], np.uint8), count=len(known))
    np.testing.assert_array_equal(counted > 0, known)


@pytest.mark.parametrize(
    "shift", ["none", "between ticks", "one between ticks", "backwards", "far"]
)
def test_times_are_those_of_the_scene(shift: str) -> None:
    """Test times written as numbers of ticks, or as seconds if one time is off the ticks."""
    scene = comparisons.comparison("Late").scenes[0]
    times = scene.times.copy()
    if shift == "between ticks":
        times += np.linspace(0, 0.4, len(times)) * scene.tick
    elif shift == "one between ticks":
        times[7] += 0.3 * scene.tick
    elif shift == "backwards":
        times[[7, 8]] = times[[8, 7]]
    elif shift == "far":
        times[-1] += (1 << 16) * scene.tick
    scene = scene._replace(times=times)
    found = content(make_page([scene], make_content(COMPARISON, compared(COMPARISON))))
    truth = found["scenes"][0]["truth"]
    if shift == "none":
        read = numbers(truth["ticks"], "<u2").astype(int).cumsum() * scene.tick
    else:
        read = numbers(truth["t"], "<f8")
    np.testing.assert_allclose(read + found["scenes"][0]["start"], times, atol=1e-9)


def test_the_same_comparison_gives_the_same_bytes() -> None:
    again = comparisons.comparison("Late", "Jumping", "Raising", entities=("a</script>", "b"))
    assert page(again, shown=["Late", "Jumping"]) == PAGE


def test_it_says_what_it_is() -> None:
    about = About("jitter.txt", "truth.csv", "epic compare '<b>' jitter.txt")
    text = page(COMPARISON, about=about)
    facts = dict(content(text)["facts"])
    assert facts["Command"] == about.command
    assert "epic compare '<b>'" not in text
    assert "<title>What each strategy draws: jitter.txt</title>" in text
    assert facts["Packets of b"].startswith("201 packets, sent from 0.00 to 10.00 s")
    assert "lost is not known" in facts["Network of b"]
    assert "the recording's own unit" in facts["Units"]


def test_any_scenes_make_a_page() -> None:
    told = Report(verdict=["3 rows differ."])
    text = make_page(COMPARISON.scenes, Content("Expected and drawn", told))
    found = content(text)
    assert found["verdict"] == ["3 rows differ."]
    assert [row["label"] for row in found["rows"]] == ["Late", "Jumping"]


def test_each_slider_has_the_range_worth_tuning_on_its_scale() -> None:
    declared = [each for name in list_names() for each in get_declaration(name).settings]
    numbers = [each for each in (*declared, *SENDER, *link.LINK) if isinstance(each, Number)]
    for number in numbers:
        low, high, is_log = make_slider(number)
        assert number.low <= low < high <= number.high, number.name
        assert number.tune in (None, (low, high)), number.name
        assert is_log == (number.tune is not None and number.scale == "log" and low > 0)
    assert {make_slider(number)[2] for number in numbers} == {False, True}


def test_nothing_to_draw_is_an_error() -> None:
    empty = replace(comparisons.comparison("Late"), scenes=())
    with pytest.raises(NothingToDraw, match="nothing to draw"):
        page(empty)


def test_a_reader_can_use_the_page(browser: Page, tmp_path: Path) -> None:
    assert visited(browser, "visit", tmp_path, PAGE) == SEEN


def test_a_reader_can_look_closer(browser: Page, tmp_path: Path) -> None:
    """Zoom into the map or the time; show names of lines; save a picture."""
    found = visited(browser, "looked", tmp_path, PAGE)
    scores = [result.value("score") for result in COMPARISON.results if result.value("score") > 0]
    assert found == {
        "insetOfAll": 0,
        "shown": True,
        "corner": [True, True],
        "inset": 1,
        "span": [2, 4],
        "alone": "n0,n3,n4",
        "named": True,
        "free": True,
        "pointed": "Jumping",
        "ticks": True,
        "saved": [True, True],
        "dots": len(scores),
        "score": f"{min(scores):.0f}",
    }


def opened(page: Page, folder: Path, text: str = PAGE) -> Page:
    file = folder / "page.html"
    file.write_text(text)
    page.open("about:blank")
    page.open(file.as_uri())
    page.until("document.body?.dataset.ready")
    return page


def test_the_map_is_the_page_and_nothing_is_cut_off(browser: Page, tmp_path: Path) -> None:
    browser.size(1500, 1000)
    page = opened(browser, tmp_path)
    for size in ((1500, 1000), (1100, 900), (768, 1000), (390, 800)):
        browser.size(*size)
        page.until("Math.abs($('above').clientHeight / innerHeight - 0.6) < 0.01")
        cut = page.run(
            "[...document.querySelectorAll('button, select, input, output, canvas')]"
            ".filter((one) => { const { left, right, width } = one.getBoundingClientRect();"
            " return width && (left < 0 || right > innerWidth); }).map((one) => one.id)"
        )
        assert cut == []
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
    assert page.run("$('apart').checked && drawnLines.get($('error')).length") == 2
    page.run("$('apart').click()")
    page.until("location.hash.includes('apart=0')")
    assert browser.complaints == []


def test_the_picture_of_scores_is_in_the_order_of_the_table() -> None:
    told = compared(COMPARISON, sort="name")
    labels = [
        row["label"] for row in content(make_page(COMPARISON.scenes, Content("", told)))["rows"]
    ]
    scores = make_content(COMPARISON, told).scores
    places = [scores.find(f">{label}</text>") for label in labels]
    known = [place for place in places if place > 0]
    assert len(known) > 1
    assert known == sorted(known)


def test_the_page_of_a_tuning_begins_with_its_front_and_with_what_to_copy() -> None:
    picture, commands = Figure("the front", lambda: None, lambda _: ""), Usage([("config", "x")])
    tuning = Report(verdict=["Take this."], parts=["Others.", commands, picture, "More."])
    made = make_content(COMPARISON, compared(COMPARISON), tuning=tuning)
    assert made.lead is not None
    assert list(made.lead.parts) == [picture, commands, "Others.", "More."]
    assert made.report.verdict == tuning.verdict


def test_each_figure_says_which_row_of_the_guide_explains_it(browser: Page, tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "epic_cli/metrics/README.md"
    rows = set(re.findall(r"^\| [^|]*\| `(\w+)` \|", guide.read_text("utf-8"), re.MULTILINE))
    browser.size(1300, 900)
    page = opened(browser, tmp_path)
    titles = page.run(
        "[...document.querySelectorAll('#figures td:not(.now), #all td, .why')]"
        ".filter((one) => one.offsetParent || one.closest('#all')).map((one) => one.title)"
    )
    assert len(titles) > 30
    named = [re.search(r'\("(\w+)" in the guide', title) for title in titles]
    assert {found[1] if found else "" for found in named} <= rows
    page.run("document.querySelector('h3 .why').click()")
    assert page.run("[document.activeElement.id, $('figure-box').open]") == ["meaning-error", True]
    top = page.run("document.activeElement.getBoundingClientRect().top / innerHeight")
    assert 0 <= top < 1
    assert browser.complaints == []


#: By how many pixels a canvas is higher than its picture, as wide as it is.
STRETCHED = """Math.max(...[...document.querySelectorAll("canvas")].filter((one) => one.clientWidth)
  .map((one) => Math.abs(one.clientHeight - (one.clientWidth * one.height) / one.width)))"""


def test_on_paper_of_any_width_all_is_there_and_sharp(browser: Page, tmp_path: Path) -> None:
    """The browser may print, or style the page for paper and change its size."""
    browser.size(1300, 900)
    page = opened(browser, tmp_path)
    page.run("turnStrategy('Raising', true); drawNow()")
    drawn = page.run("['status', 'error', 'histogram'].map((id) => $(id).clientWidth)")
    try:
        page.call("Emulation.setEmulatedMedia", media="print")
        for width in (1300, 700, 400, 1000):
            page.size(width, 900)
            page.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
            assert page.run(STRETCHED) <= 1
            assert page.run("$('above').getBoundingClientRect().left") >= 0
            assert page.run("$('histogram').width / $('histogram').clientWidth") >= 1
            assert (
                page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            )
    finally:
        page.call("Emulation.setEmulatedMedia", media="")
    page.size(1300, 900)
    page.until("!state.printing && $('histogram').width === $('histogram').clientWidth")
    assert page.run("['status', 'error', 'histogram'].map((id) => $(id).clientWidth)") == drawn
    assert browser.complaints == []


def test_links_open_what_they_name(browser: Page, tmp_path: Path) -> None:
    found = visited(browser, "linked", tmp_path, PAGE, LINK)
    assert found == ["3.50 s", ["Jumping", "Raising"], "b", True]


#: What tuning found, in short.
TUNING = Report(
    verdict=["Set late's a=1: it is </script> better."],
    parts=[
        Table([Column("setting", ["a", "b"]), Column("note", ["any", ""])], caption="Its settings"),
        Usage([("replay", "-s late+a=1")], "late's settings"),
        Figure("the front", lambda: None, lambda _: "<svg/>"),
    ],
    notes=["Tuned on the first half."],
)


def test_what_tuning_found_is_the_verdict_and_a_section() -> None:
    text = page(COMPARISON, about=About("jitter.txt"), tuning=TUNING)
    found = content(text)
    assert found["title"] == "Tuned settings: jitter.txt"
    assert found["verdict"] == TUNING.verdict
    assert found["notes"] == TUNING.notes
    assert "<dt>replay</dt><dd><code>-s late+a=1</code></dd>" in found["lead"]
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in found["lead"]
    assert content(PAGE)["lead"] is None


def test_findings_lead_to_their_moments(browser: Page, tmp_path: Path) -> None:
    """Moments outside of the drawn rows, or of another recording, are no links.

    What tuning found stands beside them, with settings to be copied.
    """
    finding = Finding("teleport", 0.5, 9.0, 4.0, {"count": 2.0}, 1.25, 4.5, ("b",))
    sections = [
        Section(name, report(name, Diagnosis((finding, later), (), packets=packets)))
        for name, packets in (("one", 40), ("two", 20))
        for later in (replace(finding, first=None, worst=99.0),)
    ]
    study = replace(COMPARISON, recordings=("one", "two"))
    text = page(study, diagnoses=sections, tuning=TUNING)
    found = visited(browser, "diagnosed", tmp_path, text)
    assert found[:4] == [4, ["first at 1.25 s", "worst at 4.50 s"], "4.50 s", "b"]
    assert found[4:] == [["setting", "a", "b"], "-s late+a=1", True]


#: An entity that turns, one that does not, and one of whose packets few have a rotation.
TUMBLING = {
    "a": comparisons.tumbling(4, "a"),
    "b": movements.packets(movements.circle, entity="b"),
    "c": comparisons.tumbling(5, "c", known=0.1),
}
TURNING = comparisons.turning(TUMBLING)
TURNED = page(TURNING)


def test_pages_have_rotations_where_the_recording_has() -> None:
    assert "<!--" not in TURNED
    assert [column["title"] for column in content(TURNED)["columns"] if column["brief"]][
        -1
    ] == "angle"
    scenes = content(TURNED)["scenes"]
    assert ["heads" in scene for scene in scenes] == [True, False, True]
    assert ["angle" in scene["drawn"][0] for scene in scenes] == [True, False, True]


def test_headings_and_angles_are_those_of_the_rows() -> None:
    oracle = comparisons.Turning(TUMBLING["a"], comparisons.TURNING)
    scene = content(TURNED)["scenes"][0]
    truth = {"label": "truth", "heads": scene["heads"]}
    for item in (truth, *scene["drawn"]):
        times = times_of(scene, item)
        heads = numbers(item["heads"], "<i2").reshape(-1, 2) / 32767
        known = np.flatnonzero(heads.any(axis=1))
        assert len(known) > 150
        for row in known:
            expected = oracle.heading(item["label"], float(np.round(times[row], 4)))
            np.testing.assert_allclose(heads[row], expected, atol=1e-4)
        for time, angle in zip(times, numbers(item.get("angle", b"")), strict=False):
            if not np.isnan(angle):
                off = oracle.angle(item["label"], float(np.round(time, 4)))
                assert angle == pytest.approx(off, abs=1e-3)


def test_darts_arrows_and_angles_are_drawn_where_the_rows_are(
    browser: Page, tmp_path: Path
) -> None:
    """A tip's distance from its row (pixels) is the length of the x axis seen from above."""
    oracle = comparisons.Turning(TUMBLING["a"], comparisons.TURNING)
    found = visited(browser, "turned", tmp_path, TURNED)
    for label, darts in found["darts"].items():
        assert len(darts) > 10
        for time, tip_x, tip_y, x, y in darts:
            head = oracle.heading(label, round(time, 4))
            tip = np.array([tip_x - x, tip_y - y]) * found["scale"]
            np.testing.assert_allclose(tip, 8 * head, atol=0.01)
            if label != "truth":
                row = oracle.rows[label][round(time, 4)]
                np.testing.assert_allclose([x, y], row.position[:2], atol=1e-4)
    for label, (time, *tip) in found["arrows"].items():
        row = oracle.rows[label][round(time, 4)]
        arrow = (np.array(tip) - row.position[:2]) * found["scale"]
        np.testing.assert_allclose(arrow, 34 * oracle.heading(label, time), atol=0.05)
    time, radius, begin, end = found["cone"]
    across, up = oracle.heading("truth", time)
    assert radius == pytest.approx(62 * np.hypot(across, up), abs=0.01)
    middle = np.array([np.cos((begin + end) / 2), -np.sin((begin + end) / 2)])
    np.testing.assert_allclose(middle * np.hypot(across, up), [across, up], atol=1e-3)
    time, *hover = found["hover"]
    angles = {label: oracle.angle(label, round(time, 4)) for label in oracle.rows}
    assert [line.split("  ")[0] for line in hover] == sorted(angles, key=lambda one: -angles[one])
    for words in hover:
        label, value = words.removesuffix("\u00b0").split("  ")
        assert float(value) == pytest.approx(angles[label], rel=0.01)
    largest = max(
        np.nanmax(trace.angles) for trace in TURNING.scenes[0].drawn if trace.angles is not None
    )
    assert found["top"] == pytest.approx(largest, rel=1e-5)
    assert (found["hidden"], found["zooms"], found["lanes"][:2]) == (
        False,
        True,
        ["error", "angle"],
    )
    assert found["others"] == [[True, [False, False]], [False, [True, True]]]
    assert found["words"].startswith("Angle over time")
