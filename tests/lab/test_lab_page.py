"""The lab's page in use: mouse, keys, fingers, links."""

from __future__ import annotations

import html
import io
import json
import math
import re
import shlex
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.browser import Page
from support.places import SAMPLES
from support.recordings import EXHAUSTIVE
from support.running import epic

from epic_cli.lab.serving import make_server
from epic_cli.lab.spec import NOTHING, OPENING, LabInputs, read_query

from .conftest import judged, running

Lab = Callable[..., Page]

SLIDER = "lab.controls.get({}).line.querySelector('[type=range]')"


def slider(name: str) -> str:
    return SLIDER.format(json.dumps(name))


def figures(page: Page) -> Any:
    return page.run("data.rows.map((row) => [row.label, ...row.cells])")


def slide(page: Page, which: str, place: int) -> None:
    """Move a slider to a place, of 1000, and release it."""
    page.run(
        f"for (const kind of ['input', 'change']) {{ {which}.value = {place};"
        f" {which}.dispatchEvent(new Event(kind)); }}"
    )
    judged(page)


def drag(page: Page, which: str, *shares: float) -> None:
    """Drag with the mouse, and release it at the last share of the width."""
    page.run(f"{which}.id = 'dragged'")
    left, top, width, height = page.place("#dragged")
    page.run("$('dragged').id = ''")
    page.mouse("mousePressed", left + shares[0] * width, top + height / 2)
    for share in shares[1:]:
        page.mouse("mouseMoved", left + share * width, top + height / 2)
    page.mouse("mouseReleased", left + shares[-1] * width, top + height / 2)


def write(page: Page, field: str, words: str, answered: bool = True) -> None:
    page.run(
        f"$('{field}').value = {json.dumps(words)};"
        f" $('{field}').dispatchEvent(new Event('change', {{ bubbles: true }}))"
    )
    if answered:
        judged(page)


