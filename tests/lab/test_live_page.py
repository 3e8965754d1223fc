"""The page of a running game in a browser, in use."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.browser import Page
from support.datagrams import receiver
from support.live_pages import Game, game, proxied

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "'\"`${window.hacked=1}",
    "&lt;b&gt;",
    "\\u003cb",
    "constructor",
    "__proto__",
    "a" * 64,
]

#: Of the network.
FIELD = "live.controls.get('{}').line.querySelector('[type=text]')"
SLIDER = FIELD.format("latency").replace("text", "range")


#: Whether a canvas has pixels of a colour.
PAINTED = """(() => {
  const { width, height } = $("live-%s"), often = { willReadFrequently: true };
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const probe = copy.getContext("2d", often);
  probe.fillStyle = getColor("--%s");
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  probe.clearRect(0, 0, 1, 1);
  probe.drawImage($("live-%s"), 0, 0);
  const { data } = probe.getImageData(0, 0, width, height);
  for (let i = 0; i < data.length; i += 4) {
    const apart = Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b);
    if (data[i + 3] > 60 && apart < 20) return true;
  }
  return false;
})()"""


@contextmanager
def going_on(playing: Game, *names: str) -> Iterator[None]:
    """Keep the game running while a page is open."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            playing.circle(*names)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    browser.size(1500, 1000)
    yield browser
    # on a busy machine it has already missed the game, which has ended
    assert [
        complaint for complaint in browser.complaints if "WebSocket connection to" not in complaint
    ] == []


@pytest.fixture(scope="module")
def running() -> Iterator[Game]:
    """Yield a game with a runner, who goes on."""
    with game() as playing, going_on(playing, "runner"):
        yield playing


def opened(page: Page, playing: Game, entities: int) -> None:
    page.open("about:blank")
    page.open(playing.address)
    page.until(f"typeof live !== 'undefined' && live.names.length >= {entities}")
    page.until("live.painted > 3 && map.frame")


def test_the_map_comes_first_and_says_what_it_waits_for(page: Page) -> None:
    with game() as playing:
        page.size(1500, 1000)
        page.open("about:blank")
        page.open(playing.address)
        page.until("/waiting/.test(document.getElementById('live-state')?.textContent)")
        page.run("said = []; const own = CanvasRenderingContext2D.prototype.fillText;"
                 " CanvasRenderingContext2D.prototype.fillText = function (words, ...place) {"
                 " said.push(words); own.call(this, words, ...place); };"
                 " repaint(true)")  # fmt: skip
        page.until("said.some((words) => words.startsWith('waiting for packets at '))")
        assert page.run("$('live-known').hidden")
        with going_on(playing, "runner"):
            page.until("!$('live-known').hidden && $('live-traffic').children.length > 3")
            page.until("$('live-figures').children.length > 3")
        head, high = page.run(
            "[document.querySelector('.live-head').offsetHeight, $('live-map').clientHeight]"
        )
        assert head < 60
        assert high > 600


def test_an_entity_that_is_clicked_is_followed(page: Page, running: Game) -> None:
    opened(page, running, 1)
    left, top, *_ = page.place("#live-map")
    page.key(" ")  # else it has gone on before a slow machine has clicked
    assert page.run("live.paused")
    x, y = page.run("live.entities.get(0).spot")
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, left + x, top + y)
    page.key(" ")
    page.until("live.followed === 0")
    page.until("live.members.every((one) => one.t.length > 50 && one.errors.values.length > 20)")
    # where a slow machine delays packets by 0.3 s and more, epic diverges and has no lag
    page.until("live.members.every((one) => one.lags.values.length"
               " || one.errors.values.at(-1) > 1e6)")  # fmt: skip
    assert page.run("$('live-name').textContent") == "runner"
    assert "snapshot: error" in page.until(
        "/snapshot: error/.test($('live-words').textContent) && $('live-words').textContent"
    )
    lines = {"error": "line0", "lag": "line0", "status": "line0", "delay": "packet"}
    for name, color in {**lines, "delays": "accent", "map": "line0"}.items():
        page.until(PAINTED % (name, color, name))
    centre, place = page.run("[[map.x, map.y], live.entities.get(0).at]")
    assert centre == pytest.approx(place[:2], abs=1.0)
    page.key("Escape")
    page.until("live.followed === null && $('live-one').hidden")


