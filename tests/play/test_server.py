"""The server: limits on each client's time, and refused packets."""

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.play_links import OPEN, dropping, match

from epic_cli.play import Match, MatchSpec, PlayerConfig
from epic_cli.play.server import MOST_WAITING, Server
from epic_cli.play.wire import InputPacket, decode_state, encode_input
from epic_cli.play.world import Control, Move, View, Weapon

TICK_US = 50_000


def server() -> Server:
    made = Server(OPEN, [11, 22], [(300.0, 300.0), (600.0, 600.0)])
    made.tick(0, TICK_US)
    return made


def moves(*stamps: int, token: int = 11, control: Control | None = None) -> bytes:
    control = control or Control(1, 0)
    return encode_input(InputPacket(token, [Move(control, stamp, 0) for stamp in stamps]))


def shot(newer: int, player: int = 1) -> bytes:
    control = Control(weapon=Weapon.SHOT)
    move = Move(control, 33_000, 0, ((player, View(0, newer, 0.5)),))
    return encode_input(InputPacket(11, [move]))


def test_a_clients_time_never_passes_the_next_tick() -> None:
    made = server()
    made.receive(moves(0, 33_000), 10_000)
    before = made.get_body(0)
    made.receive(moves(66_000), 20_000)  # it would be at 10 + 66 ms
    assert made.get_body(0) == before
    made.tick(TICK_US, 2 * TICK_US)
    assert made.get_body(0).x > before.x


def test_delta_is_how_old_the_state_is_at_the_tick() -> None:
    made = server()
    made.receive(moves(0, 33_000), 10_000)
    packets = made.tick(TICK_US, 2 * TICK_US)
    assert decode_state(packets[1]).deltas == {(1, 0): TICK_US - 43_000}
    assert decode_state(packets[0]).deltas == {(1, 1): 0}


def test_the_echo_is_the_newest_processed_stamp_and_how_long_it_was_held() -> None:
    made = server()
    made.receive(moves(0, 33_000), 10_000)
    made.receive(moves(33_000, 66_000), 20_000)
    packet = decode_state(made.tick(TICK_US, 2 * TICK_US)[0])
    assert (packet.echo_us, packet.fresh, packet.held_us) == (33_000, True, 40_000)
    packet = decode_state(made.tick(2 * TICK_US, 3 * TICK_US)[0])
    assert (packet.echo_us, packet.fresh) == (66_000, True)
    packet = decode_state(made.tick(3 * TICK_US, 4 * TICK_US)[0])
    assert (packet.echo_us, packet.fresh) == (66_000, False)


@cache
def run_to_the_right(rate: float = 1.0) -> Match:
    players = (
        PlayerConfig("A", (300.0, 300.0), rate=rate),
        PlayerConfig("B", (600.0, 600.0)),
    )
    played = match("0 A right\n", players, trace=dropping())
    played.run_until(5)
    return played


@pytest.mark.parametrize("rate", [1.1, 2.0, 5.0])
def test_who_sends_faster_ends_where_an_honest_one_ends(rate: float) -> None:
    honest, cheating = (run_to_the_right(each).server.get_body(0) for each in (1.0, rate))
    # neither is further than one network tick from the other
    assert abs(cheating.x - honest.x) <= 8 * 0.05 + 1e-9
    assert honest.vx == cheating.vx == 8


def test_who_sends_much_faster_is_not_believed_and_loses() -> None:
    played = run_to_the_right(20.0)
    assert played.server.get_body(0).x < run_to_the_right().server.get_body(0).x
    assert played.server.connections[0].refused["from the future"] > 0


def test_a_slow_clock_loses() -> None:
    assert run_to_the_right(0.5).server.get_body(0).x < run_to_the_right().server.get_body(0).x - 10


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (moves(0, 33_000), "repeated"),
        (moves(60_000_000), "from the future"),
        (shot(newer=7), "from the future"),
        (shot(newer=0, player=0), "forged"),
        (shot(newer=0, player=7), "forged"),
    ],
)
def test_what_cannot_be_true_is_refused_and_counted(data: bytes, reason: str) -> None:
    made = server()
    made.receive(moves(0, 33_000 if reason == "repeated" else 10_000), 10_000)
    before = made.get_body(0)
    made.receive(data, 40_000)
    assert made.connections[0].refused == {reason: 1}
    assert made.connections[1].refused == {}
    assert made.get_body(0) == before


