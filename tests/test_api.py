"""The Python API: the names that ``import epic_cli`` offers."""

import doctest
import inspect
import itertools
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from support.recordings import draw_samples

import epic_cli
from epic_cli import (
    Packet,
    RefusedPacket,
    Sample,
    SettingError,
    SmoothingStrategy,
    Timing,
    UnknownStrategy,
    replay,
    strategies,
    strategy,
)
from epic_cli.engine.refusals import Reason
from epic_cli.engine.replay.playback import parse_tick

ORIGIN = (0.0, 0.0, 0.0)
STEPS = [Packet((t * 10, 0.0, 0.0), (10.0, 0.0, 0.0), t) for t in (0.0, 0.1, 0.2)]


class Frozen:
    """A strategy in plain Python that shows the newest packet unchanged."""

    def __init__(self) -> None:
        self.newest: Packet | None = None

    def reset(self) -> None:
        self.newest = None

    def update(self, packet: Packet, now: float) -> bool:
        del now
        self.newest = packet
        return True

    def read(self, at: float) -> Sample:
        if self.newest is None or self.newest.velocity is None:
            return Sample(at, ORIGIN, ORIGIN, "none")
        return Sample(at, self.newest.position, self.newest.velocity, "held")


# --------------------------------------------------------------------------------------- contents


def test_the_examples_in_the_documentation_are_true() -> None:
    result = doctest.testmod(epic_cli)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_is_there() -> None:
    assert all(hasattr(epic_cli, name) for name in epic_cli.__all__)
    assert dir(epic_cli) == sorted(epic_cli.__all__)
    with pytest.raises(AttributeError, match="'epic_cli' has no attribute 'replays'"):
        epic_cli.replays  # noqa: B018


