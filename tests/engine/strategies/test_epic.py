"""The demo's interpolator as a strategy: settings, statuses, teleports, and a second version."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.oracle import Vector, f32
from support.recordings import draw_samples, examples

from epic_cli import Packet, Sample, SettingError, Status, replay, strategy

ORIGIN = (0.0, 0.0, 0.0)
TENTH = 0.1


class PlainEpic:
    """The same strategy in plain Python: the oracle's interpolator behind the contract."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        self.interpolator = oracle.Interpolator(**self.settings)
        self.empty = True
        self.newest = math.nan
        self.shown: Vector | None = None

    def update(self, packet: Packet, now: float) -> bool:
        del now
        assert packet.velocity
        if packet.teleport:
            if packet.time < self.newest:
                return False
            self.interpolator = oracle.Interpolator(
                **self.settings,
                position=packet.position,
                velocity=packet.velocity,
                time=packet.time,
            )
        elif not self.interpolator.update(packet.position, packet.velocity, packet.time):
            return False
        if not packet.time < self.newest:
            self.newest = packet.time
        self.empty = False
        return True

    def read(self, at: float) -> Sample:
        line, now = self.interpolator, f32(at)
        status: Status = "none" if self.empty else "held"
        if line.read(now):
            on_the_way = line.last_time <= now <= oracle.add(line.last_time, line.display_behind)
            status = "interpolated" if on_the_way else "extrapolated"
        elif not self.empty and self.shown not in (None, line.last_return_pos):
            status = "interpolated"  # it has just been moved there
        self.shown = None if self.empty else line.last_return_pos
        return Sample(at, line.last_return_pos, line.last_vel, status)


NUMBERS = st.floats(-1e6, 1e6, width=32)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
TIMESTAMPS = st.floats(-3, 6) | st.integers(-2, 60).map(lambda n: n / 10)
PACKETS = st.tuples(VECTORS, VECTORS, TIMESTAMPS, st.integers(0, 5)).map(
    lambda parts: Packet(*parts[:3], teleport=not parts[3])
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "calc_ahead": st.floats(0, 1),
        "display_behind": st.sampled_from((0.0, 0.00009, 0.0001, 0.00011, 0.2)) | st.floats(0, 1),
        "slop_time": st.floats(0, 1),
    },
)


@given(packets=st.lists(PACKETS, min_size=1, max_size=12), settings=SETTINGS)
@examples(400)
def test_the_compiled_strategy_is_the_plain_one(
    packets: list[Packet], settings: dict[str, Any]
) -> None:
    compiled = list(replay(packets, "epic", **settings))
    assert repr(compiled) == repr(list(replay(packets, lambda: PlainEpic(**settings))))
    timed = [packet._replace(arrival=index / 9) for index, packet in enumerate(packets)]
    compiled = list(replay(timed, "epic", **settings))
    assert repr(compiled) == repr(list(replay(timed, lambda: PlainEpic(**settings))))


@given(packets=st.lists(PACKETS, max_size=12), settings=SETTINGS)
@examples(100)
def test_update_says_whether_the_packet_was_taken(
    packets: list[Packet], settings: dict[str, Any]
) -> None:
    compiled, plain = strategy("epic", **settings), PlainEpic(**settings)
    for packet in packets:
        assert compiled.update(packet, 0.0) is plain.update(packet, 0.0)


@given(before=st.lists(PACKETS, max_size=5), after=st.lists(PACKETS, min_size=1, max_size=5))
@examples(100)
def test_after_a_reset_it_is_as_new(before: list[Packet], after: list[Packet]) -> None:
    used, new = strategy("epic", start="packet"), strategy("epic", start="packet")
    for packet in before:
        used.update(packet, 0.0)
        used.read(0.1)
    used.reset()
    assert used.read(-5.0) == new.read(-5.0)
    for index, packet in enumerate(after):
        assert used.update(packet, 0.0) is new.update(packet, 0.0)
        assert used.read(index / 10) == new.read(index / 10)


# -------------------------------------------------------------------------------------- settings


