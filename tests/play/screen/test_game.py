"""The game behind the screen: keys, switches, and the lines that are drawn."""

import itertools
import math
import random
import re

import pytest
from support.play_links import script
from support.recordings import seeds

from epic_cli.engine.strategies import get_declaration, list_remote_names
from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, MatchSpec, PlayerConfig
from epic_cli.play.legend import LEGEND
from epic_cli.play.screen import (
    ASCII,
    LATENCIES,
    PRESSED,
    UNICODE,
    WELCOME,
    ArenaCanvas,
    Game,
    Switches,
)
from epic_cli.play.script import SCENARIOS, Script
from epic_cli.play.spec import apply_change


def game(**settings: object) -> Game:
    players = (PlayerConfig("A", (5.0, 12.0)), PlayerConfig("B", (19.0, 12.0), "runner"))
    return Game(MatchSpec(players=players, **settings), "A", ASCII)  # type: ignore[arg-type]


def scenario(name: str) -> Game:
    """Return the game as ``epic play NAME`` starts it."""

    def opened(one: str) -> tuple[MatchSpec, Script]:
        read = script(SCENARIOS[one].read_text())
        settings = MatchSpec()
        for change in read.beginning:
            settings = apply_change(settings, change)
        return settings, read._replace(beginning=())

    settings, read = opened(name) if name else (MatchSpec(), Script())
    return Game(settings, "A", ASCII, script=read, name=name, open_scenario=opened)


def go_on(played: Game, start: float, seconds: float) -> float:
    """Run the game at thirty pictures a second, on the test's own clock."""
    for frame in range(round(seconds * 30) + 1):
        played.advance(start + frame / 30)
    return start + seconds


def text(played: Game, columns: int = 80, lines: int = 24) -> list[str]:
    return ["".join(part for _, part in line) for line in played.render_lines(columns, lines)]


def test_nothing_is_cut_on_any_screen() -> None:
    played = game(
        link=TwoWays.from_conditions(LinkConditions(latency=0.5)),
        remote_strategy="local-perception",
    )
    now = go_on(played, 0, 1)
    played.press("space")
    go_on(played, now, 0.9)
    hits = r"hits 0 of \d \(0 with rewind, 0 without\) A.s shot MISSES, with"
    for columns, lines in itertools.product((20, 33, 44, 62, 79, 80, 120), (10, 16, 24, 50)):
        shown = text(played, columns, lines)
        assert len(shown) <= lines
        assert max(map(len, shown)) <= columns
        whole = " ".join(" ".join(shown).split())
        assert "q: quit" in whole
        if columns >= 44 and lines >= 16:
            assert "[i]: local-perception" in whole
        if columns >= 62 and lines >= 24:
            assert re.search(hits, whole)


def test_the_arenas_keep_their_size_when_the_text_gets_shorter() -> None:
    played = game()
    heights = set()
    now = go_on(played, 0, 1)
    for key in ("space", ".", "x", "l"):
        played.press(key)
        now = go_on(played, now, 0.4)
        heights.add(sum("+" in line for line in text(played, 44, 30)))
        shown = text(played, 44, 30)
        heights.add(max(number for number, line in enumerate(shown) if line.startswith("+--")))
    assert len(heights) <= 3  # the number of borders, and the height before and after the news


@pytest.mark.parametrize("size", [(19, 24), (80, 9), (5, 2), (1, 1)])
def test_a_terminal_that_is_too_small_is_told_and_survives(size: tuple[int, int]) -> None:
    shown = text(game(), *size)
    assert len(shown) == 1
    assert len(shown[0]) <= size[0]


def test_arrows_steer_until_another_key_comes() -> None:
    played = game()
    now = go_on(played, 0, 0.5)
    played.press("up")
    now = go_on(played, now, 0.5)
    assert played.you.client.local.body.vy == 8
    played.press(".")
    go_on(played, now, 0.5)
    body = played.you.client.local.body
    assert (body.vx, body.vy) == (0, 0)
    assert body.y > 14