def test_a_slider_that_is_dragged_moves_the_experiment(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic&s=snapshot")
    page.until("document.body.dataset.lab.endsWith(' 8')")
    before = figures(page)
    drag(page, slider("latency"), 0.05, 0.2, 0.4, 0.6)
    judged(page)
    latency = float(page.run("lab.given.get('latency')").removesuffix("ms"))
    assert 200 < latency < 400
    assert latency == float(page.run(f"{slider('latency')}.value")) / 2
    assert f"latency={latency:g}ms" in page.run("location.search")
    assert f"--link=latency={latency:g}ms" in page.run("$('lab-line').textContent")
    assert figures(page) != before
    # what is drawn is of this latency: packets take that long
    took = page.run("getScene().packets.arrival[3] - getScene().packets.t[3]")
    assert took == pytest.approx(latency / 1000, abs=1e-3)
    # back is what was set before, not a place on the way
    page.run("history.back()")
    page.until("!location.search.includes('latency')")
    judged(page)
    page.until("document.body.dataset.lab.endsWith(' 8')")
    assert figures(page) == before


def test_an_answer_to_where_a_slider_was_does_not_take_it_back(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic")
    page.run(f"{slider('latency')}.id = 'dragged'")
    page.run("held = []; now = receive; receive = (one) => held.push(one); 0")
    left, top, width, height = page.place("#dragged")
    middle = top + height / 2
    page.mouse("mousePressed", left + 0.2 * width, middle)
    page.mouse("mouseMoved", left + 0.4 * width, middle)
    page.until("held.length > 1")
    page.run("late = held.splice(0); 0")
    page.mouse("mouseMoved", left + 0.6 * width, middle)
    page.run("late.forEach(now)")
    page.mouse("mouseReleased", left + 0.6 * width, middle)
    page.run("receive = now; held.forEach(now)")
    judged(page)
    latency = page.run("lab.given.get('latency')")
    assert 250 < float(latency.removesuffix("ms")) < 350
    assert page.run("$('lab-latency').value") == latency


def test_keys_fields_and_a_preset_move_a_slider_and_leave_the_page_alone(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&send=60&link=latency=100ms&s=epic")
    time = page.run("state.time")
    page.run(f"{slider('latency')}.focus()")
    for _ in range(5):
        page.key("ArrowRight")
    judged(page)
    assert page.run("lab.given.get('latency')") == "102.5ms"
    assert page.run("state.time") == time
    page.run("document.activeElement.blur()")  # a slider in use is not moved
    write(page, "lab-latency", "0.25")
    assert page.run("lab.given.get('latency')") == "0.25"
    assert page.run(f"{slider('latency')}.value") == "500"
    write(page, "lab-latency", "")  # the default
    assert page.run("lab.given.has('latency')") is False
    assert page.run("$('lab-latency').value") == "0"
    write(page, "lab-preset", "satellite")
    assert page.run("$('lab-latency').value") == "100ms"
    assert page.run(f"{slider('latency')}.value") == "200"
    slide(page, "document.querySelector('[aria-label=\"gemodel: good to bad\"]')", 800)
    assert page.run("lab.given.get('gemodel')") == "25.1%,30.1%"
    assert page.run("getScene().lost.t.length") > 10


def test_what_is_refused_is_said_and_what_is_drawn_stays(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic")
    write(page, "lab-latency", "soon", answered=False)
    words = page.until("!$('lab-refused').hidden && $('lab-words').textContent")
    assert "0 to 60 s" in words
    assert page.run("getScene().drawn.length") == 1
    page.run("$('lab-copy').click()")  # not the line before
    assert "0 to 60 s" in page.run("$('said').textContent")
    write(page, "lab-latency", "20ms")
    assert page.run("$('lab-refused').hidden") is True


FAINT = "Number(getComputedStyle($('above')).opacity) < 0.5"


def test_one_click_mends_an_address_or_finds_the_lab_again(browser: Page) -> None:
    spec = make_server()
    with running(spec) as address:
        port = int(address.split(":")[2].partition("/")[0])
        browser.open(f"{address}?path=circle&link=latency=-5,jitter=30ms&s=nonsense&s=epic")
        words = browser.until("document.body?.dataset.ready && !$('lab-refused').hidden"
                              " && $('lab-mend').textContent")  # fmt: skip
        assert words == "leave out latency=-5, path=circle, s=nonsense"
        browser.until(FAINT)
        assert browser.run("$('lab-state').textContent") != "computing"
        # what is right has its value, what is wrong is there and marked
        assert browser.run("[$('lab-jitter').value, $('lab-latency').value]") == ["30ms", "-5s"]
        assert browser.run("$('lab-latency').getAttribute('aria-invalid')") == "true"
        assert browser.run("$('lab-svg').hasAttribute('href')") is False
        browser.run("$('lab-mend').click()")
        judged(browser)
        browser.until(f"!({FAINT})")
        assert browser.run("location.search") == "?movement=strafe&link=jitter=30ms&s=epic"
    assert "has ended" in browser.until("!$('lab-refused').hidden && $('lab-words').textContent")
    browser.until(FAINT)
    browser.run("$('lab-start').click()")
    line = browser.run("$('lab-start-line').textContent")
    assert line == "epic lab -s 'epic' --experiment 'movement=strafe&link=jitter=30ms&s=epic'"
    with running(replace(spec, port=port)) as again:
        assert again == address
        browser.run("$('lab-mend').click()")  # try again
        browser.until(f"$('lab-refused').hidden && !({FAINT})")


def test_it_opens_on_a_bad_network_that_moves(lab: Lab, address: str) -> None:
    page = lab()
    assert page.run("location.search.slice(1)") == OPENING.query()
    page.open("about:blank")
    page.open(address)
    page.until("document.body?.dataset.lab && state.playing && state.time > 0.5")
    page.until("getScene().lost.t.length > 2")
    # the table of each strategy, and the lag in it
    assert page.run("[...$('figures').tHead.rows[0].cells].at(-1).textContent") == "lag ms"
    went = page.run("state.time")
    page.run("go(getDuration() - 0.05)")
    page.until(f"state.playing && state.time < {went}")  # from the beginning again


def test_a_picture_with_more_outages_than_before_can_be_looked_at(lab: Lab) -> None:
    page = lab("movement=circle&s=epic&s=mirror")
    page.run("lab.at = ['2s loss=100%', '3s loss=0', '5s loss=100%', '6s loss=0']")
    page.run("askEngine()")
    page.until("getScene().interruptions.length === 2 && (turnStrategy('epic', false), true)")
    page.run("turnStrategy('epic', true)")
    judged(page)
    assert "outage" in page.run("$('recoveries').textContent")


def test_a_strategy_keeps_its_colour_when_its_settings_change(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=snapshot&s=epic&s=mirror")
    page.run("turnStrategy('snapshot', false)")
    color = page.run("getLineColor('epic')")
    slide(page, "$('team1-calc_ahead').parentElement.querySelector('[type=range]')", 900)
    label = page.run("data.rows[1].label")
    assert label.startswith("epic+calc_ahead=")
    assert page.run(f"getLineColor({json.dumps(label)})") == color
    assert page.run("[...state.on]") == [label, "mirror"]
    assert f"s={label}" in page.run("location.search")


def test_strategies_come_and_go_up_to_six(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic")
    for name in ("snapshot", "mirror", "source", "hermite", "dis"):
        write(page, "lab-add", name, answered=False)
    judged(page)
    assert page.run("$('lab-add').hidden") is True
    assert len(figures(page)) == page.run("getScene().drawn.length") == 6
    page.run("document.querySelector('[aria-label=\"remove epic\"]').click()")
    judged(page)
    assert "epic" not in page.run("$('figures').textContent.split(/[^a-z-]/)")


def test_who_is_there_already_comes_as_a_variant_to_be_changed(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic&s=dumb-terminal")
    write(page, "lab-add", "epic")
    name, setting = page.run("[lab.team[2].name, ...lab.team[2].settings.keys()]")
    assert name == "epic"
    assert page.run(f"document.activeElement.closest('.control') === "
                    f"$('team2-{setting}').parentElement")  # fmt: skip
    write(page, "lab-add", "epic")
    labels = [row[0] for row in figures(page)]
    assert len(set(labels)) == 4
    # nothing to set: there is no variant
    assert page.run("[...$('lab-add').options].filter((one) => one.disabled)"
                    ".map((one) => one.value)") == ["dumb-terminal"]  # fmt: skip
    # two that are set alike are drawn once, and say so
    page.run("document.querySelectorAll('#lab-team .bar button:last-child')[2].click()")
    judged(page)
    assert [row[0] for row in figures(page)] == [labels[0], labels[1], labels[3]]
    names = page.run("[...document.querySelectorAll('#lab-team summary')]"
                     ".map((one) => one.textContent)")  # fmt: skip
    assert names == ["epic", "dumb-terminal", "epic (as above)", labels[3]]
    assert page.run("$('lab-refused').hidden") is True


def test_what_is_typed_counts_after_a_pause_and_is_marked_until_then(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&link=loss=10%&s=epic")
    typed(page, "lab-loss", "33%")
    marked = "document.querySelectorAll('#lab .typed').length"
    assert page.run(f"lab.given.get('loss') === '33%' || {marked} === 1")
    page.until("lab.given.get('loss') === '33%'")
    judged(page)
    assert page.run(marked) == 0
    assert page.run("document.activeElement.id") == "lab-loss"
    page.until("location.search.includes('loss=33%')")
    # another experiment is not changed by what was being typed
    typed(page, "lab-loss", "44%")
    page.run("beginWith('movement=circle&link=loss=5%&s=epic')")
    judged(page)
    assert page.run(f"[$('lab-loss').value, {marked}]") == ["5%", 0]


def test_a_movement_is_drawn_with_the_keys(lab: Lab) -> None:
    page = lab("movement=circle&s=epic&s=snapshot")
    page.run("$('lab-draw').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r")
    page.call("Input.dispatchKeyEvent", type="keyUp", key="Enter")
    for key in ["ArrowRight"] * 12 + ["ArrowUp"] * 8:
        page.key(key)
    page.key("Enter")
    judged(page)
    points = [tuple(map(float, part.split(","))) for part in page.run("lab.points").split(";")]
    (begin, x, y), (end, right, top) = points[0], points[-1]
    assert len(points) == 21
    assert end - begin == pytest.approx(1)
    assert right - x == pytest.approx(12 / 8 * (top - y), rel=1e-3)
    assert top > y
    assert page.run("[lab.moves, $('lab-draw').getAttribute('aria-pressed')]") == ["hand", "false"]


def test_a_link_opens_the_same_experiment(lab: Lab) -> None:
    page = lab(
        "movement=zigzag,speed=8&link=latency=120ms,at=3s%20loss=40%25&s=mirror&s=epic+calc_ahead=0.3"
    )
    page.until("lab.networks === 8")
    first, link = figures(page), page.run("location.href")
    assert page.run("$('lab-at').value") == "3s loss=40%"
    again = lab(link.partition("?")[2])
    again.until("lab.networks === 8")
    assert figures(again) == first
    assert page.run("$('lab-speed').value") == "8"


def test_figures_go_on_to_more_networks_and_begin_again_at_a_change(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&link=latency=80ms,jitter=40ms&s=epic")
    page.until("document.body.dataset.lab.endsWith(' 64')")
    assert "64 networks" in page.run("$('lab-state').textContent")
    assert "--seeds=64" in page.run("$('lab-line').textContent")
    assert page.run("document.body.classList.contains('computing')") is False
    write(page, "lab-latency", "90ms")
    assert "--seeds=64" not in page.run("$('lab-line').textContent")


def test_a_movement_is_drawn_by_hand_and_played(lab: Lab) -> None:
    page = lab("movement=circle&s=epic&s=snapshot")
    page.run("$('lab-draw').click()")
    left, top, width, height = page.place("#above")
    page.mouse("mousePressed", left + 0.3 * width, top + height / 2)
    for n in range(40):
        x, y = left + (0.3 + 0.01 * n) * width, top + height * (0.5 + 0.2 * math.sin(n / 9))
        page.mouse("mouseMoved", x, y)
    page.mouse("mouseReleased", x, y)
    judged(page)
    points = [tuple(map(float, part.split(","))) for part in page.run("lab.points").split(";")]
    assert len(points) >= 3
    assert page.run("lab.moves") == "hand"
    page.until("state.playing || state.time >= getDuration() - 0.02")
    # the truth goes where the mouse went, as fast
    time, x, y = points[len(points) // 2]
    assert page.run("getDuration()") >= points[-1][0] - 0.1
    there = page.run(f"findPlace(getScene().truth, {time} - getScene().start)")
    origin = page.run("getScene().origin")
    assert there[0] + origin[0] == pytest.approx(x, abs=0.2)
    assert there[1] + origin[1] == pytest.approx(y, abs=0.2)
    assert page.run("$('lab-csv').hidden") is False


def test_a_phone_has_everything_in_one_column(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic&s=snapshot")
    page.size(390, 844, touch=True)
    assert page.until("document.documentElement.scrollWidth <= innerWidth + 1")
    right = "[...document.querySelectorAll('.stage .bar > *')].map((one) => one.getClientRects()"
    assert max(page.run(f"{right}[0]?.right || 0)")) <= 390 - 8 - 10  # nothing is cut off
    page.run(f"{slider('jitter')}.id = 'touched'")
    left, top, width, height = page.place("#touched")
    assert height >= 24
    # the map stays in sight under the hand, the lag in the table
    map_top, map_bottom = page.run(
        "(() => { const { top, bottom } = $('above').getBoundingClientRect();"
        " return [top, bottom]; })()"
    )
    assert 0 <= map_top < map_bottom < top
    page.touch("touchStart", (left + 5, top + height / 2))
    page.touch("touchMove", (left + 0.5 * width, top + height / 2))
    page.touch("touchEnd")
    judged(page)
    assert page.run("lab.given.has('jitter')") is True


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_both_schemes(lab: Lab, scheme: str) -> None:
    page = lab("movement=circle,duration=3&s=epic&s=snapshot")
    page.scheme(scheme)
    poor = page.until(CONTRASTS)
    page.scheme("light")
    assert [pair for pair in poor if pair[1] < 4.5] == []


#: Of each element with words of its own in the lab's parts: the words, and their contrast (WCAG).
CONTRASTS = r"""(() => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const level = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((v) => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (one) => {
    for (; one; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one);
      if (!/, 0\)$|transparent/.test(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const speaks = (one) => one.offsetParent && !one.disabled && one.tagName !== "OPTION"
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.querySelectorAll("#lab *, #lab-team *")].filter(speaks).map((one) => {
    const levels = [level(getComputedStyle(one).color), level(back(one))].sort((a, b) => b - a);
    return [one.textContent.slice(0, 30), (levels[0] + 0.05) / (levels[1] + 0.05)];
  });
})()"""


def test_everything_that_can_be_set_has_a_name(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&s=epic&s=mirror")
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    nameless = page.run(
        "[...document.querySelectorAll('input, select, textarea, button')].filter((one) =>"
        " !one.labels?.length && !one.getAttribute('aria-label') && !one.textContent.trim())"
        ".map((one) => one.outerHTML)"
    )
    assert nameless == []
    twice = page.run(
        "[...document.querySelectorAll('[id]')].map((one) => one.id)"
        ".filter((id, i, all) => all.indexOf(id) !== i)"
    )
    assert twice == []


def saved(page: Page, button: str) -> bytes:
    """Return the file that a click on a link would save."""
    page.run(f"$('{button}').addEventListener('click', (event) => event.preventDefault(), true)")
    page.run(f"$('{button}').click()")
    with urllib.request.urlopen(page.run(f"$('{button}').href")) as answer:
        assert "attachment" in answer.headers["Content-Disposition"]
        return bytes(answer.read())


def test_a_page_and_a_picture_are_of_what_is_shown(lab: Lab) -> None:
    page = lab("movement=circle&link=latency=80ms,jitter=20ms&s=epic&s=mirror")
    text = saved(page, "lab-page").decode()
    assert text.startswith("<!doctype html>")
    command = r"epic compare --movement=circle --seeds=(1|8|64) --link=latency=80ms"
    assert re.search(command, text)
    picture = saved(page, "lab-svg").decode()
    assert picture.startswith("<svg")
    assert "mirror" in picture


def test_a_video_is_of_the_seconds_that_are_shown(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&link=latency=80ms&s=epic")
    page.run("showTime(2, 2.5)")
    data = saved(page, "lab-gif")
    assert data.startswith(b"GIF89a")
    frames = data.count(b"\x21\xf9\x04")  # of the 20 a second, those in which something moves
    assert 5 <= frames <= 10


def test_a_case_holds(lab: Lab, tmp_path: Path) -> None:
    page = lab(
        "movement=zigzag,turning=heading&link=latency=80ms,jitter=20ms&s=epic&s=mirror+buffer_limit=9"
    )
    with zipfile.ZipFile(io.BytesIO(saved(page, "lab-case"))) as archive:
        archive.extractall(tmp_path)
    done = epic("check", str(tmp_path / "lab-case"))
    assert done.returncode == 0, done.stdout
    assert b"1 holds" in done.stdout


def test_the_code_of_a_composition_is_shown_and_is_that_of_the_command(lab: Lab) -> None:
    page = lab("movement=circle&s=snapshot&s=buffer+delay=1.8i+curve=hermite")
    page.run("$('lab-code-box').open = true; $('lab-language').value = 'lua'")
    assert "cannot write code for snapshot" in page.until("$('lab-code').textContent")
    page.run("$('lab-code-of').selectedIndex = 1; fillCode()")
    code = page.until("/delay=1.8i/.test($('lab-code').textContent) && $('lab-code').textContent")
    line = page.run("$('lab-design').textContent")
    assert line == "epic tune --design --movement=circle --seeds=8"
    done = epic("code", "buffer+delay=1.8i+curve=hermite", "--lang", "lua")
    assert code == done.stdout.decode()


def test_the_worst_moment_takes_the_window_along(lab: Lab) -> None:
    page = lab("movement=circle,duration=90&link=latency=80ms,jitter=40ms&s=epic&s=mirror")
    page.run("goToWorst('epic')")
    start, end = page.run("state.window")
    assert end - start == pytest.approx(20, abs=1e-3)
    assert start <= page.run("state.time") <= end


def test_scores_have_their_intervals_and_the_worst_network_is_a_click_away(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&link=jitter=60ms&s=epic&s=mirror")
    page.until("document.body.dataset.lab.endsWith(' 8')")
    told = page.run(
        "[...document.querySelectorAll('.likely')].map((one) => one.textContent.trim())"
    )
    assert told == page.run("data.likely")
    assert len(told) == 2
    assert all(any(map(str.isdigit, title)) for title in told)
    worst = page.until("document.querySelector('#verdict button')?.textContent")
    page.run("document.querySelector('#verdict button').click()")
    judged(page)
    assert f"seed={worst.removeprefix('seed ')}" in page.run("location.search")


def test_each_entity_of_a_recording_can_be_chosen_or_sent_anew(lab: Lab, with_tanks: str) -> None:
    page = lab("movement=recording&s=epic", with_tanks)
    names = page.run("[...$('entity').options].map((one) => one.textContent)")
    assert names == ["red", "blue"] or len(names) == 2
    assert page.run("$('entity-choice').hidden") is False
    write(page, "entity", "1", answered=False)
    assert names[1] in page.run("$('view-title').textContent")
    first = figures(page)
    hidden = "['latency', 'seed', 'tick'].map((name) => lab.controls.get(name).line.hidden)"
    assert page.run(hidden) == [True, True, False]
    write(page, "lab-moves", "movement")  # sent over other networks
    assert page.run(hidden) == [False, False, False]
    assert "--movement=truth=" in page.run("$('lab-line').textContent")
    assert figures(page) != first
    write(page, "lab-moves", "circle")
    assert page.run("$('entity-choice').hidden") is True
    assert page.run("state.scene") == 0


def test_what_players_see_and_what_the_score_weighs_are_set(lab: Lab) -> None:
    page = lab("movement=circle,duration=3&link=latency=80ms&s=epic&s=snapshot")
    usual = figures(page)
    assert page.run("$('lab-weights').value") == ""
    assert page.run("$('lab-tick').value") == "1/60"
    write(page, "lab-weights", "observer")
    weighed = figures(page)
    assert weighed != usual
    slide(page, slider("tick"), 900)
    assert 0.1 < page.run("parseNumber($('lab-tick').value)") < 0.25
    assert page.run("data.tick") == pytest.approx(page.run("parseNumber($('lab-tick').value)"))
    line = page.run("$('lab-line').textContent")
    assert "--weights=observer" in line
    assert "--tick=" in line


def test_an_own_strategy_takes_part_that_the_command_names(lab: Lab) -> None:
    own = str(SAMPLES / "half_way.py:HalfWay")
    with running(make_server(LabInputs("", (own,)))) as address:
        page = lab(f"movement=circle,duration=3&s=epic&s={own}", address)
        assert page.run("data.rows[1].label") == own
        page.run("document.querySelectorAll('#lab-team details')[1].open = true")
        before = figures(page)
        write(page, "team1-gain", "0.9")
        assert figures(page)[1] != before[1]
        assert f"{own}+gain=0.9" in page.run("$('lab-line').textContent")
        page.run(f"history.replaceState(null, '', '?s={own.replace('HalfWay', 'Other')}'); begin()")
        assert "must be" in page.until("!$('lab-refused').hidden && $('lab-words').textContent")


#: Answers wait while ``holding``; what is copied and saved is kept, with the address at that time.
WATCHED = """
  var holding = true, held = [], copied = [], saved = [], pushed = 0;
  const push = history.pushState.bind(history);
  history.pushState = (...words) => (pushed++, push(...words));
  window.WebSocket = class extends WebSocket {
    addEventListener(kind, done) {
      super.addEventListener(kind, kind !== "message" ? done
        : (event) => (holding ? held.push(() => done(event)) : done(event)));
    }
  };
  Object.defineProperty(navigator, "clipboard", { value: {
    writeText: async (words) => void copied.push([words, location.search]),
  } });
  addEventListener("click", (event) => {
    if (!event.target.matches("a[download]")) return;
    if (!event.defaultPrevented) saved.push([event.target.href, location.search]);
    event.preventDefault();
  });
"""


@pytest.fixture
def watched(browser: Page) -> Iterator[Lab]:
    """Open the lab with delayed answers, and note what it copies and saves."""
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCHED)

    def opened(query: str, at: str) -> Page:
        browser.size(1500, 1000)
        browser.open("about:blank")
        browser.open(f"{at}?{query}")
        browser.until("document.body && document.body.dataset.ready && Boolean(lab.socket)")
        return browser

    yield opened
    assert browser.complaints == []
    browser.call("Page.removeScriptToEvaluateOnNewDocument", **script)


def answered(page: Page) -> None:
    page.run("holding = false; held.splice(0).forEach((one) => one())")
    page.until("!lab.taking.length")  # a click that waited may have set what was typed since
    judged(page)
    page.run("holding = true")


def click(page: Page, selector: str, share: float = 0.5) -> None:
    left, top, width, height = page.place(selector)
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, left + share * width, top + height / 2)


def typed(page: Page, field: str, words: str) -> None:
    """Type without leaving the field."""
    page.run(f"$('{field}').closest('details')?.setAttribute('open', '')")
    click(page, f"#{field}")
    page.run(f"$('{field}').select()")
    page.call("Input.insertText", text=words)


class Stranger:
    """A user who does anything at any time: each method is a gesture."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page, self.draw = page, Random(seed)
        self.clicks = {"copied": 0, "saved": 0}

    def type(self) -> None:
        field = self.draw.choice(("lab-loss", "lab-duplicate"))
        typed(self.page, field, f"{self.draw.randint(1, 30)}%")

    def wrong(self) -> None:
        """Set a wrong value, which is refused and not exported, and mend it by hand."""
        self.answer()
        typed(self.page, "lab-loss", "soon")
        self.leave()
        self.page.run("holding = false; held.splice(0).forEach((one) => one())")
        self.page.until("!$('lab-refused').hidden && !$('lab-svg').hasAttribute('href')")
        click(self.page, "#lab-copy")
        typed(self.page, "lab-loss", "3%")
        self.leave()
        self.answer()

    def change(self) -> None:
        typed(self.page, "lab-at", f"1s loss={self.draw.randint(1, 50)}%")

    def drag(self) -> None:
        which = slider(self.draw.choice(("latency", "jitter")))
        drag(self.page, which, *(self.draw.random() for _ in range(self.draw.randint(1, 4))))

    def double(self) -> None:
        """Double-click a label, which sets the default."""
        self.page.run(f"{slider('latency')}.dispatchEvent(new Event('dblclick'))")

    def keys(self) -> None:
        self.page.run(f"{slider('send_rate')}.focus()")
        for key in self.draw.choices(("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"), k=4):
            self.page.key(key)

    def choose(self) -> None:
        name = f"lab-{self.draw.choice(('preset', 'distribution', 'in_order'))}"
        self.page.run(
            f"$('{name}').checked = !$('{name}').checked;"
            f" $('{name}').selectedIndex = {self.draw.randint(1, 4)};"
            f" $('{name}').dispatchEvent(new Event('change', {{ bubbles: true }}))"
        )

    def drawn(self) -> None:
        """Begin to draw without drawing: the movement stays."""
        write(self.page, "lab-moves", self.draw.choice(("hand", "circle")), answered=False)

    def add(self) -> None:
        name = self.draw.choice(("snapshot", "hermite", "dis"))
        if self.page.run(f"!lab.team.some(({{ name }}) => name === '{name}')"):
            write(self.page, "lab-add", name, answered=False)

    def remove(self) -> None:
        self.page.run("document.querySelector('[aria-label^=\"remove \"]').click()")

    def again(self) -> None:
        if self.draw.random() < 0.3:
            click(self.page, "#lab-again")

    def leave(self) -> None:
        click(self.page, ".verdict")

    def enter(self) -> None:
        if self.page.run("document.activeElement.matches('[type=text]')"):
            self.page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r")

    def copy(self) -> None:
        click(self.page, "#lab-copy")
        self.clicks["copied"] += 1

    def save(self) -> None:
        click(self.page, self.draw.choice(("#lab-page", "#lab-svg", "#lab-gif")))
        self.clicks["saved"] += 1

    def size(self) -> None:
        self.page.size(self.draw.choice((390, 1100, 1500)), self.draw.choice((844, 1000)))
        self.page.run("$('lab-rest').open = true")

    def link(self) -> None:
        self.page.run(f"pushed++; location.hash = 't={self.draw.random()}'")

    def back(self) -> None:
        if self.page.run("pushed && pushed--"):
            self.page.run("went = false; addEventListener('popstate', () => (went = true));"
                          " history.back()")  # fmt: skip
            self.page.until("went")

    def reload(self) -> None:
        self.page.run("before = true")
        self.page.call("Page.reload")
        self.page.until("!window.before && document.body?.dataset.ready && Boolean(lab.socket)")
        self.clicks = {"copied": 0, "saved": 0}

    def answer(self) -> None:
        answered(self.page)
        for kind, count in self.clicks.items():
            self.page.until(f"{kind}.length === {count}")


GESTURES = [name for name in vars(Stranger) if not name.startswith("_")]


@pytest.mark.parametrize("seed", range(8 if EXHAUSTIVE else 1))
def test_what_is_copied_and_saved_is_what_the_address_holds(
    watched: Lab, address: str, seed: int
) -> None:
    page = watched("movement=circle,duration=3&s=epic&s=mirror", address)
    stranger = Stranger(page, seed)
    last = ["type", "copy", "save", "answer"]
    for gesture in [*stranger.draw.choices(GESTURES, k=20 if EXHAUSTIVE else 10), *last]:
        getattr(stranger, gesture)()
        # "save link as" asks no script
        file, search = page.run("[$('lab-svg').href, location.search]")
        assert read_query(file) == read_query(search)
        for words, search in page.run("copied"):
            seeds = re.search(r"--seeds=(\d+)", words)
            assert seeds, words
            assert words == replace(read_query(search), networks=int(seeds[1])).write_command(
                NOTHING
            )
        for link, search in page.run("saved"):
            file = link.partition("&clip=")[0]
            assert replace(read_query(file), networks=1) == read_query(search)
    line, drawn, copied = page.run(
        "[$('lab-line').textContent, data.rows.map((row) => [row.label, ...row.cells]),"
        " copied.at(-1)[0]]"
    )
    networks = r"--seeds=\d+"  # more may have come since
    assert re.sub(networks, "", line) == re.sub(networks, "", copied)
    done = epic(*shlex.split(line)[1:], "--sort", "given", "--format", "markdown")
    rows = [
        [cell.strip(" *") for cell in row.split("|")[1:-1]]
        for row in html.unescape(done.stdout.decode()).splitlines()
        if row.startswith("| ")
    ]
    titles = page.run("data.columns.map((column) => column.title)")
    for told, row in zip(drawn, rows[-len(drawn) :], strict=True):
        cells = dict(zip(rows[0], row, strict=True))
        assert told == [cells[name] for name in ("strategy", *titles)]
    for name, value in read_query(page.run("location.search")).values:
        shown = page.run(f"$('lab-{name}').type === 'checkbox' ? 'on,off'.split(',')"
                         f"[Number(!$('lab-{name}').checked)] : $('lab-{name}').value")  # fmt: skip
        assert shown == value or page.run(f"parseNumber('{shown}') === parseNumber('{value}')")
