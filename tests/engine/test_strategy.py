"""Tests that only one replay can use a strategy object at a time."""

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from epic_cli import Packet, Sample, StrategyInUse, replay, strategy
from epic_cli.engine.packets import PacketBlock, SampleBlock
from epic_cli.engine.replay import ArrivalPacing, ExactClock, Replay

ORIGIN = (0.0, 0.0, 0.0)
STEPS = [Packet((t * 10, 0.0, 0.0), (10.0, 0.0, 0.0), t, t) for t in (0.0, 0.1, 0.2, 0.3)]

#: Many rows are drawn between the two: for a while nobody has the GIL.
FAR_APART = [Packet(ORIGIN, ORIGIN, 0.0, 0.0), Packet(ORIGIN, ORIGIN, 10_000.0, 10_000.0)]


class Plain:
    """A strategy in plain Python that counts its resets."""

    def __init__(self) -> None:
        self.resets = 0

    def reset(self) -> None:
        self.resets += 1

    def update(self, packet: Packet, now: float) -> bool:
        del packet, now
        return True

    def read(self, at: float) -> Sample:
        return Sample(at, ORIGIN, ORIGIN, "held")


CALLS: dict[str, Callable[[Any], object]] = {
    "update": lambda made: made.update(STEPS[0], 0.0),
    "read": lambda made: made.read(0.1),
    "reset": lambda made: made.reset(),
    "replay": lambda made: list(replay(STEPS, made)),
    "another replay": lambda made: list(replay(STEPS, lambda: made)),
    "a setting": lambda made: setattr(made, "pause", 0.5),
    "all settings": lambda made: made.__init__(),
}


