"""The game behind the screen: keys, switches, and the lines that are drawn."""

import math
import re

import pytest
from support.play_links import script

from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.run import Row, rows
from epic_cli.play.screen import ASCII, LATENCIES, UNICODE, ArenaCanvas, Game, Switches
from epic_cli.play.spec import changed


def game(**settings: object) -> Game:
    players = (PlayerConfig("A", (5.0, 12.0)), PlayerConfig("B", (19.0, 12.0), "runner"))
    return Game(MatchSpec(players=players, **settings), "A", ASCII)  # type: ignore[arg-type]


def go_on(played: Game, start: float, seconds: float) -> float:
    """Thirty pictures a second, on a clock of the test's own."""
    for frame in range(round(seconds * 30) + 1):
        played.advance(start + frame / 30)
    return start + seconds


def text(played: Game, columns: int = 80, lines: int = 24) -> list[str]:
    return ["".join(part for _, part in line) for line in played.lines(columns, lines)]


@pytest.mark.parametrize("size", [(80, 24), (81, 25), (100, 40), (240, 70)])
def test_three_arenas_fit_the_terminal(size: tuple[int, int]) -> None:
    played = game()
    go_on(played, 0, 1)
    shown = text(played, *size)
    assert len(shown) <= size[1]
    assert all(len(line) <= size[0] for line in shown)
    head = shown[0]
    assert [title in head for title in ("A's screen", "server", "B's screen")] == [True] * 3
    # each player once on each screen, and the ghosts of the truth on the clients' screens
    arenas = [line for line in shown if line.startswith("|")]
    assert sum(line.count("A") for line in arenas) == 3
    assert sum(line.count("B") for line in arenas) == 3
    assert "[l]atency 50 ms" in shown[-3]


@pytest.mark.parametrize("columns", [20, 33, 44, 62, 79, 80, 120])
@pytest.mark.parametrize("lines", [10, 16, 24, 50])
def test_nothing_is_cut_on_any_screen(columns: int, lines: int) -> None:
    played = game(
        link=TwoWays.both(LinkConditions(latency=0.5)), remote_strategy="local-perception"
    )
    now = go_on(played, 0, 1)
    played.press("space")
    go_on(played, now, 0.9)
    shown = text(played, columns, lines)
    assert len(shown) <= lines
    assert max(map(len, shown)) <= columns
    whole = " ".join(" ".join(shown).split())
    assert "q: quit" in whole
    if columns >= 44 and lines >= 16:
        assert "[i]: local-perception" in whole
    if columns >= 62 and lines >= 24:
        assert re.search(r"hits 0 of \d \(rewound 0, plain 0\) A.s shot MISSES, with rewind", whole)


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
    shots = played.statistics.shots("A")
    assert (shots.judged, shots.on_screen, shots.agreed) == (1, 1, 1)
    assert "A's shot HITS" in text(played)[-4]
    assert any("." * 3 in line for line in text(played))


def test_a_throw_flies() -> None:
    played = game()
    now = go_on(played, 0, 1)
    played.press("x")
    go_on(played, now, 0.4)
    assert sum(line.count("*") for line in text(played)) == 3


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("l", "[l]atency 75 ms"),
        ("L", "[l]atency 25 ms"),
        ("j", "[j]itter 5 ms"),
        ("o", "l[o]ss 1 %"),
        ("s", "[s]end rate 30/s"),
        ("S", "[s]end rate 15/s"),
        ("p", "[p]rediction OFF  [r]eplay OFF"),
        ("r", "[p]rediction on  [r]eplay OFF"),
        ("m", "s[m]oothing on"),
        ("w", "re[w]ind OFF"),
        ("i", "[i]: dumb-terminal"),
    ],
)
def test_keys_change_the_match_while_it_runs(key: str, shown: str) -> None:
    played = game()
    now = go_on(played, 0, 0.5)
    before = played.match.settings
    played.press(key)
    assert shown in "\n".join(text(played))
    go_on(played, now, 0.5)
    assert shown in "\n".join(text(played))
    if key in "priwm":  # pressed again, all is as it was
        played.press("r" if key == "p" else key)
        played.press("p") if key == "p" and played.match.settings != before else None
        assert played.match.settings == before


def test_ladders_end() -> None:
    settings = MatchSpec(link=TwoWays.both(LinkConditions(latency=LATENCIES[-1])))
    switches = Switches(settings)
    assert switches.press("l", settings) == []
    for _ in LATENCIES:
        for change in switches.press("L", settings):
            settings = changed(settings, change)
    assert settings.link.down.latency == 0
    assert switches.press("?", settings) == []


def test_own_settings_of_a_strategy_come_back_after_the_switch() -> None:
    played = game(remote_strategy="snapshot", remote_settings=(("interpolation_time", "0.3"),))
    played.press("i")
    played.press("i")
    assert played.match.settings.remote_settings == (("interpolation_time", "0.3"),)


def test_a_pause_is_not_made_up_for() -> None:
    played = game()
    go_on(played, 0, 1)
    played.advance(1000.0)
    assert played.match.now < 1.3
    played.advance(900.0)  # a clock that goes back
    assert played.match.now < 1.3


def test_what_was_played_gives_the_same_match_without_a_screen() -> None:
    conditions = LinkConditions(latency=0.08, jitter=0.02, loss=0.05)
    played = Game(MatchSpec(link=TwoWays.both(conditions), seed=4), "A", ASCII, recorded=True)
    assert played.recorder is not None
    found: list[Row] = []
    statistics = played.match.on_frame

    def look(participant: object) -> None:
        statistics(participant)  # type: ignore[arg-type]
        found.extend(rows(played.match))

    played.match.on_frame = look
    now = 0.0
    for key in ("up", "l", "space", "right", "w", "x", "p", "down", "s", "space", "p", "r", "i",
                "left", "j", "o", "space", ".", "m", "L"):  # fmt: skip
        now = go_on(played, now, 0.31)
        played.press(key)
    now = go_on(played, now, 0.5)
    end = played.match.now
    again: list[Row] = []
    kept = script(played.recorder.script())
    replayed = Match(MatchSpec(), kept, on_frame=lambda _: again.extend(rows(replayed)))
    replayed.run_until(end)
    assert again == found
    assert replayed.settings == played.match.settings


def test_the_canvas_draws_with_what_the_terminal_can_show() -> None:
    played = game()
    go_on(played, 0, 0.2)
    assert all(line.isascii() for line in text(played))
    wide = Game(MatchSpec(), "A", UNICODE)
    wide.advance(0)
    assert "█" in "".join(text(wide))


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