def test_space_shoots_at_what_is_seen() -> None:
    played = game()
    now = go_on(played, 0, 1)
    played.press("space")
    go_on(played, now, 0.2)
    shots = played.statistics.count_shots("A")
    assert (shots.judged, shots.on_screen, shots.agreed) == (1, 1, 1)
    assert "A's shot HITS" in text(played)[-4]
    assert any("." * 3 in line for line in text(played))


def test_a_throw_flies() -> None:
    played = game()
    now = go_on(played, 0, 1)
    played.press("x")
    go_on(played, now, 0.4)
    assert sum(line.count("*") for line in text(played)) == 3


#: What is switched by a key, and the sentence about it; empty: nothing is said.
SWITCHES = {
    "l": ("[l]atency 75 ms", "latency 75 ms each way: a round trip of 150 ms"),
    "L": ("[l]atency 25 ms", "latency 25 ms each way"),
    "j": ("[j]itter 5 ms", "jitter 5 ms"),
    "J": ("[j]itter 0 ms", ""),  # there is none
    "o": ("l[o]ss 1 %", "loss 1 %"),
    "s": ("[s]end rate 30/s", "send rate 30/s"),
    "S": ("[s]end rate 15/s", "send rate 15/s: a packet period (PP) of 66.7 ms"),
    "p": ("[p]rediction OFF  [r]eplay OFF", "prediction OFF: a dumb terminal"),
    "r": ("[p]rediction on  [r]eplay OFF", "replay OFF: your client moves you at once and"),
    "m": ("s[m]oothing on", "smoothing on: your corrections fade within 0.1 s"),
    "w": ("re[w]ind OFF", "rewind OFF: the server judges a shot by the positions when it arrives"),
    "i": ("[i]: dead-reckoning", "others drawn by dead-reckoning: continues as received"),
    "I": ("[i]: local-perception", "others drawn by local-perception: "),
    "T": ("[t]ime 0.5 x", "the match runs at 0.5 times its speed"),
}


#: What is said when a key is pressed again.
BACK = {
    "p": "prediction and replay on: you move at once;",
    "r": "prediction and replay on: you move at once;",
    "m": "smoothing OFF: your corrections are jumps",
    "w": "rewind on: the server judges a shot by what its shooter saw",
}


@pytest.mark.parametrize("key", SWITCHES)
def test_each_switch_changes_the_match_and_says_in_a_sentence_what_it_does(key: str) -> None:
    shown, sentence = SWITCHES[key]
    played = game()
    now = go_on(played, 0, 0.1)
    before = played.match.settings
    assert WELCOME[14:60] in " ".join(text(played, 160))
    played.press(key)
    go_on(played, now, 0.5)
    said = " ".join(text(played, 160))
    assert shown in said
    assert sentence in said
    assert (WELCOME[14:60] in said) == (not sentence)
    if key in "prwm":  # pressed again, all is as it was, and that is said
        played.press(key)
        assert played.match.settings == before
        go_on(played, 0.6, 0.1)
        said = " ".join(text(played, 160))
        assert BACK[key] in said
        assert sentence not in said


def test_a_switch_is_told_beside_a_caption_where_there_is_little_room() -> None:
    played = scenario("optimism")
    now = go_on(played, 0, 0.2)
    for key in "lw":
        played.press(key)
        now = go_on(played, now, 0.1)
        said = " ".join(" ".join(text(played, 45, 20)).split())
        assert "optimism: Tells: a player's action" in said
        assert {"l": "latency 150 ms each way", "w": "rewind OFF: the server"}[key] in said