def test_a_replay_loads_nothing_heavy() -> None:
    program = (
        "import sys; from epic_cli import Packet, replay\n"
        "assert len(list(replay([Packet((0, 0, 0), (0, 0, 0), 0)]))) == 3\n"
        "print(sorted({'numpy', 'rich', 'prompt_toolkit', 'click'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout == b"[]\n"


def test_a_packet_needs_only_position_velocity_and_time() -> None:
    packet = Packet((1.0, 2.0, 3.0), ORIGIN, 0.5)
    assert packet[3:] == (None, "", False, None, 0.0, None, None, None)


def test_the_catalogue_names_what_strategy_makes() -> None:
    for declaration in strategies():
        assert isinstance(strategy(declaration.name), SmoothingStrategy)


def test_a_strategy_can_be_driven_by_hand() -> None:
    made = strategy("epic", start="packet")
    assert made.update(STEPS[0], 0.0)
    assert not made.update(STEPS[0]._replace(time=-0.5), 0.0)
    sample = made.read(0.05)
    assert sample == (0.05, (0.5, 0.0, 0.0), (10.0, 0.0, 0.0), "interpolated", "", None, None)


# ----------------------------------------------------------------------------------------- replay


def test_packets_are_replayed_as_their_text_is() -> None:
    text = "".join(f"{p.position[0]},0,0 / 10,0,0 / {p.time}\n" for p in STEPS)
    assert list(replay(STEPS)) == draw_samples(text.encode("ascii"))


def test_without_packets_there_are_no_samples() -> None:
    assert list(replay([])) == []


def test_samples_come_before_the_next_packet_is_asked_for() -> None:
    asked: list[int] = []

    def endless() -> Iterator[Packet]:
        for index in itertools.count():
            asked.append(index)
            yield Packet(ORIGIN, ORIGIN, index / 10)

    samples = replay(endless())
    assert asked == []
    seen = [(next(samples).time, len(asked)) for _ in range(7)]
    assert [count for _, count in seen] == [1, 1, 1, 2, 2, 3, 3]


def test_endless_packets_with_arrival_times_are_drawn_as_they_arrive() -> None:
    packets = (Packet(ORIGIN, ORIGIN, n / 10, n / 10) for n in itertools.count())
    times = [sample.time for sample in itertools.islice(replay(packets), 1000)]
    assert times == [k * 50 / 1000 for k in range(1000)]


def test_a_strategy_can_be_a_name_a_class_a_function_or_an_object() -> None:
    by_class = list(replay(STEPS, Frozen))
    assert by_class[0].position == ORIGIN
    assert by_class[-1].position == (2, 0, 0)
    assert list(replay(STEPS, partial(Frozen))) == by_class
    used = Frozen()
    used.update(Packet((9.0, 9.0, 9.0), ORIGIN, 9.0), 9.0)
    assert list(replay(STEPS, used)) == by_class
    assert list(replay(STEPS, strategy("epic"))) == list(replay(STEPS, "epic"))


def test_a_used_object_is_reset_first() -> None:
    made = strategy("epic")
    first = list(replay(STEPS, made))
    assert list(replay(STEPS, made)) == first


def test_one_object_draws_one_entity() -> None:
    packets = [STEPS[0], STEPS[1]._replace(entity="b")]
    with pytest.raises(ValueError, match="one strategy object draws one entity"):
        list(replay(packets, strategy("epic")))
    assert {sample.entity for sample in replay(packets, Frozen)} == {"", "b"}


def test_settings_go_to_the_strategy() -> None:
    by_name = list(replay(STEPS, "epic", calc_ahead=0.1, display_behind="0.1"))
    assert by_name == list(replay(STEPS, strategy("epic", calc_ahead=0.1, display_behind=0.1)))
    assert by_name != list(replay(STEPS))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"strategy": "epik"}, UnknownStrategy, "did you mean 'epic'"),
        ({"calc_behind": 1}, SettingError, "did you mean 'calc_ahead'"),
        ({"calc_ahead": -1}, SettingError, "calc_ahead=-1 is not allowed: it must be 0 to 60 s"),
        ({"strategy": Frozen, "calc_ahead": 1}, SettingError, "Frozen has no setting 'calc_ahead'"),
        ({"strategy": partial(Frozen), "a": 1}, ValueError, "settings are for a strategy given by"),
        ({"strategy": 3}, TypeError, "3 is not a strategy: give a name, a class, a function that"),
        ({"strategy": None}, TypeError, "None is not a strategy"),
        ({"tick": 4000}, ValueError, "a tick of 4000 is out of range"),
        ({"tick": "soon"}, ValueError, "soon is not a tick"),
        ({"clock": "sundial"}, ValueError, "sundial"),
        ({"pacing": "slow"}, ValueError, "slow"),
    ],
)
def test_wrong_arguments_are_refused_at_once(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        replay([], **arguments)


def test_a_packet_without_a_place_on_the_clock_is_refused_when_it_comes() -> None:
    samples = replay([STEPS[0], STEPS[1]._replace(time=2e6), STEPS[2]])
    assert len(list(itertools.islice(samples, 3))) == 3
    with pytest.raises(RefusedPacket) as refused:
        next(samples)
    assert "time=2000000.0" in str(refused.value)
    assert refused.value.packet.time == 2e6
    assert refused.value.refusal.reason is Reason.TOO_FAR
    assert refused.value.refusal.limit == 5_000_000


@pytest.mark.parametrize("arguments", [{}, {"pacing": "arrival"}, {"clock": "exact"}])
def test_a_refusal_names_what_python_has(arguments: dict[str, Any]) -> None:
    with pytest.raises(RefusedPacket) as refused:
        list(replay([STEPS[0]._replace(time=1e9)], **arguments))
    assert "--" not in str(refused.value)


@pytest.mark.parametrize(
    ("packet", "words"),
    [
        (None, "it has no position; make it with Packet.position, velocity, time.: None"),
        ((ORIGIN, ORIGIN, 0.0), "it has no position; make it with Packet"),
        (Packet("abc", ORIGIN, 0.0), "its position is 'abc', not three numbers x, y, z"),  # type: ignore[arg-type]
        (Packet(ORIGIN, (0.0, 0.0), 0.0), "its velocity is .0.0, 0.0., not three numbers vx"),  # type: ignore[arg-type]
        (Packet(ORIGIN, ORIGIN, None), "its time is None, not a number of seconds"),  # type: ignore[arg-type]
        (Packet(ORIGIN, ORIGIN, 0.0, "soon"), "its arrival is 'soon', not a number of"),  # type: ignore[arg-type]
        (Packet(ORIGIN, ORIGIN, 0.0, sequence=2**70), "its sequence is 118.*, not a whole"),
    ],
)
def test_what_is_no_packet_is_an_error(packet: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        list(replay([packet]))
    with pytest.raises(TypeError, match=words):
        strategy("epic").update(packet, 0.0)


def test_an_error_of_a_strategy_keeps_its_own_cause() -> None:
    class Chained(Frozen):
        def read(self, at: float) -> Sample:
            try:
                raise KeyError(at)
            except KeyError as error:
                raise LookupError("\x1b[2Jlost") from error

    with pytest.raises(LookupError, match="lost") as raised:
        list(replay(STEPS, Chained))
    assert isinstance(raised.value.__cause__, KeyError)
    assert (
        r"Chained failed in read at 0.05 s, after packet 1 (time 0): LookupError: \x1b[2Jlo"
        in (raised.value.__notes__[0])
    )


def test_a_generator_that_has_been_used_up_says_so() -> None:
    packets = (packet for packet in STEPS)
    next(packets)
    assert list(replay(packets)) == list(replay(STEPS[1:]))
    with pytest.raises(ValueError, match="this generator of packets has been used up"):
        list(replay(packets))
    assert list(replay(iter([]))) == []


def test_the_name_of_a_strategy_is_text() -> None:
    with pytest.raises(TypeError, match="name must be text, such as 'epic', not"):
        strategy(3)  # type: ignore[arg-type]


def test_a_class_takes_settings_as_its_name_does() -> None:
    class Scaled(Frozen):
        def __init__(self, scale: float = 1.0) -> None:
            super().__init__()
            self.scale = scale

        def read(self, at: float) -> Sample:
            drawn = super().read(at)
            x, y, z = drawn.position
            return drawn._replace(position=(x * self.scale, y, z))

    assert list(replay(STEPS, Scaled, scale="2"))[-1].position == (4, 0, 0)
    with pytest.raises(SettingError, match="scale=much is not allowed: it must be a number"):
        replay(STEPS, Scaled, scale="much")


def test_a_switch_takes_a_truth_value() -> None:
    made = strategy("mirror", quirks=True)
    assert made.settings["quirks"] == "on"  # type: ignore[attr-defined]


def test_a_subclass_in_python_of_a_built_in_strategy_is_asked_itself() -> None:
    class Doubled(type(strategy("epic"))):  # type: ignore[misc]
        def read(self, at: float) -> Sample:
            drawn: Sample = super().read(at)
            x, y, z = drawn.position
            return drawn._replace(position=(2 * x, y, z))

    plain, doubled = list(replay(STEPS)), list(replay(STEPS, Doubled, calc_ahead=0.2))
    assert [sample.position[0] for sample in doubled] == [
        2 * sample.position[0] for sample in plain
    ]


# ------------------------------------------------------------------------------------------ ticks


@pytest.mark.parametrize(
    ("tick", "ratio"),
    [
        (0.05, (1, 20)),
        ("0.05", (1, 20)),
        ("50ms", (1, 20)),
        (" 50 MS ", (1, 20)),
        ("20hz", (1, 20)),
        ("60Hz", (1, 60)),
        ("1/60", (1, 60)),
        ("1/60s", (1, 60)),
        (Fraction(1, 60), (1, 60)),
        (1, (1, 1)),
        ("2 s", (2, 1)),
        ("5e-2", (1, 20)),
        (1e-6, (1, 1_000_000)),
        (3600, (3600, 1)),
    ],
)
def test_a_tick_is_taken_as_an_exact_ratio(
    tick: str | float | Fraction, ratio: tuple[int, int]
) -> None:
    assert parse_tick(tick) == ratio


def test_a_float_from_a_division_is_a_tick() -> None:
    assert parse_tick(1 / 60) == (1, 60)


@pytest.mark.parametrize(
    "tick", ["", "x", "ms", "0", "0hz", "-0.05", "1/0", "nan", "inf", "9e-7", "3601", "1e-400ms"]
)
def test_what_is_no_tick_is_refused(tick: str) -> None:
    with pytest.raises(ValueError, match=r"is not a tick|is out of range"):
        parse_tick(tick)


def test_a_tick_with_more_digits_than_the_clock_can_multiply_is_refused() -> None:
    with pytest.raises(ValueError, match="too many digits"):
        parse_tick("0.0500000000000000000000001")


def test_ticks_are_used_as_they_are_given() -> None:
    times = [sample.time for sample in replay(STEPS[:1], clock="exact", tick="60hz")]
    assert times == [k / 60 for k in range(1, 10)]
    assert Timing().tick == parse_tick(0.05)


@pytest.mark.parametrize("name", epic_cli.__all__)
def test_no_time_is_shifted_by_default(name: str) -> None:
    shown = getattr(epic_cli, name)
    if inspect.isfunction(shown):
        for parameter in inspect.signature(shown).parameters.values():
            if parameter.name.endswith("offset"):
                assert parameter.default == 0
