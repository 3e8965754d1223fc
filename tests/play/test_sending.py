"""The server's states of other players: clients decode what was sent, at the reported cost."""

from __future__ import annotations

import io
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from support.play_links import match, shots
from support.running import epic

from epic_cli.engine.parameters import SettingError
from epic_cli.network.link_spec import TwoWays
from epic_cli.network.sender import SenderSpec
from epic_cli.play import LinkConditions, Match, MatchSpec
from epic_cli.play.client import Client
from epic_cli.play.script import SCENARIOS, parse_script
from epic_cli.play.spec import make_default_players
from epic_cli.play.wire import decode_state, encode_state
from epic_cli.play.world import View
from epic_cli.recordings.tables import TableRefusal

#: Each with the largest error of a coordinate: a number in single precision, half a step.
SENDERS = [
    ("20hz", 4e-5),
    ("20hz,bits=14,range=1024", 1024 / (2**14 - 1)),
    ("60hz,quantize=0.05,pack=delta", 0.025),
    ("30hz,quantize=0.01,pack=chain,redundancy=2", 0.005),
    ("20hz,threshold=1,redundancy=9,rotation=yaw,velocity=half", 4e-5),
    ("20hz,threshold=0.5,against=judged,at_least=1s", 4e-5),
    ("20hz,layout=mirror,pack=delta", 4e-5),
    ("20hz,layout=unreal", 0.005),
    ("20hz,quantize=half", 0.25),
    ("30hz,budget=9kbit,repeats=2,bits=16", 0.016),
]
TEXT = "0 B right\n0.5 B up\n1 B stop\n2.5 B left down\n3 A shoot aim=B\n3.7 B right\n"
BAD = LinkConditions(latency=0.06, jitter=0.03, loss=0.1, duplicate=0.1, reorder=0.1)


def over_bad(send: str, text: str = TEXT, **settings: Any) -> Match:
    return match(text, link=TwoWays.from_conditions(BAD), send=SenderSpec.parse(send), **settings)


@pytest.mark.parametrize(("send", "most"), SENDERS)
def test_a_client_has_what_was_sent_and_that_is_the_truth_within_a_step(
    send: str, most: float
) -> None:
    played = over_bad(send)
    client, sent = played.participants[0].client, played.server.connections[0]
    client.packets, seen = [], 0
    for tick in range(1, 45):
        played.run_until(0.1 * tick)
        truth = {round(time, 6): place for time, place in played.server.history.list_records(1)}
        for packet in client.packets:
            number = packet.sequence or 0
            assert packet.position[:2] == sent.sent.find_position(1, View(number, number, 0.0), 0)
            if packet.time in truth:
                x, y = truth[packet.time]
                off = max(abs(packet.position[0] - x), abs(packet.position[1] - y))
                assert off <= most * (1 + 1e-9) + 1e-6
                seen += 1
        client.packets = []
    assert seen > 8
    assert not client.refused["malformed"]
    assert not client.undecodable or "chain" in send


@pytest.mark.parametrize(("send", "_"), SENDERS)
def test_the_server_rewinds_to_what_was_drawn_of_what_was_sent(send: str, _: float) -> None:
    """A delay buffer's view is a point between two states that were sent, maybe long ago."""
    played = over_bad(send, remote_settings=(("interpolation_time", 0.2),))
    client, exact = played.participants[0].client, 0
    for frame in range(1, 140):
        played.run_until(frame * 0.033)
        remote = client.remotes[1]
        if remote.view is None or not remote.view.exact or remote.sample is None:
            continue
        exact += 1
        known = played.server.connections[0].sent.find_position(1, remote.view, played.now_us)
        assert known == remote.sample.position[:2]
    assert exact > 40
    for event, hit_on_screen in shots(played):
        assert event.details["rewound"] == hit_on_screen


@pytest.mark.parametrize(("send", "_"), SENDERS[::3])
def test_a_players_own_state_is_exact_however_the_others_are_sent(send: str, _: float) -> None:
    played = over_bad(send, "0 A right\n0.7 A up\n1.5 A left down\n")
    played.run_until(4)
    assert played.participants[0].client.local.mispredictions == 0


@pytest.mark.parametrize("send", [*[send for send, _ in SENDERS], "30hz,pack=chain"])
def test_a_message_that_was_changed_on_its_way_is_refused_as_a_whole_or_read(send: str) -> None:
    """Flip bits that no checksum sees; a refused message leaves nothing behind."""
    draws = random.Random(send)
    played = over_bad(send)
    client = played.participants[0].client
    receive, refused = client.receive, 0

    def receive_damaged(data: bytes, machine_us: int) -> None:
        nonlocal refused
        packet = decode_state(data)
        for _ in range(9 if packet.message else 0):
            message = bytearray(packet.message)
            for _ in range(draws.choice((1, 1, 3, 30))):
                message[draws.randrange(len(message))] ^= 1 << draws.randrange(8)
            before = known(client), client.refused["malformed"]
            receive(encode_state(packet._replace(message=bytes(message))), machine_us)
            if client.refused["malformed"] > before[1]:
                refused += 1
                assert known(client) == before[0]
        receive(data, machine_us)

    client.receive = receive_damaged  # type: ignore[method-assign]
    played.run_until(2)
    assert refused > 20
    for remote in client.remotes.values():
        assert remote.sample is None or all(map(math.isfinite, remote.sample.position))