def test_a_key_walks_through_every_strategy_and_back() -> None:
    played = game()
    now = go_on(played, 0, 0.2)
    seen = []
    for _ in list_remote_names():
        played.press("i")
        now = go_on(played, now, 0.1)
        name = played.match.settings.remote_strategy
        seen.append(name)
        whole = " ".join(" ".join(text(played, 100, 40)).split())
        assert f"others drawn by {name}: {get_declaration(name).summary.split(' ')[0]}" in whole
    assert seen[0] == "dead-reckoning"
    assert seen[-1] == "snapshot"
    assert sorted(seen) == sorted(list_remote_names())
    for name in reversed(["snapshot", *seen[:-1]]):
        played.press("I")
        assert played.match.settings.remote_strategy == name


@pytest.mark.parametrize("size", [(160, 50), (80, 24), (45, 20), (20, 10)])
def test_the_legend_explains_every_mark_while_the_match_waits(size: tuple[int, int]) -> None:
    played = game()
    go_on(played, 0, 0.3)
    pages = []
    while True:
        played.press("?")
        shown = text(played, *size)
        if "+--" in shown[0]:  # behind the last page the game goes on
            break
        assert len(shown) <= size[1]
        assert max(map(len, shown)) <= size[0]
        assert shown[-1].startswith("?: ")
        pages += shown[:-1]
    whole = " ".join(" ".join(pages).split())
    marks = [mark for part in LEGEND.values() for mark, _ in part]
    assert all(mark.format_map(ASCII) in whole for mark in marks)
    if size[0] > 20:
        assert "where the server has them at this moment" in whole
        assert "by the echo of its own stamps" in whole
    before = played.match.now
    played.press("?")
    go_on(played, 1.3, 1)
    assert played.match.now == before
    played.press("up")  # it leaves the page, and no more
    assert "A's screen" in text(played)[0]
    assert played.you.client.local.body.vy == 0


def test_strips_show_who_is_late_and_by_how_much() -> None:
    """Figure 8.1: half a round trip is 50 ms, which is three frames of 1/60 s."""
    played = scenario("figure-8.1")
    go_on(played, 0, 20)
    server, drawn = (line.split()[2] for line in text(played, 100, 40) if line.startswith("A "))
    moved, seen = (re.search("[^_]", strip) for strip in (server, drawn))
    assert moved
    assert seen
    assert 3 <= seen.start() - moved.start() <= 4
    played = scenario("figure-8.2")
    go_on(played, 0, 15)
    assert "pause; t: continue, enter: restart" in "".join(text(played, 100, 40))
    assert "A drawn" in "".join(text(played, 45, 20))  # the caption is about them
    [strip] = [line.split()[2] for line in text(played, 100, 40) if line.startswith("A drawn")]
    assert "#___#___#___#" in strip


def test_keys_walk_through_the_scenarios_and_an_arrow_takes_over() -> None:
    played = scenario("")
    seen = []
    for key in "n" * len(SCENARIOS):
        played.press(key)
        go_on(played, 0, 0.2)
        shown = text(played, 100, 40)
        [name] = [name for name in SCENARIOS if any(line.startswith(f"{name}: ") for line in shown)]
        seen.append(name)
    assert seen == list(SCENARIOS)
    played.press("n")
    played.press("N")
    go_on(played, 0, 0.1)
    assert f"{seen[-1]}: " in "\n".join(text(played, 100, 40))
    played = scenario("question-9")
    go_on(played, 0, 2)
    played.press("enter")
    assert played.match.now == 0
    now = go_on(played, 0, 12)
    assert played.statistics.count_shots("A").judged == 1  # as it is written there
    x, y = played.you.client.local.body.position
    played.press("up")
    go_on(played, now, 8)
    assert played.you.client.local.body.y > y + 1
    assert played.you.client.local.body.x == x


def test_figures_of_what_is_drawn_begin_again_with_a_switch() -> None:
    played = game(remote_strategy="dumb-terminal")
    now = go_on(played, 0, 5)
    played.press("l")
    now = go_on(played, now, 0.05)
    assert "- late" in "\n".join(text(played))
    go_on(played, now, 3)
    found = re.search(r"B is drawn [\d.]+ off, (\d+) ms late", "\n".join(text(played)))
    assert found
    assert 75 <= int(found[1]) <= 150


