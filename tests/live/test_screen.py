"""The code behind the screen: real packets in, lines of text out."""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import list_remote_names
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.live.map import ASCII, UNICODE
from epic_cli.live.model import RunningGame
from epic_cli.live.receiving import ReceivingSocket
from epic_cli.live.screen import ListenScreen
from epic_cli.recordings.addresses import Address, resolve

TICK = (1, 50)


STRATEGIES, LERP = len(list_remote_names()), 1 + list_remote_names().index("lerp")


class Watched:
    """A monitor of packets on the test's own clock."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        strategy: str = "lerp",
        symbols: dict[str, str] = ASCII,
    ) -> None:
        self.now = 100.0
        self.port = ReceivingSocket(resolve(Address(port=0)))
        monkeypatch.setattr("epic_cli.live.listener.read_machine_time", lambda: self.now)
        spec = ListenSpec(Endpoint(max_entities=1000), strategy=StrategySpec(strategy), tick=TICK)
        self.game = RunningGame(spec, "127.0.0.1:9", self.port)
        self.monitor = ListenScreen(self.game, symbols)
        self.listener = Listener(spec, [self.game], self.port)
        self.game.attach(self.listener)
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, text: str) -> None:
        self.sender.sendto(text.encode(), ("127.0.0.1", self.port.port))
        read = self.port.read

        def arrived(most: int) -> list[object]:
            return [datagram._replace(time=self.now) for datagram in read(most)]

        self.port.read = arrived  # type: ignore[assignment, method-assign]
        try:
            while not self.listener.step():
                pass
        finally:
            self.port.read = read  # type: ignore[method-assign]

    def go_on(self, seconds: float, *entities: str, speed: float = 2.0) -> None:
        """Send packets 20 times a second of entities on parallel lines."""
        for _ in range(round(20 * seconds)):
            self.now += 0.05
            time = self.now - 100
            lines = (
                f"{speed * time:.9g},{place},0 / {speed},0,0 / {time:.9g} entity={name}"
                f" seq={round(20 * time)}"
                for place, name in enumerate(entities)
            )
            if entities:
                self.send("\n".join(lines))
            self.listener.step()
            self.monitor.advance(self.now)
        self.game.evaluator.forget()  # the figures are of now
        for _ in entities:
            self.monitor.advance(self.now)

    def close(self) -> None:
        self.port.close()
        self.sender.close()

    def text(self, columns: int = 90, lines: int = 30) -> str:
        drawn = self.monitor.render_lines(columns, lines)
        assert len(drawn) <= lines
        joined = ["".join(part for _, part in line) for line in drawn]
        assert max(map(len, joined)) <= columns
        return "\n".join(joined)

    def figure(self, name: str) -> str:
        found = re.search(rf"\b{name} (\S+)", self.text())
        assert found, self.text()
        return found[1]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    made = Watched(monkeypatch)
    yield made
    made.close()


def test_it_waits_and_then_shows_who_comes(watched: Watched) -> None:
    assert "at 127.0.0.1:9" in watched.text()
    watched.go_on(3, "tank", "jeep")
    shown = watched.text()
    assert re.search(r"4[0-2] packets/s", shown)
    assert "loss 0.0 %" in shown
    assert "2 entities" in shown
    assert f"lerp ({LERP}/{STRATEGIES})" in shown
    assert "tank" in shown
    assert shown.count("O") == 2 + shown.splitlines()[0].count("O")  # the two, and the legend
    watched.send("nonsense")
    assert "1 not readable" in watched.text()


@pytest.mark.parametrize("symbols", [UNICODE, ASCII])
@pytest.mark.parametrize("up", [1, 2])
def test_entities_point_where_they_head(
    monkeypatch: pytest.MonkeyPatch, symbols: dict[str, str], up: int
) -> None:
    """Compare with x axes turned by SciPy, as seen on the map; some entities have no rotation."""
    watched = Watched(monkeypatch, "snapshot", symbols)
    turned = Rotation.random(24, rng=np.random.default_rng(up))
    for beat in range(20):
        watched.now += 0.05
        lines = []
        for k, quaternion in enumerate(turned.as_quat()):
            place = [12.0 * (k % 4), 0.0, 0.0]
            place[up] = 4.0 * (k // 4)
            rotation = (
                " rotation=" + ",".join(f"{number:.9g}" for number in quaternion) if k % 5 else ""
            )
            lines.append(
                f"{','.join(map(str, place))} / 0,0,0 / {beat / 20} entity=e{k:02}{rotation}"
            )
        for part in (lines[:12], lines[12:]):
            watched.send("\n".join(part))
    shown = watched.text(120, 40)
    watched.close()
    glyphs = symbols["heading"]
    for k, looks in enumerate(turned.apply([1, 0, 0])[:, [0, up]]):
        found = re.search(rf"(\S) e{k:02}\b|\be{k:02} (\S)", shown)
        assert found, shown
        sector = np.degrees(np.arctan2(looks[1], looks[0])) * len(glyphs) / 360
        flat = k % 5 and np.hypot(*looks) > 0.1
        assert found[1] == (glyphs[round(sector) % len(glyphs)] if flat else symbols["drawn"])
    assert f"{glyphs[0]} drawn" in shown


def test_the_figures_are_those_of_what_was_drawn(watched: Watched) -> None:
    watched.go_on(7, "tank")
    # oracle: a line at constant speed, for which lerp lags 0.1 s
    rows = watched.game.history.list_rows(watched.listener.drawn_up_to - 5)
    known = rows[rows["time"] <= watched.now - 100]
    apart = np.abs(known["position"][:, 0] - 2.0 * known["time"])
    error = math.sqrt(np.square(apart).mean())
    assert error == pytest.approx(0.2, rel=0.2)
    assert float(watched.figure("error")) == pytest.approx(error, rel=0.01)
    assert float(watched.figure("lag")) == pytest.approx(1000 * error / 2, abs=2)
    assert watched.figure("jumps") == "0"


def test_another_strategy_has_its_figures_at_once_and_goes_on_as_if_it_had_drawn(
    watched: Watched,
) -> None:
    watched.go_on(6, "tank")
    before = watched.figure("error")
    count = len(watched.game.history.list_rows())
    for key in ("/", *"dead", "tab", "enter"):
        watched.monitor.press(key)
    watched.monitor.advance(watched.now)
    assert "dead-reckoning (" in watched.text()
    assert float(watched.figure("error")) < 0.01 < float(before)
    assert abs(len(watched.game.history.list_rows()) - count) <= 10
    watched.go_on(1, "tank")
    assert float(watched.figure("error")) < 0.01
    for key in ("/", *"snapshot", "enter"):
        watched.monitor.press(key)
    assert "snapshot (" in watched.text()
    assert "[interpolation_time 0.2 s]" in watched.text()
    watched.monitor.press("m")
    watched.monitor.advance(watched.now)
    assert "[interpolation_time 0.3 s*]" in watched.text()
    assert float(watched.figure("lag")) == pytest.approx(300, abs=25)
    watched.monitor.press("d")
    assert "[interpolation_time 0.2 s]" in watched.text()


def test_every_key_works_before_the_first_packet(watched: Watched) -> None:
    for key in watched.monitor.actions:
        watched.monitor.press(key)
        watched.monitor.advance(watched.now)
        assert watched.text()
        watched.monitor.press("escape")
    assert watched.game.followed is None


def test_a_pause_shows_one_moment_on_which_strategies_can_be_tried(watched: Watched) -> None:
    watched.go_on(6, "tank")
    watched.monitor.press("space")

    def on_the_map() -> list[str]:
        return [line for line in watched.text(99).splitlines()[:20] if line.strip("| ")]

    before = on_the_map()
    assert "PAUSED" in watched.text()
    packets = watched.listener.counts.packets
    watched.go_on(3, "tank", "late-comer")
    assert watched.listener.counts.packets == packets + 120
    assert on_the_map() == before
    assert "late-comer joined" not in watched.text()
    for key in ("/", *"dead-reckoning", "enter"):
        watched.monitor.press(key)
    watched.monitor.advance(watched.now)
    assert float(watched.figure("error")) < 0.01
    watched.monitor.press("space")
    assert "late-comer" in watched.text()
    assert "PAUSED" not in watched.text()


def test_a_strategy_that_fails_is_not_used(watched: Watched) -> None:
    watched.go_on(2, "tank")
    watched.game.choice.names.append("no-such-strategy")
    for key in ("/", *"no-such", "enter"):
        watched.monitor.press(key)
    assert "no-such-strategy cannot be used" in watched.text()
    assert f"lerp ({LERP}/{STRATEGIES + 1})" in watched.text()
    watched.go_on(1, "tank")
    assert float(watched.figure("error")) > 0.1


def test_who_is_followed_is_in_the_middle_and_has_the_figures(watched: Watched) -> None:
    watched.go_on(2, "tank", "jeep")
    watched.monitor.press("f")
    watched.monitor.advance(watched.now)
    shown = watched.text()
    assert "follows tank" in shown.splitlines()[0]
    assert f"lerp ({LERP}/{STRATEGIES}) of tank" in shown
    middle = shown.splitlines()[
        [">" in line or "O" in line for line in shown.splitlines()[1:]].index(True) + 1
    ]
    assert abs(middle.index("O") - 45) <= 1
    watched.monitor.press("F")
    assert "follows jeep" in watched.text()
    watched.monitor.press("escape")
    assert "follows" not in watched.text()


def test_a_game_that_begins_anew_is_told(watched: Watched) -> None:
    watched.go_on(3, "tank")
    assert "the game's clock" not in watched.text()
    for index in range(20):
        watched.now += 0.05
        watched.send(f"777,0,0 / 0,0,0 / {index / 20} entity=tank")
        watched.monitor.advance(watched.now)
    assert "3.0 s back" in watched.text()


@pytest.mark.parametrize("symbols", [ASCII, UNICODE])
def test_it_fits_every_terminal(watched: Watched, symbols: dict[str, str]) -> None:
    watched.monitor._symbols = symbols
    watched.go_on(1, *(f"entity-with-a-long-name-{number}" for number in range(40)))
    for key in ("", "f", "/", "escape", "?"):
        if key:
            watched.monitor.press(key)
        for columns in (1, 40, 79, 200):
            for lines in (1, 10, 60):
                shown = watched.text(columns, lines)
                assert shown.isascii() or symbols is UNICODE
                if columns >= 40 and lines >= 10 and key != "?":
                    assert "lerp" in shown, (key, columns, lines)


def test_keys_at_any_time_in_any_order_do_no_harm(watched: Watched) -> None:
    keys = [*watched.monitor.actions]
    for number, key in enumerate((*keys, *reversed(keys))):
        watched.monitor.press(key)
        assert watched.text().strip(), key
        if number % 7 == 3:
            watched.monitor.press("enter" if watched.monitor.takes_text else "0")
            watched.go_on(0.1, "tank")
    for key in ("escape", "escape", "0"):
        if key in watched.monitor.actions or watched.monitor.takes_text:
            watched.monitor.press(key)
    watched.go_on(0.5, "tank")
    assert "tank" in watched.text()


def test_what_happened_is_listed(watched: Watched) -> None:
    watched.go_on(4, "tank", "jeep")
    assert "jeep and tank joined" in watched.text()
    watched.go_on(5, "tank")
    assert re.search(r"jeep left \d s ago", watched.text(80))
    watched.go_on(2, "tank", "jeep")
    watched.send(f"0,0,0 / 0,0,0 / {watched.now - 100:.3f} entity=tank teleport=1")
    watched.monitor.advance(watched.now + 1)
    watched.monitor.press("e")
    shown = watched.text()
    words = [line.split(" s  ", 1)[1] for line in shown.splitlines() if " s  " in line]
    assert words == ["jeep and tank joined", "jeep left", "jeep is back", "tank teleported"]
    watched.monitor.press("x")
    assert "s/S: strategy" in watched.text()


def test_a_click_follows_and_the_list_does_too(watched: Watched) -> None:
    watched.go_on(4, "tank", "jeep")
    lines = watched.text(140).splitlines()
    (row,) = (number for number, line in enumerate(lines) if "jeep " in line[100:])
    watched.monitor.click(110, row)
    assert "follows jeep" in watched.text(140)
    watched.monitor.press("escape")
    lines = watched.text(90).splitlines()
    row, column = next((n, line.index("O")) for n, line in enumerate(lines) if n and "O" in line)
    watched.monitor.click(column + 1, row)
    assert re.search("follows (tank|jeep)", watched.text(90))
    watched.monitor.press("escape")
    watched.monitor.click(1, 1)
    assert "follows" not in watched.text(90)