def test_keys_wheel_and_fingers_move_the_map(page: Page) -> None:
    with game() as playing, going_on(playing, "a", "b"):
        opened(page, playing, 2)
        left, top, width, height = page.place("#live-map")
        middle = left + width / 2, top + height / 2
        page.key(" ")  # else it is fitted once more in between
        assert page.run("live.paused")
        before = page.run("map.scale")
        page.key("+")
        assert page.run("map.scale") == pytest.approx(1.25 * before)
        x, y = page.run("[map.x, map.y]")
        page.key("ArrowRight")
        assert page.run("map.x") > x
        page.mouse("mousePressed", *middle)
        page.mouse("mouseMoved", middle[0] + 80, middle[1])
        page.mouse("mouseReleased", middle[0] + 80, middle[1])
        assert page.run("map.x") == pytest.approx(
            x + 60 / page.run("map.scale") - 80 / page.run("map.scale"), rel=1e-6, abs=1e-6
        )
        page.run(
            "$('live-map').dispatchEvent(new WheelEvent('wheel', {deltaY: -400, cancelable: true}))"
        )
        zoomed = page.run("map.scale")
        assert zoomed == pytest.approx(1.25 * before * math.exp(0.4), rel=1e-6)
        page.size(420, 800, touch=True)
        left, top, width, height = page.place("#live-map")
        x, y = left + width / 2, top + height / 2
        page.touch("touchStart", (x - 30, y), (x + 30, y))
        page.touch("touchMove", (x - 60, y), (x + 60, y))
        page.touch("touchEnd")
        assert page.run("map.scale") > 1.5 * zoomed
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        page.key(" ")
        page.key("0")
        page.until(f"Math.abs(map.scale / {zoomed} - 1) > 0.5 && live.fits")
        page.key("f")
        page.until("live.followed === 0")
        page.key("F")
        page.until("live.followed === 1")
        page.key("v")
        assert page.run("$('live-plane').textContent") == "xz"
        page.key(" ")
        assert page.run("live.paused")


def test_hostile_names_and_numbers_do_nothing(page: Page) -> None:
    with game() as playing, going_on(playing, "witness"):
        opened(page, playing, 1)
        playing.send(*({"entity": name, "x": 1, "y": 1, "z": 1} for name in HOSTILE))
        for n, far in enumerate((1e30, -3e38, 1e-30, 9.007199254740993e15)):
            playing.send({"entity": f"far{n}", "x": far, "y": -far, "z": far})
        page.until(f"live.names.length === {len(HOSTILE) + 5}")
        for number in range(len(HOSTILE) + 5):
            page.run(f"followEntity({number})")
            page.until(f"live.followed === {number}")
            page.until(f"$('live-name').textContent === live.names[{number}]")
            page.run("repaint(true); new Promise(requestAnimationFrame)")
        for key in ("0", "+", "-", "v", "v", "v"):
            page.key(key)
        painted = page.run("live.painted")
        page.until(f"live.painted > {painted} + 5")
        assert page.run("typeof window.hacked") == "undefined"
        assert page.run("document.querySelectorAll('main img, main script').length") == 0
        assert set(HOSTILE[:7]) <= set(
            page.run("[...$('live-who').options].map((one) => one.text)")
        )


def test_strategies_are_typed(page: Page, running: Game) -> None:
    opened(page, running, 1)
    team = "$('live-team').value = {}; $('live-team').dispatchEvent(new Event('change'))"
    page.run(team.format(json.dumps("mirror, epic+display_behind=0.2")))
    page.until("live.members.length === 2 && live.members[0].label === 'mirror'")
    page.run(team.format(json.dumps("mirrow")))
    page.until("/mirror/.test($('live-news').textContent)")
    assert page.run("live.members.length") == 2


def test_the_sliders_of_a_proxy(page: Page) -> None:
    with receiver() as server, proxied("--control", "-", "0", server.port) as playing:
        proxy = playing.lab
        with going_on(playing, "player"):
            page.open("about:blank")
            page.open(playing.address)
            page.until("typeof live !== 'undefined' && live.way === 'down'")
            page.run(f"{SLIDER}.value = 500; {SLIDER}.dispatchEvent(new Event('input'))")
            page.run("$('live-way').value = 'up'; $('live-way').dispatchEvent(new Event('change'))")
            page.until("live.way === 'up' && live.entities.size === 1")
            page.until("$('live-state').textContent.endsWith(', up')")
            page.run("followEntity(0)")
            page.until("live.sent.t.length > 20 && live.received.t.length > 20")
            latency = page.run(f"{FIELD.format('latency')}.value")
            assert latency.endswith("ms")
            assert proxy.process.stdin is not None
            proxy.process.stdin.write(b"set loss=7%\n")
            proxy.process.stdin.flush()
            told = proxy.wait_for(b"\n", "stdout").decode()
            assert f"up latency={float(latency[:-2]) / 1000:g} loss=0.07" in told
            page.until(f"{FIELD.format('loss')}.value === '7%'")
            page.run("$('live-dark').click()")
            page.until("$('live-dark').getAttribute('aria-pressed') === 'true'")


