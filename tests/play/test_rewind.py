"""Server-side rewind: a hit on the shooter's screen is a hit on the server."""

import math

import pytest
from support.play_links import dropping, match, shots
from support.recordings import EXHAUSTIVE, few_of

from epic_cli.engine.strategies import get_declaration, list_names
from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.server import PoseHistory, SentPoses, Shooter, ViewCompensation, judge
from epic_cli.play.world import DEFAULT_ARENA, RADIUS, Arena, Block, View

#: They draw a point between two received states, by one of their settings or always.
DELAY_BUFFERS = [name for name in list_names() if "the past" in get_declaration(name).family]


LINKS = [(0.25, 0.1), (0.02, 0.1), (0.4, 0.0), (0.0, 0.0), (0.1, 0.0)]
if EXHAUSTIVE:
    LINKS = [(latency, loss) for latency, _ in LINKS for loss in (0.0, 0.1)]


@pytest.mark.parametrize(("latency", "loss"), few_of(LINKS, 2))
def test_every_shot_that_was_right_on_the_screen_hits(latency: float, loss: float) -> None:
    link = LinkConditions(latency=latency, jitter=min(0.02, latency), loss=loss)
    played = Match(MatchSpec(link=TwoWays.from_conditions(link), seed=5))
    played.run_until(15)
    judged = shots(played)
    assert len(judged) > 5
    for event, hit_on_screen in judged:
        assert event.details["view"] == "exact"
        assert event.details["rewound"] == hit_on_screen
    assert any(hit_on_screen for _, hit_on_screen in judged)


@pytest.mark.parametrize("name", DELAY_BUFFERS)
def test_views_of_delay_buffers_tell_what_was_drawn_to_the_last_bit(name: str) -> None:
    played = match(
        "0 B right\n0.5 B up\n1 B left down\n1.7 B right\n",
        link=TwoWays.from_conditions(LinkConditions(latency=0.06, jitter=0.01)),
        remote_strategy=name,
        remote_settings=(("interpolation_time", 0.2),) if name == "snapshot" else (),
    )
    client, exact = played.participants[0].client, 0
    for frame in range(1, 80):
        played.run_until(frame * 0.033)
        remote = client.remotes[1]
        if remote.view is None or not remote.view.exact:
            continue
        assert remote.sample is not None
        exact += 1
        assert (
            played.server.connections[0].sent.find_position(1, remote.view, played.now_us)
            == remote.sample.position[:2]
        )
    assert exact > 60 or name != "snapshot"


def test_what_lies_beside_the_snapshots_is_described_by_the_nearest_point() -> None:
    """Dead reckoning cuts a corner; no drawn position is further off than its prediction."""
    played = match("0 B right\n1 B up\n", trace=dropping(), remote_strategy="dead-reckoning")
    remote, off = played.participants[0].client.remotes[1], []
    for frame in range(20, 60):
        played.run_until(frame * 0.033)
        assert remote.view is not None
        assert remote.sample is not None
        place = played.server.connections[0].sent.find_position(1, remote.view, played.now_us)
        assert place is not None
        off.append(math.dist(place, remote.sample.position[:2]))
        assert off[-1] == 0 or not remote.view.exact
    # it draws 50 ms and up to a packet period ahead of the newest snapshot, at 8 units/s
    assert 0.1 < max(off) <= 8 * (0.05 + 0.05 + 0.033)


@pytest.mark.parametrize("name", few_of(DELAY_BUFFERS[::4], 3))
def test_whatever_the_delay_buffer_a_right_shot_hits(name: str) -> None:
    link = LinkConditions(latency=0.1, jitter=0.02)
    played = Match(MatchSpec(link=TwoWays.from_conditions(link), seed=5, remote_strategy=name))
    played.run_until(7)
    right = [event for event, hit_on_screen in shots(played) if hit_on_screen]
    assert len(right) > 2
    assert all(event.details["rewound"] for event in right)


def test_the_pll_clock_of_the_platformer_log_is_described_as_well() -> None:
    settings = (("clock", "pll"), ("server_step", 0.05), ("interpolation_time", 0.1))
    played = match(
        "0 B right\n",
        link=TwoWays.from_conditions(LinkConditions(latency=0.2)),
        remote_strategy="snapshot",
        remote_settings=settings,
    )
    for frame in range(20, 60):
        played.run_until(frame * 0.033)
        view = played.participants[0].client.remotes[1].view
        assert view is not None
        assert view.exact


