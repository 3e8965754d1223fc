"""A client: its measured round trip, its optimistic effects, and packets that it refuses."""

import math
from itertools import cycle
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import movements
from support.play_links import match

from epic_cli import Packet, Sample
from epic_cli.engine.strategies import list_names
from epic_cli.network.link_spec import TwoWays
from epic_cli.network.sender import SenderSpec
from epic_cli.play import LinkConditions, Match, PlayerConfig
from epic_cli.play.client import RemotePlayer
from epic_cli.play.wire import StatePacket, encode_state
from epic_cli.play.world import Body


@pytest.mark.parametrize(
    ("latency", "jitter", "send_rate"),
    [(0.0, 0.0, 60.0), (0.05, 0.0, 10.0), (0.08, 0.02, 60.0), (0.2, 0.1, 10.0)],
)
def test_the_round_trip_is_estimated_within_the_jitter(
    latency: float, jitter: float, send_rate: float
) -> None:
    link = LinkConditions(latency=latency, jitter=jitter)
    played = match("0 A right\n", link=TwoWays.from_conditions(link), send=SenderSpec(send_rate))
    played.run_until(4)
    for participant in played.participants:
        real = participant.up.mean_delay + participant.down.mean_delay
        assert participant.client.round_trip.estimate == pytest.approx(real, abs=jitter + 1e-6)


def find_events(played: Match, *whats: str) -> list[tuple[float, str]]:
    return [(event.time, event.what) for event in played.take_events() if event.what in whats]


def test_an_effect_is_predicted_at_once_and_completed_when_the_server_confirms() -> None:
    played = match(
        "1 A right shoot\n2 A throw\n", link=TwoWays.from_conditions(LinkConditions(latency=0.1))
    )
    played.run_until(4)
    events = find_events(
        played, "predicted effect", "effect confirmed", "shot", "thrown", "effect refused"
    )
    one = ["predicted effect", "shot", "effect confirmed"]
    other = ["predicted effect", "thrown", "effect confirmed"]
    assert [what for _, what in events] == one + other
    for predicted, effect, confirmed in (events[:3], events[3:]):
        assert effect[0] - predicted[0] == pytest.approx(0.1, abs=0.034)
        assert 0.2 <= confirmed[0] - predicted[0] <= 0.2 + 0.05 + 0.034


def test_unwarranted_optimism_is_reported() -> None:
    """B has been hit and cannot shoot, but does not know it yet."""
    players = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (310.0, 300.0)))
    played = match(
        "1 A shoot aim=B\n1.2 B shoot aim=A\n",
        players,
        link=TwoWays.from_conditions(LinkConditions(latency=0.15)),
    )
    played.run_until(3)
    events = [event for event in played.take_events() if event.player == "B"]
    assert [event.what for event in events] == ["predicted effect", "refused", "effect refused"]
    assert events[2].details["reason"] == "stunned"
    assert events[2].time - events[0].time >= 0.3


def test_a_throw_is_drawn_half_a_round_trip_ahead() -> None:
    played = match("1 A throw aim=1,0\n", link=TwoWays.from_conditions(LinkConditions(latency=0.1)))
    played.run_until(2)
    [drawn] = played.participants[0].client.list_drawn_projectiles()
    [true] = played.server.weapons.projectiles
    # both move at 14 units/s; the server's stands since its last tick, the drawn since its frame
    assert abs(drawn.x - true.x) <= 14 * (0.05 + 0.034)
    assert drawn.vx == 14


def test_a_throw_hits_who_stands_there_and_ends_at_walls() -> None:
    players = (PlayerConfig("A", (30.0, 300.0)), PlayerConfig("B", (44.0, 300.0)))
    played = match("1 A throw aim=B\n3 A throw aim=-1,0\n", players)
    played.run_until(6)
    events = [event for event in played.take_events() if event.what.startswith("throw")]
    assert [event.what for event in events] == ["thrown", "throw hit", "thrown", "throw ended"]
    assert events[1].time - events[0].time == pytest.approx((14 - 0.6) / 14, abs=0.1)
    assert played.server.connections[0].score == 1


def state(
    token: int, snapshot: int, time_us: int, echo_us: int | None = None, message: bytes = b""
) -> bytes:
    own = Body(1.0, 2.0)
    return encode_state(
        StatePacket(token, snapshot, time_us, echo_us, False, 0, own, 0, message, {}, [], [])
    )