def test_the_settings_are_those_of_the_demo() -> None:
    made = strategy("epic")
    assert made.settings == {  # type: ignore[attr-defined]
        "calc_ahead": 0.2,
        "display_behind": 0.2,
        "slop_time": 0.5,
        "start": "origin",
    }


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("calc_ahead", -0.1, "0 to 60 s"),
        ("display_behind", "soon", "0 to 60 s"),
        ("slop_time", math.inf, "0 to 3600 s"),
        ("start", "here", "origin or packet"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_range(
    name: str, value: float | str, allowed: str
) -> None:
    with pytest.raises(SettingError, match=f"{name}=.* must be {allowed}"):
        strategy("epic", **{name: value})
    with pytest.raises(SettingError, match="did you mean 'slop_time'"):
        strategy("epic", sloptime=1)


def test_a_line_starts_at_the_first_packet_if_it_is_told_to() -> None:
    text = b"7,8,9 / 1,0,0 / 0\n"
    assert draw_samples(text)[0].position[1] == pytest.approx(2)
    first = draw_samples(text, start="packet")[0]
    assert first.position == (f32(7 + 0.05), 8, 9)
    assert first.velocity == (1, 0, 0)


def test_without_a_way_to_go_packets_are_shown_at_once() -> None:
    drawn = draw_samples(b"7,8,9 / 1,2,3 / 0.05\n", display_behind=0)
    assert (drawn[0].position, drawn[0].velocity) == ((7, 8, 9), (1, 2, 3))


# -------------------------------------------------------------------------------------- statuses


def test_each_row_says_how_it_came_about() -> None:
    made = strategy("epic")
    assert made.read(0.0).status == "none"
    assert made.update(Packet((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), 1.0), 0.0)
    statuses = [made.read(at).status for at in (0.999, 1.0, 1.2, 1.2001, 1.499, 1.5, 9.0)]
    assert statuses == [
        *("extrapolated", "interpolated", "interpolated", "extrapolated", "extrapolated"),
        *("held", "held"),
    ]


def test_what_is_held_stands_where_it_was_drawn_last() -> None:
    made = strategy("epic")
    made.update(Packet((1.0, 2.0, 3.0), (1.0, 0.0, 0.0), 0.0), 0.0)
    last = made.read(0.49)
    assert made.read(0.5)._replace(time=0.49, status="extrapolated") == last


def test_before_the_first_packet_it_draws_the_origin_as_the_demo_does() -> None:
    made = strategy("epic")
    assert not made.update(Packet((1.0, 2.0, 3.0), ORIGIN, -2.0), 0.0)
    assert made.read(-0.6)[1:4] == (ORIGIN, ORIGIN, "extrapolated")
    assert made.read(0.0)[1:4] == (ORIGIN, ORIGIN, "none")


# ------------------------------------------------------------------------------------- teleports


def moved(to: Vector, timestamp: float, velocity: Vector = ORIGIN) -> Packet:
    return Packet(to, velocity, timestamp, teleport=True)


def test_a_teleport_is_drawn_at_once_and_without_a_way() -> None:
    packets = [Packet((t * 10, 0.0, 0.0), (10.0, 0.0, 0.0), t) for t in (0.0, 0.1, 0.2)]
    packets += [moved((500.0, 60.0, 7.0), 0.3), Packet((500.0, 60.0, 7.0), ORIGIN, 0.4)]
    drawn = {sample.time: sample.position for sample in replay(packets, clock="exact")}
    assert 3 < drawn[0.35][0] < 4
    assert [drawn[k * 50 / 1000] for k in (8, 9, 10, 11)] == [(500, 60, 7)] * 4


def test_a_teleport_goes_on_with_its_own_velocity() -> None:
    drawn = list(replay([moved((500.0, 60.0, 7.0), 0.0, (8.0, 0.0, 0.0))], clock="exact"))
    assert [s.position for s in drawn] == [(f32(500 + 8 * f32(s.time)), 60, 7) for s in drawn]
    assert {sample.velocity for sample in drawn} == {(8, 0, 0)}


def test_a_teleport_that_was_overtaken_is_ignored() -> None:
    made = strategy("epic")
    assert made.update(Packet((1.0, 0.0, 0.0), ORIGIN, 1.0), 0.0)
    before = made.read(1.1)
    assert not made.update(moved((500.0, 0.0, 0.0), 0.99), 0.0)
    assert made.read(1.1) == before
    assert made.update(moved((500.0, 0.0, 0.0), 1.0), 0.0)
    assert made.read(1.1).position == (500, 0, 0)


def test_a_packet_that_a_teleport_overtook_is_ignored() -> None:
    made = strategy("epic")
    assert made.update(moved((500.0, 0.0, 0.0), 1.0), 0.0)
    assert not made.update(Packet(ORIGIN, ORIGIN, 0.9), 0.0)
    assert made.read(1.1).position == (500, 0, 0)


def test_the_first_packet_may_be_a_teleport_to_before_the_beginning_of_time() -> None:
    made = strategy("epic")
    assert made.update(moved((500.0, 0.0, 0.0), -7.0), 0.0)
    assert made.read(-6.9).position == (500, 0, 0)


# ---------------------------------------------------------------------------- shared promises


@given(velocity=VECTORS, begin=st.floats(0, 50, width=32))
@examples(100)
def test_constant_velocity_is_drawn_as_that_line_after_the_first_packet(
    velocity: Vector, begin: float
) -> None:
    made = strategy("epic", start="packet")
    x, y, z = velocity
    for index in range(30):
        timestamp = begin + index * TENTH
        made.update(
            Packet((x * timestamp, y * timestamp, z * timestamp), velocity, timestamp), timestamp
        )
        for at in (timestamp + 0.05, timestamp + 0.1):
            expected = (x * at, y * at, z * at)
            size = max(map(abs, (*expected, *velocity)))
            assert made.read(at).position == pytest.approx(expected, rel=0, abs=size * 1e-4 + 1e-30)


@given(packets=st.lists(PACKETS, min_size=1, max_size=12))
@examples(100)
def test_finite_packets_never_give_nan(packets: list[Packet]) -> None:
    for sample in replay(packets):
        assert not any(math.isnan(number) for number in (*sample.position, *sample.velocity))