def test_who_is_alone_is_in_the_middle_of_a_map_as_wide_as_his_way(
    page: Page, running: Game
) -> None:
    opened(page, running, 1)
    page.until("live.entities.get(0).trail.length > 300")
    page.until(
        "live.fitted && $('live-map').clientWidth / map.scale > 4"
    )  # on a circle of length 5
    wide, spot, middle = page.run(
        "[$('live-map').clientWidth / map.scale, live.entities.get(0).spot,"
        " [map.frame.middleX, map.frame.middleY]]"
    )
    assert 4 < wide < 100
    assert spot == pytest.approx(middle, abs=2)


#: The heights of the red pixels in a canvas, as shares of its height.
RED = """(() => {
  const { width, height } = $("live-error"), copy = document.createElement("canvas");
  const probe = Object.assign(copy, { width, height }).getContext("2d");
  probe.drawImage($("live-error"), 0, 0);
  const { data } = probe.getImageData(0, 0, width, height), found = new Set();
  for (let i = 0; i < data.length; i += 4) {
    const red = data[i] > 200 && data[i + 1] < 60 && data[i + 3] > 200;
    if (red) found.add(Math.floor(i / 4 / width));
  }
  return [...found].map((one) => 1 - one / height);
})()"""


#: How many pixels from the top of the lane of errors a value of a line is.
HEIGHT = "drawnLines.get($('live-error')).find(({{name}}) => name === '{}').toY({})"


def test_a_game_that_has_ended_is_grey_and_says_so(page: Page) -> None:
    with game() as playing, going_on(playing, "runner"):
        opened(page, playing, 1)
        assert page.run("$('live-again').hidden") is True
    page.until("!$('live-again').hidden && $('live-one').inert")
    page.until("Number(getComputedStyle($('live-map')).opacity) < 0.5")
    page.run("$('live-again').click()")
    assert "has ended" in page.run("$('live-state').textContent")


def test_one_that_goes_out_of_all_bounds_leaves_the_others_their_curves(
    page: Page, running: Game
) -> None:
    opened(page, running, 1)
    page.run("live.followed = 0; $('live-one').hidden = false; live.paused = true")
    for other in (1.5, 1e24):
        values = {"#f00": [2, 2], "#00f": [1, 1.8], "#0f0": [0, other]}
        lines = [
            {"name": "", "t": [1, 9], "values": v, "color": paint} for paint, v in values.items()
        ]
        heights = page.run(f"live.now = 10; drawLines('live-error', {json.dumps(lines)}); {RED}")
        assert max(heights) > 0.18  # the foot is below 0.15


def test_a_spike_leaves_what_is_usual_its_room_and_the_line_under_the_pointer_stands_out(
    page: Page, running: Game
) -> None:
    opened(page, running, 1)
    page.run("live.followed = 0; $('live-one').hidden = false; live.paused = true")
    times = [20 + 0.02 * k for k in range(500)]
    lines = [
        {"name": "a", "t": times, "values": [1 + 80 * (k == 200) for k in range(500)]},
        {"name": "b", "t": times, "values": [0.5] * 500},
    ]
    drawn = f"live.now = 30; drawLines('live-error', {json.dumps(lines)})"
    assert page.run(f"chooseRoof({json.dumps(lines)}, [0, 30])") == {"roof": 1.5, "beyond": 81}
    # each look is one with its drawing: the game's own lines may be drawn in between
    low, high = (page.run(f"{drawn}; {HEIGHT.format(*line)}") for line in (("b", 0.5), ("a", 1)))
    assert low - high > 20
    nearest = "drawnLines.get($('live-error')).filter((one) => one.sure)[0]?.name ?? null"
    for _ in range(20):  # a first row of the game moves what is below it
        left, top, *_ = page.place("#live-error")
        x = page.run("live.now = 30; makeTimeFrame($('live-error'), getLastSeconds()).toX(25)")
        page.mouse("mouseMoved", left + x, top + high + 2)
        if seen := page.run(f"{drawn}; {nearest}"):  # with the pointer where it is
            break
    assert seen == "a"
    drawn = f"$('live-apart').checked = true; {drawn.removesuffix(')')}, true)"
    apart = [page.run(f"{drawn}; {HEIGHT.format(name, 0)}") for name in "ab"]
    assert apart[1] - apart[0] > 40