def known(client: Client) -> object:
    """Return all states that a client has decoded."""
    readers = [
        {number: {**states} for number, states in reader._history.items()}
        for reader in client._readers.values()
    ]
    others = [remote.last_packet for remote in client.remotes.values()]
    return client.state, client.local.predicted, others, readers


@pytest.mark.parametrize("send", ["60hz,redundancy=3", "60hz"])
def test_a_state_is_taken_once_however_often_it_comes(send: str) -> None:
    played = over_bad(send)
    client = played.participants[0].client
    client.packets = []
    played.run_until(4)
    numbers = [packet.sequence for packet in client.packets]
    assert len(set(numbers)) == len(numbers) > 180


class Scales:
    """A link that adds up the bytes given to it."""

    total = 0.0

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:
        self.total += size
        return (time + 0.05,)

    def has_ended(self, time: float) -> bool:
        del time
        return False


def test_the_bytes_are_those_on_the_wire() -> None:
    links: dict[str, Scales] = {}

    def trace(purpose: str) -> Scales:
        return links.setdefault(purpose, Scales())

    played = match(TEXT, trace=trace, send=SenderSpec.parse("20hz,bits=12,pack=delta"))
    played.run_until(3)
    for name, connection in zip(played.names, played.server.connections, strict=True):
        assert links[f"down/{name}"].total == connection.bytes > 61 * 28
    assert links["up/A"].total == 0  # moves are as long as the link says


def test_who_rests_is_not_sent_and_can_still_be_shot() -> None:
    text = "0 B right\n0.5 B stop\n5 A shoot aim=B\n"
    played = over_bad("20hz,threshold=0.1", text)
    played.run_until(6)
    assert played.server.connections[0].states < 25
    ((event, hit_on_screen),) = shots(played)
    assert event.details["view"] == "exact"
    assert event.details["rewound"] == hit_on_screen


def test_sending_by_error_is_quiet_where_the_guess_is_right() -> None:
    with SCENARIOS["send-by-error"].open("rb") as stream:
        played = Match(MatchSpec(), parse_script(stream, "AB"))
    sent = played.server.connections[0]
    counts = []
    for until in (3, 6, 9):
        before = sent.states
        played.run_until(until)
        counts.append((sent.states - before) / 3)
    assert counts[0] > 30 > 4 > counts[1] == counts[2]


def test_eight_players_fit_and_the_budget_is_kept() -> None:
    spec = MatchSpec(make_default_players(8), send=SenderSpec.parse("60hz,budget=24kbit,bits=12"))
    played = Match(spec)
    played.run_until(3)
    connection = played.server.connections[0]
    assert connection.states / 3 < 7 * 60
    assert connection.bits <= 24_000 * 3 + 8 * 1200
    drawn = played.participants[0].client.list_drawn_remotes()
    assert set(drawn) == set(range(1, 8))
    truth = played.server.list_positions()
    assert max(math.dist(drawn[one], truth[one]) for one in drawn) < 8


def test_packets_without_velocities_are_refused_whenever_they_would_be_sent(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("0 A right\n1 set send=layout=mirror\n")
    packets = tmp_path / "packets.txt"
    refused = epic("play", tmp_path / "s", "--packets", packets, "--duration", "2")
    assert refused.returncode == 2
    assert b"velocities" in refused.stderr
    assert not packets.exists()


@pytest.mark.parametrize(
    ("send", "said"),
    [
        ("recorded", "send_rate=recorded"),
        ("0.1hz", "0.5 to 1000 Hz"),
        ("2000hz", "0.5 to 1000 Hz"),
        ("mtu=500", "mtu has no effect"),
        ("separate=on", "separate has no effect"),
        ("clock_offset=1", "clock.NAME"),
        ("bits=9,range=1e9", "at most 1e\\+06 units"),
        ("quantize=half-delta", "quantize=half"),
        ("layout=unity-ngo", "quantize=half"),
    ],
)
def test_what_a_match_cannot_send_is_refused(send: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        MatchSpec(send=SenderSpec.parse(send))
    refused = epic("play", "--send", send, "--duration", "1")
    assert refused.returncode == 2
    assert re.search(said, refused.stderr.decode())
    with pytest.raises(TableRefusal, match=said) as found:
        parse_script(io.BytesIO(f"1 A up\n2 set send={send}\n".encode()), "AB")
    assert (found.value.problem.line, found.value.problem.column) == (2, 7)


@pytest.mark.parametrize(("key", "option"), [("send", "send"), ("loss", "link"), ("seed", "seed")])
def test_what_has_an_option_of_its_own_is_named(key: str, option: str) -> None:
    refused = epic("play", "--match", f"{key}=1", "--duration", "1").stderr.decode()
    assert f"{key} has an option of its own: --{option}" in refused
