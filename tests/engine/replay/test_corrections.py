"""Tests of local players' logs: predicted positions, corrections, and the server's states."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli import Packet, compare, read_packets, replay, replay_array
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.corrections import OwnPlayer, list_own_players
from epic_cli.engine.replay.strategy_spec import ENGINES, read_specs
from epic_cli.main import main

FRAME, LATENCY = 1 / 60, 0.1


def game(seed: int, reconciles: bool = True, player: str = "") -> tuple[list[Packet], list[float]]:
    """Return the two logs of a client that runs along x while the server pushes it, and the pushes.

    The client learns of a push when the first state with it arrives, and then moves by it.
    """
    dice = random.Random(seed)
    pushes = sorted(dice.uniform(0.5, 4.5) for _ in range(4))
    sizes = [dice.choice([-2.0, 0.4, 5.0]) for _ in pushes]
    late = dice.uniform(-0.01, 0.03)  # the arrival is not stamped in the frame that it changes
    begin = f"{player}/" if player else ""
    log = []
    for k in range(360):
        time = k * FRAME
        heard = (math.ceil(at / (3 * FRAME)) * 3 * FRAME + LATENCY for at in pushes)
        known = sum(s for at, s in zip(heard, sizes, strict=True) if at <= time)
        true = sum(s for at, s in zip(pushes, sizes, strict=True) if at <= time)
        x = 3 * time
        drawn = x + (known if reconciles else 0)
        log.append(Packet((drawn, 0, 0), (3, 0, 0), time, None, f"{begin}predicted", False, k))
        if k % 3 == 0:
            arrival = time + LATENCY + late
            state = Packet((x + true, 0, 0), (3, 0, 0), time, arrival, f"{begin}authoritative")
            log.append(state._replace(sequence=k))
    log.sort(key=lambda one: one.time if one.arrival is None else one.arrival)
    return log, sizes


def read(log: list[Packet]) -> dict[str, OwnPlayer]:
    blocks: dict[str, PacketBlock] = {}
    for packet in log:
        blocks.setdefault(packet.entity, PacketBlock()).append(packet)
    return list_own_players(blocks)


@given(st.integers(0, 10_000), st.randoms(use_true_random=False), st.sampled_from(["", "A", "a b"]))
def test_corrections_are_where_the_client_moved(
    seed: int, dice: random.Random, player: str
) -> None:
    log, sizes = game(seed, player=player)
    dice.shuffle(log)  # a log may have one table after the other
    (found,) = read(log).items()
    assert found[0] == player
    own = found[1]
    assert len(own.truth) == 120
    steps = [
        (abs(after.position[0] - before.position[0] - 3 * FRAME), after.teleport)
        for before, after in pairwise(own.predicted[k] for k in range(360))
    ]
    marked = [step for step, teleport in steps if teleport]
    assert 0 < len(marked) <= len(sizes)
    assert min(marked) > 1e-9
    # one that is small beside another in the same frames may be taken for rounding
    assert len(marked) >= sum(step > 0.1 * max(map(abs, sizes)) for step, _ in steps)
    assert all(own.predicted[k].arrival == own.predicted[k].time for k in range(360))


def test_a_client_that_never_listens_has_no_corrections() -> None:
    own = read(game(3, reconciles=False)[0])[""]
    guesses = {guess.time: guess for guess in (own.predicted[k] for k in range(len(own.predicted)))}
    assert not any(guess.teleport for guess in guesses.values())
    states = [own.truth[k] for k in range(len(own.truth))]
    wrong = [math.dist(state.position, guesses[state.time].position) for state in states]
    assert sum(off > 1e-6 for off in wrong) > 50


def test_without_common_sequence_numbers_it_says_so() -> None:
    log = [packet._replace(sequence=None) for packet in game(1)[0]]
    with pytest.raises(ValueError, match="sequence number"):
        read(log)


@pytest.mark.parametrize("words", ["replay -s visual-offset", "compare", "tune -s lerp"])
def test_a_log_without_common_sequence_numbers_ends_a_command_with_a_message(
    words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "own.txt"
    states = ("predicted seq=1", "authoritative seq=7")
    lines = [f"{k},0,0 / 1,0,0 / {k / 20} entity={state}" for k in range(40) for state in states]
    log.write_text("\n".join(lines))
    assert main([*words.split(), str(log)]) == 2
    assert "no state of 'authoritative' has the sequence number" in capfd.readouterr().err


def test_other_recordings_are_left_alone() -> None:
    assert read([Packet((0, 0, 0), None, 0.0, None, "predicted")]) == {}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    log = tmp_path / "own.txt"
    match = ["--latency", "100ms", "--match", "bot.B=chaser", "--duration", "8", "--seed", "2"]
    assert main(["play", "-q", *match, "--own", str(log), "-o", str(tmp_path / "rows")]) == 0
    return log


def test_a_match_is_recorded_and_a_snap_draws_what_was_predicted(recorded: Path) -> None:
    predicted = [packet for packet in read_packets(recorded) if packet.entity == "A/predicted"]
    rows = list(replay(recorded, "visual-offset", tick=1 / 60))
    assert len(predicted) > 200
    assert {row.entity for row in rows} == {"A"}
    array = replay_array(recorded, "visual-offset", tick=1 / 60)
    assert array["x"].tolist() == [row.position[0] for row in rows]
    last = {packet.time: packet.position for packet in predicted}
    times = sorted(last)
    for row in rows:
        before = [time for time in times if time <= row.time]
        if before and row.time - before[-1] < 1e-4:
            assert row.position == pytest.approx(last[before[-1]], abs=1e-2)


def test_engines_are_compared_on_a_match(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "-s", "correction:all", "-f", "csv", str(recorded)]) == 0
    table = capsys.readouterr().out
    assert all(f"correction:{engine}" in table for engine in ENGINES)
    snap, source = (
        compare(recorded, [spec]).results[0].measured
        for spec in read_specs(["correction:snap", "correction:source"])
    )
    assert snap is not None
    assert source is not None
    assert snap.excess > source.excess


def test_unknown_ways_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "-s", "correction:sorce", "-"]) == 2
    assert "choose from snap, source" in capsys.readouterr().err