def test_a_client_believes_no_forged_or_impossible_state() -> None:
    played = match("0 A right\n")
    played.run_until(1)
    client = played.participants[0].client
    token, before = client.identity.token, client.local.body
    client.receive(state(token + 1, 25, 1_000_000), played.now_us)
    client.receive(state(token, 25, 10**15), played.now_us)
    client.receive(state(token, 25, 1_000_000, echo_us=10**12), played.now_us)
    client.receive(state(token, 3, 150_000), played.now_us)
    assert client.refused == {"forged": 1, "from the future": 2, "late": 1}
    assert client.local.body == before


@pytest.fixture(scope="module")
def running() -> Match:
    """Return a match after a second."""
    played = match("0 A right\n0 B up\n")
    played.run_until(1)
    return played


@given(st.binary(min_size=1, max_size=300))
@settings(deadline=None)
def test_a_message_that_is_none_changes_nothing(running: Match, message: bytes) -> None:
    client = running.participants[0].client
    before = client.local.body, client.state, client.remotes[1].last_packet
    refused = client.refused["malformed"]
    client.receive(state(client.identity.token, 25, 1_000_000, message=message), running.now_us)
    assert client.refused == {"malformed": refused + 1}
    assert (client.local.body, client.state, client.remotes[1].last_packet) == before


def test_states_that_come_late_or_twice_do_not_correct_the_player() -> None:
    link = LinkConditions(latency=0.1, jitter=0.1, duplicate=0.5, reorder=0.2)
    played = match("0 A right\n0.7 A up\n1.5 A left\n", link=TwoWays.from_conditions(link))
    played.run_until(5)
    client = played.participants[0].client
    assert client.refused["late"] > 0
    assert client.refused["repeated"] > 0
    assert client.local.corrections == 0


@pytest.mark.parametrize(("name", "offset"), [*zip(list_names()[::4], cycle([-1000.0, 5.0]))])
def test_every_strategy_draws_finite_places_whatever_the_clock(name: str, offset: float) -> None:
    players = (PlayerConfig("A", (300.0, 300.0), offset=offset), PlayerConfig("B", (320.0, 300.0)))
    link = LinkConditions(latency=0.05, jitter=0.03, loss=0.1, duplicate=0.1)
    text = "0 B up\n0.5 A shoot aim=B\n1 B left\n1.5 A shoot aim=B\n"
    played = match(text, players, link=TwoWays.from_conditions(link), remote_strategy=name)
    drawn = 0
    for frame in range(1, 64):
        played.run_until(frame * 0.033)
        for position in played.participants[0].client.list_drawn_remotes().values():
            assert all(map(math.isfinite, position))
            drawn += 1
    assert drawn > 20 or (name, offset) == ("epic", -1000.0)
    assert [event.what for event in played.take_events()].count("shot") == 2
    assert played.server.refused.total() == 0


def test_a_strategy_can_be_changed_and_goes_on_with_the_newest_packet() -> None:
    played = match("0 B up\n", link=TwoWays.from_conditions(LinkConditions(latency=0.05)))
    played.run_until(1)
    remote: RemotePlayer = played.participants[0].client.remotes[1]
    from epic_cli import strategy

    remote.change_strategy(lambda: strategy("dumb-terminal"))
    sample = remote.read(1.1)
    assert sample is not None
    assert remote.last_packet is not None
    assert sample.position == remote.last_packet.position
    assert remote.view is not None
    assert remote.view.exact


class MadeInReset(movements.Heedless):
    """A plain Python strategy that makes its state in ``reset``, and says it draws its origin."""

    status: Literal["none", "interpolated"] = "none"

    def reset(self) -> None:
        self.drawn = (0.0, 0.0, 0.0)

    def read(self, at: float) -> Sample:
        return Sample(at, self.drawn, self.drawn, self.status)


@pytest.mark.parametrize("status", ["none", "interpolated"])
def test_nothing_is_drawn_before_the_first_state(status: str) -> None:
    remote = RemotePlayer(type("Early", (MadeInReset,), {"status": status}))
    assert remote.read(1.1) is None
    remote.update(Packet((1.0, 2.0, 0.0), time=1.0, sequence=1), 1.1)
    assert (remote.read(1.2) is None) == (status == "none")