@pytest.mark.parametrize("name", ["mirror", "unity-ngo", "epic"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_strategy_in_use_refuses_everybody_else(name: str, call: Callable[[Any], object]) -> None:
    made = strategy(name)
    alone = list(replay(STEPS, strategy(name)))
    samples = replay(STEPS, made)
    begun = [next(samples), next(samples)]
    with pytest.raises(StrategyInUse, match="is in use by a replay that is still running"):
        call(made)
    assert [*begun, *samples] == alone
    if call is not CALLS["a setting"] or name == "mirror":
        call(made)  # now it may


CONFIGURED: dict[str, dict[str, float]] = {
    "mirror": {"send_interval": 0.05, "buffer_limit": 8},
    "epic": {"start": 0},
    "one-euro": {"velocity": 0, "age": 0},
}


@pytest.mark.parametrize("name", CONFIGURED)
def test_what_follows_from_settings_is_not_made_anew_while_in_use(name: str) -> None:
    """Computing it again would replace a buffer that the replay reads."""
    made = strategy(name)
    samples = replay(STEPS, made)
    next(samples)
    with pytest.raises(StrategyInUse):
        made.configure(**CONFIGURED[name])  # type: ignore[attr-defined]


def test_what_a_strategy_knows_can_be_read_while_it_is_in_use() -> None:
    made: Any = strategy("mirror", send_interval=0.1)
    for _ in replay(STEPS, made):
        assert made.timescale == 1
        assert made.settings["send_interval"] == 0.1


@pytest.mark.parametrize("end", ["closed", "dropped", "refused", "interrupted"])
def test_a_replay_that_ends_early_lets_its_strategy_go(end: str) -> None:
    def packets() -> Iterator[Packet]:
        yield from STEPS
        if end == "refused":
            yield STEPS[0]._replace(arrival=1e300)
        raise KeyboardInterrupt

    made = strategy("mirror")
    samples: Any = replay(packets(), made)
    next(samples)
    if end == "closed":
        samples.close()
    elif end == "dropped":
        del samples
    else:
        with pytest.raises((ValueError, KeyboardInterrupt)):
            list(samples)
    made.reset()
    assert made.update(STEPS[0], 0.0)


def test_one_object_from_a_function_draws_one_entity() -> None:
    for made in (strategy("mirror"), Plain()):
        packets = [STEPS[0], STEPS[1]._replace(entity="b")]
        with pytest.raises(StrategyInUse):
            list(replay(packets, lambda made=made: made))  # type: ignore[misc]


def test_a_plain_object_is_used_by_one_replay_and_left_alone_by_the_other() -> None:
    made = Plain()
    first = replay(STEPS, made)
    next(first)
    with pytest.raises(StrategyInUse, match="this Plain is in use"):
        next(replay(STEPS, made))
    assert made.resets == 1
    rows = len(list(replay(STEPS, Plain)))
    assert len(list(first)) == rows - 1
    assert len(list(replay(STEPS, made))) == rows


def loop(make: Callable[[], Any], packets: list[Packet] = STEPS) -> Replay:
    """Return a replay that has taken its packets."""
    block = PacketBlock()
    for packet in packets:
        block.append(packet)
    running = Replay(make, ArrivalPacing(ExactClock()), block.entities)
    running.feed(block)
    return running


def rest(running: Replay) -> Sample:
    """Return the last of the rows that are due, drawn in one call."""
    out = SampleBlock(1_000_000)
    assert not running.draw(out)
    return out.last(running.entities)


def disturbed(running: Replay, call: Callable[[], object]) -> tuple[Sample, set[str]]:
    """Return the last row drawn while another thread calls the strategy, and its errors."""
    begun, done = threading.Event(), threading.Event()
    answers = set()

    def disturb() -> None:
        while not done.is_set():
            try:
                call()
                answers.add("")
            except (StrategyInUse, RuntimeError) as error:
                answers.add(str(error))
            begun.set()

    thread = threading.Thread(target=disturb)
    thread.start()
    begun.wait()
    try:
        return rest(running), answers
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["mirror", "unity-ngo"])
def test_another_thread_is_refused_while_rows_are_drawn(
    name: str, call: Callable[[Any], object]
) -> None:
    made = strategy(name)
    running = loop(lambda: made, FAR_APART)
    running.draw(SampleBlock(1))
    drawn, answers = disturbed(running, lambda: call(made))
    assert all(" is in use by a replay that is still running" in answer for answer in answers)
    assert drawn == rest(loop(partial(strategy, name), FAR_APART))


def test_a_replay_serves_one_thread_at_a_time() -> None:
    running = loop(partial(strategy, "mirror"), FAR_APART)
    drawn, answers = disturbed(running, lambda: running.feed(PacketBlock()))
    assert any("already drawing, in another thread" in answer for answer in answers)
    assert drawn == rest(loop(partial(strategy, "mirror"), FAR_APART))


@pytest.mark.parametrize("method", ["update", "read", "reset", "__init__"])
@pytest.mark.parametrize(
    "call", ["draw", "feed", "finish", "close"], ids=lambda name: f"calls {name}"
)
def test_a_strategy_that_calls_its_own_replay_back_is_refused(method: str, call: str) -> None:
    def back(self: Plain, *_: object) -> Any:
        del self
        blocks = {"draw": SampleBlock, "feed": PacketBlock}
        return getattr(running, call)(*([blocks[call]()] if call in blocks else []))

    class Calling(Plain):
        pass

    setattr(Calling, method, back)
    running = loop(Calling)
    out = SampleBlock()
    with pytest.raises(RuntimeError, match="already drawing"):
        running.draw(out)
    assert not running.draw(out)


def test_a_replay_that_has_ended_takes_no_more_packets() -> None:
    running = loop(partial(strategy, "mirror"))
    running.finish()
    out = SampleBlock()
    while running.draw(out):
        pass
    with pytest.raises(RuntimeError, match="this replay has ended"):
        running.feed(PacketBlock())


def test_the_strategies_of_a_replay_cannot_be_taken_from_it() -> None:
    running = loop(partial(strategy, "mirror"))
    running.draw(SampleBlock(1))
    running.strategies.clear()
    assert len(running.strategies) == 1


@pytest.mark.parametrize("name", ["epic", "mirror", "dumb-terminal"])
def test_a_strategy_is_neither_copied_nor_pickled(name: str) -> None:
    made = strategy(name)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="can be neither pickled nor copied: create another"):
            attempt(made)
