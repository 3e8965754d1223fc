"""The packets as bytes: decoding returns what was encoded, and refuses all else."""

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epic_cli.play.wire import (
    InputPacket,
    Malformed,
    Projectile,
    StatePacket,
    Verdict,
    decode_input,
    decode_state,
    encode_input,
    encode_state,
)
from epic_cli.play.world import Body, Control, Move, View, Weapon

NUMBER = st.floats(-1e6, 1e6)
TIME = st.integers(0, 10**6)
BODY = st.builds(Body, NUMBER, NUMBER, NUMBER, NUMBER, TIME, TIME, st.integers(0, 65_535))
VIEW = st.builds(View, st.integers(0, 50), st.integers(50, 99), st.floats(0, 1), st.booleans())
CONTROL = st.builds(
    Control,
    st.integers(-1, 1),
    st.integers(-1, 1),
    st.sampled_from(Weapon),
    st.sampled_from([(1.0, 0.0), (0.6, 0.8), (0.0, -1.0)]),
)
STATE = st.builds(
    StatePacket,
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**62),
    st.integers(-(2**62), 2**62),
    st.booleans(),
    st.integers(0, 10**6),
    BODY,
    st.integers(0, 255),
    st.binary(max_size=1172),
    st.dictionaries(st.tuples(st.integers(0, 255), st.integers(0, 7)), TIME, max_size=9),
    st.lists(st.builds(Projectile, st.integers(0, 99), st.integers(0, 7), NUMBER, NUMBER, NUMBER,
                       NUMBER), max_size=3),
    st.lists(st.builds(Verdict, st.integers(0, 10**9), st.integers(0, 4),
                       st.none() | st.integers(0, 7)), max_size=8),
)  # fmt: skip


def packet(*stamps: int, **changes: Any) -> InputPacket:
    moves = [Move(Control(1, 0)._replace(**changes), stamp, 0) for stamp in stamps]
    return InputPacket(7, moves)


@given(st.lists(CONTROL, min_size=1, max_size=3), VIEW)
@settings(deadline=None)
def test_input_comes_out_as_it_went_in(controls: list[Control], view: View) -> None:
    moves = [Move(one, stamp, 0, ((1, view),)) for stamp, one in enumerate(controls)]
    for heard, held_us in ((None, 0), (0, 0), (2**32 - 2, 2**32 - 1)):
        sent = InputPacket(2**32 - 1, moves, heard, held_us)
        assert decode_input(encode_input(sent)) == sent


@given(STATE)
@settings(max_examples=50, deadline=None)
def test_a_state_comes_out_as_it_went_in_to_the_last_bit(state: StatePacket) -> None:
    number = state.snapshot
    deltas = {(number - back, player): delta for (back, player), delta in state.deltas.items()}
    state = state._replace(deltas=deltas)
    assert decode_state(encode_state(state)) == state


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_random_bytes_are_refused_or_are_a_packet(data: bytes) -> None:
    for decode in (decode_input, decode_state):
        try:
            decode(data)
        except Malformed:
            continue
        assert data[0] in (1, 2)


def test_a_packet_is_used_up_and_no_longer_than_a_packet() -> None:
    data = encode_input(packet(100))
    for wrong in (data[:-1], data + b"\0", b"", data * 1000):
        with pytest.raises(Malformed):
            decode_input(wrong)


def seen(*view: float) -> InputPacket:
    move = Move(Control(weapon=Weapon.SHOT), 100, 0, ((1, View(*view)),))  # type: ignore[arg-type]
    return InputPacket(7, [move])


NOWHERE = Body(float("nan"), 0.0)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (packet(100, aim=(float("nan"), 0.0)), "aim"),
        (packet(100, aim=(float("inf"), 0.0)), "aim"),
        (packet(100, aim=(2.0, 0.0)), "aim"),
        (packet(100, x=2), "direction"),
        (packet(100, weapon=9), "weapon"),
        (packet(133, 100), "order"),
        (seen(5, 4, 0.5), "wrong order"),
        (seen(4, 5, 1.5), "fraction"),
        (seen(4, 5, float("nan")), "fraction"),
        (StatePacket(7, 1, 0, None, False, 0, NOWHERE, 0, b"", {}, [], []), "number"),
    ],
)
def test_what_cannot_be_is_refused(wrong: InputPacket | StatePacket, reason: str) -> None:
    if isinstance(wrong, InputPacket):
        decode, data = decode_input, encode_input(wrong)
    else:
        decode, data = decode_state, encode_state(wrong)  # type: ignore[assignment]
    with pytest.raises(Malformed, match=reason):
        decode(data)


def test_the_layout_is_the_documented_one() -> None:
    move = struct.pack("<qbbBddB", 100, 1, 0, 0, 1.0, 0.0, 0)
    assert encode_input(packet(100)) == struct.pack("<BIIIB", 1, 7, 0, 0, 1) + move
    heard = packet(100)._replace(heard=6, held_us=20_000)
    assert encode_input(heard) == struct.pack("<BIIIB", 1, 7, 7, 20_000, 1) + move