def test_beyond_the_history_it_says_so_and_takes_the_present() -> None:
    text = "0 B up\n1 A shoot aim=B\n"
    players = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (310.0, 300.0)))
    played = match(
        text, players, link=TwoWays.from_conditions(LinkConditions(latency=0.3)), history=0.4
    )
    played.run_until(3)
    [(event, hit_on_screen)] = shots(played)
    assert hit_on_screen
    assert event.details["view"] == "beyond the history"
    assert event.details["rewound"] == event.details["present"] == False  # noqa: E712


@pytest.mark.parametrize("delay", [0.051, 0.08, 0.15, 0.3])
@pytest.mark.parametrize("rewind", [True, False])
def test_without_rewind_a_shot_at_a_runner_misses_as_geometry_says(
    delay: float, rewind: bool
) -> None:
    """B runs across at 8 units/s; a ray to his drawn position may pass him at 0.6 units."""
    players = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (320.0, 290.0)))

    def start() -> Match:
        return match("0 B up\n1 A shoot aim=B\n", players, trace=dropping(delay=0.001),
                     rewind=rewind, remote_settings=(("interpolation_time", delay),))  # fmt: skip

    played = start()
    played.run_until(2)
    [(event, hit_on_screen)] = shots(played)
    assert hit_on_screen
    assert event.details["rewound"]
    # the same match again, up to that moment
    again = start()
    again.run_until(event.time)
    drawn = again.participants[0].client.list_drawn_remotes()[1]
    present = again.server.get_body(1).position
    angle = math.atan2(drawn[1] - 300, drawn[0] - 300)
    passes_at = abs((present[1] - 300) * math.cos(angle) - (present[0] - 300) * math.sin(angle))
    assert event.details["present"] == (passes_at <= RADIUS)
    if delay in (0.051, 0.3):  # both outcomes occur
        assert event.details["present"] == (delay < 0.3)
    assert event.details["moved"] == pytest.approx(math.dist(drawn, present))
    assert event.details["hit"] == (rewind or event.details["present"])


def test_the_price_is_to_be_shot_behind_cover() -> None:
    arena = Arena(24.0, 24.0, (Block(10.0, 10.0, 12.0, 14.0),))
    history = SentPoses()
    history.add(0, 0, {1: (18.0, 9.0)})
    history.add(1, 50_000, {1: (18.0, 9.4)})
    aim = (1.0, 0.0)
    seen = ViewCompensation(PoseHistory(), 0.033).rewind(
        Shooter(0.1, 0.0, 0.0, {1: View(0, 1, 0.5)}, history), {1: (18.0, 12.0)}
    )
    judgement = judge(arena, (2.0, 9.2), aim, {1: (18.0, 12.0)}, seen.positions)
    assert (judgement.rewound, judgement.present) == (1, None)
    assert judgement.moved == pytest.approx(2.8)
    assert judgement.behind_cover
    assert seen.view == "exact"


def test_history_forgets_what_is_too_old_and_no_more() -> None:
    history = SentPoses(1.0)
    for snapshot in range(100):
        history.add(snapshot, snapshot * 50_000, {0: (float(snapshot), 0.0)})
    now_us = 99 * 50_000
    assert history.find_position(0, View(78, 79, 0.5), now_us) is None
    assert history.find_position(0, View(79, 80, 0.25), now_us) == (79.25, 0.0)
    assert history.find_position(0, View(78, 78, 0.0), now_us) == (78.0, 0.0)  # shown until 79 came
    assert history.find_position(1, View(79, 80, 0.25), now_us) is None


def test_someone_who_is_not_on_the_screen_is_not_hit_by_a_rewound_shot() -> None:
    history = SentPoses()
    history.add(0, 0, {1: (8.0, 12.0), 2: (9.0, 20.0)})
    present = {1: (8.0, 12.0), 2: (9.0, 20.0)}
    seen = ViewCompensation(PoseHistory(), 0.033).rewind(
        Shooter(0.1, 0.0, 0.0, {2: View(0, 0, 0)}, history), present
    )
    judgement = judge(DEFAULT_ARENA, (5.0, 12.0), (1.0, 0.0), present, seen.positions)
    assert (judgement.rewound, judgement.present) == (None, 1)
