"""The model of a running game: choice of strategy, traffic, figures in hindsight."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from support.recordings import few_of
from support.running import epic

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.parameters import Number, Setting, Value
from epic_cli.engine.replay import ArrivalPacing, ExactClock, Replay
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.engine.strategies import list_declarations
from epic_cli.live import model
from epic_cli.live.model import (
    HISTORY,
    ROW,
    EventLog,
    History,
    LiveEvaluator,
    LiveTraffic,
    StrategyChoice,
    TrafficFlow,
    step_value,
)
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec

SETTINGS = [
    (declaration.name, setting)
    for declaration in list_declarations()
    for setting in declaration.settings
]


def walk(setting: Setting, value: Value, upwards: bool) -> list[Value]:
    """Return the values of a setting, stepped to the end of its range."""
    values = [value]
    while len(values) < 2000:
        after = step_value(setting, values[-1], upwards)
        if after == values[-1]:
            break
        values.append(after)
    return values


def test_steps_stay_in_the_range_of_every_setting_and_come_to_its_ends() -> None:
    for strategy, setting in SETTINGS:
        up = walk(setting, setting.default, True)
        down = walk(setting, setting.default, False)
        for value in (*up, *down):
            assert setting.check(value) == value, (strategy, setting.name)
        if isinstance(setting, Number):
            numbers = [value for value in (*reversed(down), *up[1:]) if not isinstance(value, str)]
            assert numbers == sorted(set(numbers)), (strategy, setting.name)
            assert up[-1] == setting.high
            word = setting.default if isinstance(setting.default, str) else setting.unset
            assert down[-1] == (word or setting.low)
        else:
            assert {*up, *down} == set(setting.choices)


def test_steps_are_small_where_it_matters() -> None:
    found = {(strategy, one.name): one for strategy, one in SETTINGS}
    delay = found["snapshot", "interpolation_time"]
    assert step_value(delay, 0.2, True) == 0.3
    assert step_value(delay, 0.2, False) == 0.15
    assert step_value(delay, 0.17, False) == 0.15
    assert step_value(found["epic", "display_behind"], 0.2, True) == pytest.approx(0.25)
    assert step_value(found["mirror", "buffer_limit"], 32.0, True) == 50
    assert step_value(found["gambetta", "update_rate"], "auto", True) == 2
    assert step_value(found["buffer", "delay"], "1.8i", True) == "1.9i"
    assert step_value(found["buffer", "delay"], "0.1i", False) == "0.1i"
    assert step_value(found["buffer", "delay"], "1000i", True) == "1000i"
    assert step_value(found["mirror", "quirks"], "off", False) == "on"


def test_each_strategy_keeps_its_settings() -> None:
    choice = StrategyChoice(StrategySpec("snapshot", {"interpolation_time": "300ms"}))
    assert choice.values["interpolation_time"] == 0.3
    assert choice.step(upwards=True)
    choice.use()
    choice.go(1)
    assert choice.strategy == choice.names[choice.names.index("snapshot") + 1]
    choice.select(-1)
    assert choice.selected is choice.settings[-1]
    choice.go(-1)
    assert choice.values["interpolation_time"] == 0.5
    assert choice.restore()
    assert not choice.restore()
    choice.go_back()
    assert choice.values["interpolation_time"] == 0.5
    for _ in choice.names:
        choice.go(1)
        choice.spec.make()
    assert choice.strategy == "snapshot"


def packet(time: float, delay: float, entity: str = "", sequence: int | None = None) -> Packet:
    return Packet((0.0, 0.0, 0.0), None, time, time + delay, entity, sequence=sequence)


def flow(packets: Iterable[Packet], now: float) -> TrafficFlow:
    traffic, history = LiveTraffic(), History(Entities())
    for received in packets:
        block = PacketBlock(history.entities)
        block.append(received)
        traffic.add(history.take(block))
    traffic.look(history, now, 0.0, Ingest(IngestSpec()).counts)
    return traffic.flow


def test_nothing_is_known_of_nothing() -> None:
    found = flow([], 7)
    assert found.packets == 0
    assert found.history == ()
    assert all(map(math.isnan, (found.loss, found.jitter, found.delay, found.delay95)))


def test_packets_of_the_last_second_are_counted() -> None:
    packets = [packet(index / 20, 0.03) for index in range(100)]
    assert flow(packets, 5.0).packets == 20
    assert flow(packets, 5.5).packets == 10
    assert flow(packets, 100).packets == 0


def test_delays_are_above_the_shortest() -> None:
    delays = [0.1 + 0.001 * (index % 10) for index in range(80)]
    found = flow([packet(index / 20, delay) for index, delay in enumerate(delays)], 4.1)
    assert found.delay == pytest.approx(0.005)
    assert found.delay95 == pytest.approx(0.009)
    assert found.jitter == pytest.approx((sum([0.001] * 72) + 7 * 0.009) / 79)
    assert found.history == pytest.approx([0.009] * 4 + [0.009])


def test_jitter_is_that_of_each_entity() -> None:
    delays = {"near": 0.01, "far": 0.3}
    packets = [packet(index / 20, delays[name], name) for index in range(40) for name in delays]
    packets.sort(key=lambda one: one.arrival or 0)
    assert flow(packets, 2.2).jitter == pytest.approx(0, abs=1e-12)


def test_seconds_in_which_nothing_came_are_left_open() -> None:
    found = flow([packet(0.5, 0), packet(1.2, 0.1), packet(3.5, 0.2)], 4.5)
    assert found.history[:2] == pytest.approx((0, 0.1))
    assert [math.isnan(entry) for entry in found.history] == [False, False, True, False, True]
    assert len(flow([packet(second, 0) for second in range(500)], 500).history) == HISTORY


@pytest.mark.parametrize("numbered", ["each", "datagrams", "all"])
def test_what_is_missing_is_told_by_the_numbers(numbered: str) -> None:
    made = []
    for index in range(100):
        for place, entity in enumerate("abc"):
            lost = (3 * index + place) % 10 == 4
            number = {"each": index + 1000 * place, "datagrams": index, "all": 3 * index + place}
            if not lost:
                made.append(packet(index / 25, 0.0, entity, number[numbered]))
    made[7], made[9] = made[9], made[7]  # late ones are not lost
    made.append(made[50]._replace(arrival=4.0))  # nor is a copy one more
    assert flow(made, 4).loss == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("datagrams", [2, 3, 7])
@pytest.mark.parametrize("loss", [0.0, 0.1, 0.4])
def test_several_datagrams_hold_the_entities_of_a_tick(datagrams: int, loss: float) -> None:
    chance, made, lost = random.Random(datagrams), [], 0
    for number in range(100 * datagrams):
        tick, part = divmod(number, datagrams)
        if chance.random() < loss and 0 < number < 100 * datagrams - 1:
            lost += 1
            continue
        names = (f"{part}-{index}" for index in range(5))
        made += [packet(tick / 25, 0.0, entity, number) for entity in names]
    assert flow(made, 4).loss == pytest.approx(lost / (100 * datagrams), abs=1e-9)


def test_numbers_that_begin_anew_say_nothing_until_the_old_ones_are_forgotten() -> None:
    before = [packet(index / 20, 0, sequence=60_000 + index) for index in range(40)]
    after = [packet(2 + index / 20, 0, sequence=index) for index in range(140)]
    assert math.isnan(flow(before + after[:10], 2.5).loss)
    assert flow(before + after, 9).loss == 0
    assert math.isnan(flow([packet(0, 0), packet(0.1, 0)], 1).loss)


def test_the_delays_of_a_clock_that_was_reset_are_forgotten() -> None:
    traffic, history = LiveTraffic(), History(Entities())
    counts = Ingest(IngestSpec()).counts
    for index in range(200):
        now = index / 20
        late = 15.0 if 5.0 <= now < 5.6 else 0.02  # until the reset is detected
        block = PacketBlock(history.entities)
        block.append(Packet((0.0, 0.0, 0.0), None, now - late, now))
        traffic.add(history.take(block))
        resets = int(now >= 5.6)
        traffic.look(history, now, now, counts._replace(clock_resets=resets))
        if resets:
            assert max(entry for entry in traffic.flow.history if not math.isnan(entry)) < 0.001
            assert not traffic.flow.delay95 > 0.001
            assert traffic.flow.packets in (20, 21)  # the times are sums of twentieths


@pytest.mark.parametrize("entities", range(1, 6))
def test_an_event_names_three_entities_and_counts_the_rest(entities: int) -> None:
    history, log = History(Entities()), EventLog()
    block = PacketBlock(history.entities)
    for number in range(entities):
        block.append(packet(1.0, 0.0, f"tank{number}"))
    history.take(block)
    log.look(history, 1.0, 1.0, Ingest(IngestSpec()).counts, 0)
    (event,) = log.events
    assert re.findall(r"tank\d", event.words) == [f"tank{n}" for n in range(min(entities, 3))]
    assert re.findall(r"(\d+) more", event.words) == [str(entities - 3)] * (entities > 3)


LATENCY = 0.04


class Game:
    """A game of entities on circles, 20 packets a second each, drawn by a buffer 200 ms behind."""

    def __init__(self, entities: int) -> None:
        self.names = [f"tank{number}" for number in range(entities)]
        self.history = History(Entities())
        pacing = ArrivalPacing(ExactClock(1, 60))
        strategy = read_spec("snapshot+interpolation_time=200ms")
        self.replay = Replay(strategy.make_factory(), pacing, self.history.entities)
        self.samples = SampleBlock()
        self.time = 0.0

    def go_on(self, seconds: float) -> None:
        for _ in range(round(seconds * 20)):
            block = PacketBlock(self.history.entities)
            for number, name in enumerate(self.names):
                angle = self.time + number
                place = 10 * math.cos(angle), 10 * math.sin(angle), 0.0
                block.append(Packet(place, None, self.time, self.time + LATENCY, name))
            self.history.take(block)
            self.replay.feed(block)
            self.time += 0.05
            self.replay.advance(self.time)
            while self.replay.draw(self.samples):
                pass
            self.history.draw(self.samples)
            self.samples.clear()


def number_in(figures: list[str], name: str) -> float:
    (found,) = (re.search(rf"^{name} ([\d.]+)", word) for word in figures if word.startswith(name))
    assert found
    return float(found[1])


def test_there_are_no_figures_until_they_are_whole() -> None:
    game, found = Game(3), LiveEvaluator(1 / 60)
    for _ in range(8):
        game.go_on(0.25)
        found.look(game.history, game.time, game.time)
        assert found.format_metrics() == []
    game.go_on(0.5)
    found.look(game.history, game.time, game.time + 1)
    while not found.format_metrics():
        found.look(game.history, game.time, game.time + 1)
    assert number_in(found.format_metrics(), "lag") == pytest.approx(200, rel=0.02)


@pytest.mark.parametrize("seed", few_of([1, 2], 1))
def test_what_chases_late_packets_has_the_figures_of_compare(tmp_path: Path, seed: int) -> None:
    """The lag wavers, so the residual depends on all rows from which the lag is computed."""
    chance = random.Random(seed)
    paths = [[[chance.uniform(0.2, 4) for _ in range(3)] for _ in range(3)] for _ in range(40)]
    due = []
    for number, path in enumerate(paths):
        for stamp in (number / 800 + beat / 20 for beat in range(300)):
            place = [sum(a * math.sin(b * stamp + c * axis) for a, b, c in path)
                     for axis in range(3)]  # fmt: skip
            late = stamp + chance.expovariate(100)
            due.append((round(late, 6), f"e{number}", round(stamp, 6), place))
    history = History(Entities())
    pacing = ArrivalPacing(ExactClock(1, 60))
    replay = Replay(read_spec("lerp").make_factory(), pacing, history.entities)
    lines = ["time,x,y,z,arrival,entity"]
    for late, one, stamp, (x, y, z) in sorted(due):
        block = PacketBlock(history.entities)
        block.append(Packet((x, y, z), None, stamp, late, one))
        lines.append(f"{stamp},{x},{y},{z},{late},{one}")
        history.take(block)
        replay.feed(block)
        samples = SampleBlock()
        while replay.draw(samples):
            pass
        history.draw(samples)
    (tmp_path / "game.csv").write_text("\n".join(lines))
    found = LiveEvaluator(1 / 60)
    while not found.format_metrics() or "of" in found.format_metrics()[-1]:
        found.look(history, late, late)
    done = epic("compare", "-s", "lerp", "-f", "json", "--warm-up", f"{late - 5}",
                "--tick", "1/60", tmp_path / "game.csv")  # fmt: skip
    compared = json.loads(done.stdout)
    for name, metric in (("error", "error"), ("residual", "residual"), ("jerk", "jerk")):
        assert number_in(found.format_metrics(), name) == pytest.approx(compared[metric], rel=0.01)
    assert number_in(found.format_metrics(), "jumps") == compared["jumps"]


def test_a_thousand_entities_at_the_pace_of_a_screen_are_kept_for_the_window() -> None:
    history = History(Entities())
    rows = np.zeros(1000, ROW)
    for tick in range(360):
        rows["time"], rows["status"] = tick / 60, 2
        history._rows.add(tick / 60, rows.tobytes())
    assert len(history.list_rows(359.5 / 60 - model.WINDOW)) == 300_000


def test_of_many_a_fair_sample_is_of_the_last_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_BUDGET", 0.0)  # one entity between two pictures
    game, found = Game(60), LiveEvaluator(1 / 60)
    game.go_on(4)
    turns: list[float] = []
    for _ in range(100):
        game.go_on(0.05)
        found.look(game.history, game.time, game.time, listed=("tank7", "tank8"))
        figures = found.format_metrics()
        if not figures:  # those listed were measured first
            assert not turns
            continue
        assert number_in(figures, "lag") == pytest.approx(200, rel=0.02)
        (of,) = (figure for figure in figures if figure.startswith("of "))
        count = int(of.split()[1])
        assert of == f"of {count} of 60 entities"
        turns.append(count)
        assert not math.isnan(found.compute_error("tank7"))
    assert 10 <= max(turns) <= 40
