"""Figures of what was drawn in the last seconds: whole, of now, and of a fair sample."""

import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from support.running import epic

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay import ArrivalPacing, ExactClock, Replay
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.live import model
from epic_cli.live.model import ROW, History, LiveEvaluator

LATENCY = 0.04


class Game:
    """Entities on circles, 20 packets a second each, drawn by a buffer 200 ms behind."""

    def __init__(self, entities: int) -> None:
        self.names = [f"tank{number}" for number in range(entities)]
        self.history = History(Entities())
        pacing = ArrivalPacing(ExactClock(1, 60))
        strategy = read_spec("snapshot+interpolation_time=200ms")
        self.replay = Replay(strategy.maker(), pacing, self.history.entities)
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
    (found,) = (re.search(rf"^{name} ([\d.]+)", one) for one in figures if one.startswith(name))
    assert found
    return float(found[1])


def test_there_are_no_figures_until_they_are_whole() -> None:
    game, found = Game(3), LiveEvaluator(1 / 60)
    for _ in range(8):
        game.go_on(0.25)
        found.look(game.history, game.time, game.time)
        assert found.figures() == []
    game.go_on(0.5)
    found.look(game.history, game.time, game.time + 1)
    while not found.figures():
        found.look(game.history, game.time, game.time + 1)
    assert number_in(found.figures(), "lag") == pytest.approx(200, rel=0.02)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_chases_late_packets_has_the_figures_of_compare(tmp_path: Path, seed: int) -> None:
    """Its lag wavers, so the residual depends on all of the rows from which the lag is found."""
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
    replay = Replay(read_spec("lerp").maker(), pacing, history.entities)
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
    while not found.figures() or "of" in found.figures()[-1]:
        found.look(history, late, late)
    done = epic("compare", "-s", "lerp", "-f", "json", "--warm-up", f"{late - 5}",
                "--tick", "1/60", tmp_path / "game.csv")  # fmt: skip
    compared = json.loads(done.stdout)
    for name, metric in (("error", "error"), ("residual", "residual"), ("jerk", "jerk")):
        assert number_in(found.figures(), name) == pytest.approx(compared[metric], rel=0.01)
    assert number_in(found.figures(), "jumps") == compared["jumps"]


def test_a_thousand_entities_at_the_pace_of_a_screen_are_kept_for_the_window() -> None:
    history = History(Entities())
    rows = np.zeros(1000, ROW)
    for tick in range(360):
        rows["time"], rows["status"] = tick / 60, 2
        history._rows.add(tick / 60, rows.tobytes())
    assert len(history.rows(359.5 / 60 - model.WINDOW)) == 300_000


def test_of_many_a_fair_sample_is_of_the_last_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "_BUDGET", 0.0)  # one entity between two pictures
    game, found = Game(200), LiveEvaluator(1 / 60)
    game.go_on(4)
    turns: list[float] = []
    for _ in range(200):
        game.go_on(0.05)
        found.look(game.history, game.time, game.time, listed=("tank7", "tank8"))
        figures = found.figures()
        if not figures:  # those listed were measured first
            assert not turns
            continue
        assert number_in(figures, "lag") == pytest.approx(200, rel=0.02)
        (of,) = (one for one in figures if one.startswith("of "))
        count = int(of.split()[1])
        assert of == f"of {count} of 200 entities"
        turns.append(count)
        assert not math.isnan(found.error("tank7"))
    assert 10 <= max(turns) <= 40