@pytest.mark.parametrize("seed", seeds(3, 1))
def test_no_order_of_keys_and_sizes_breaks_the_screen(seed: int) -> None:
    source = random.Random(seed)
    played, now = scenario(""), 0.0
    keys = (*PRESSED, "y")
    for _ in range(150):
        for key in source.choices(keys, k=source.randrange(4)):
            played.press(key)
        now = go_on(played, now, source.choice((0.0, 0.03, 0.3)))
        columns, lines = source.randrange(1, 170), source.randrange(1, 60)
        shown = text(played, columns, lines)
        assert len(shown) <= lines
        assert max(map(len, shown)) <= columns


def test_ladders_end() -> None:
    settings = MatchSpec(link=TwoWays.from_conditions(LinkConditions(latency=LATENCIES[-1])))
    switches = Switches(settings)
    assert switches.press("l", settings) == []
    for _ in LATENCIES:
        for change in switches.press("L", settings):
            settings = apply_change(settings, change)
    assert settings.link.down.latency == 0
    assert switches.press("y", settings) == []


def test_own_settings_of_a_strategy_come_back_after_the_switch() -> None:
    played = game(remote_strategy="snapshot", remote_settings=(("interpolation_time", "0.3"),))
    played.press("i")
    assert not played.match.settings.remote_settings
    played.press("I")
    assert played.match.settings.remote_settings == (("interpolation_time", "0.3"),)


def test_a_pause_is_not_made_up_for() -> None:
    played = game()
    go_on(played, 0, 1)
    played.advance(1000.0)
    assert played.match.now < 1.3
    played.advance(900.0)  # a clock that goes back
    assert played.match.now < 1.3


def test_what_lies_outside_the_arena_is_not_drawn() -> None:
    canvas = ArenaCanvas(26, 18, ASCII)
    from epic_cli.play.run import Beam, Marker, PlayScene
    from epic_cli.play.world import DEFAULT_ARENA

    markers = [Marker("A", (-5.0, 1e9), False), Marker("B", (23.99, 0.01), False)]
    beam = Beam((1.0, 1.0), (1e5, 1.0), False, (99.0, 99.0))
    drawn = canvas.draw(PlayScene("x" * 100, DEFAULT_ARENA, markers, [(1e6, 0.0)], [beam]))
    lines = ["".join(part for _, part in line) for line in drawn]
    assert {len(line) for line in lines} == {26}
    assert sum(line.count("A") for line in lines) == 0
    assert lines[-2][-2] == "B"


@pytest.mark.parametrize(("degrees", "beside"), [(0, (1, 0, "→")), (50, (1, -1, "↗")),
    (93, (0, -1, "↑")), (180, (-1, 0, "←")), (-90, (0, 1, "↓")), (-50, (1, 1, "↘"))])  # fmt: skip
def test_an_arrow_beside_a_player_says_where_he_looks(
    degrees: float, beside: tuple[int, int, str]
) -> None:
    from epic_cli.play.run import Marker, PlayScene
    from epic_cli.play.world import DEFAULT_ARENA

    heading = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
    markers = [Marker("A", (5.0, 12.0), False, heading), Marker("B", (15.0, 12.0), False)]
    drawn = ArenaCanvas(60, 30, UNICODE).draw(PlayScene("", DEFAULT_ARENA, markers, [], []))
    lines = ["".join(part for _, part in line) for line in drawn]
    [(row, column)] = [(n, line.index("A")) for n, line in enumerate(lines) if "A" in line]
    right, down, arrow = beside
    assert lines[row + down][column + right] == arrow
    assert sum(line.count(letter) for line in lines for letter in "→↗↑↖←↙↓↘") == 1