def test_nobody_speaks_for_another_without_his_token() -> None:
    made = server()
    made.receive(moves(0, 33_000, token=12), 10_000)
    made.receive(b"\x01nonsense", 10_000)
    assert made.refused == {"forged": 1, "malformed": 1}
    assert made.get_body(0).position == (300.0, 300.0)


def test_moves_that_wait_are_bounded() -> None:
    made = server()
    for stamp in range(0, 1_000_000, 500):
        made.receive(moves(stamp), 10_000)
    assert len(made.connections[0].waiting) <= MOST_WAITING
    assert made.connections[0].refused["too fast"] > 0


def everyone_else(played: Match) -> list[object]:
    return [played.server.get_body(1), played.participants[1].client.local.body]


@given(st.lists(st.binary(min_size=1, max_size=120), max_size=30), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_garbage_hurts_nobody(garbage: list[bytes], seed: int) -> None:
    """Send random bytes, and packets with flipped bits, to the server and to the clients."""
    text = "0 A right\n0 B up\n0.3 A shoot aim=B\n"
    clean, fuzzed = match(text), match(text)
    clean.run_until(1)
    source = random.Random(seed)
    for step, data in enumerate(garbage):
        fuzzed.run_until(step / 40)
        real = bytearray(moves(step * 33_000, token=99))
        real[source.randrange(len(real))] ^= 1 << source.randrange(8)
        for chunk in (data, bytes(real)):
            fuzzed.server.receive(chunk, fuzzed.now_us)
            for participant in fuzzed.participants:
                participant.client.receive(chunk, fuzzed.now_us)
    fuzzed.run_until(1)
    assert everyone_else(fuzzed) == everyone_else(clean)
    assert fuzzed.server.get_body(0) == clean.server.get_body(0)
    assert fuzzed.server.refused.total() == 2 * len(garbage)
    assert all(
        participant.client.refused.total() == 2 * len(garbage)
        for participant in fuzzed.participants
    )


def test_who_knows_his_own_token_hurts_himself_alone() -> None:
    text = "0 A right\n0 B up\n"
    clean, fuzzed = match(text), match(text)
    clean.run_until(2)
    source = random.Random(1)
    token = fuzzed.participants[0].client.identity.token
    for step in range(200):
        fuzzed.run_until(step / 100)
        stamps = sorted({source.randrange(-(10**7), 10**7) for _ in range(3)})
        fuzzed.server.receive(moves(*stamps, token=token), fuzzed.now_us)
    fuzzed.run_until(2)
    assert everyone_else(fuzzed) == everyone_else(clean)
    assert fuzzed.server.connections[0].refused.total() > 50


def test_settings_of_two_players_with_one_name_are_refused() -> None:
    players = (PlayerConfig("A", (1.0, 1.0)), PlayerConfig("A", (2.0, 2.0)))
    with pytest.raises(ValueError, match="same name"):
        Match(MatchSpec(players=players))


def test_the_round_trip_is_measured_by_what_the_client_has_heard() -> None:
    made = server()  # has sent snapshot 0 at once
    for tick in (1, 2):
        made.tick(tick * TICK_US, (tick + 1) * TICK_US)

    def hears(snapshot: int, held_us: int, now_us: int) -> float:
        one = Move(Control(1, 0), now_us, 0)
        made.receive(encode_input(InputPacket(11, [one], snapshot, held_us)), now_us)
        return made.connections[0].round_trip.estimate

    assert hears(1, 10_000, 130_000) == pytest.approx(0.07)
    assert hears(1, 10_000, 163_000) == pytest.approx(0.07)  # each counts once
    assert hears(9, 0, 170_000) == pytest.approx(0.07)  # was never sent
    assert 0 <= hears(2, 2**32 - 1, 180_000) < 0.07  # held for longer than there was time
