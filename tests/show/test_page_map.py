"""The page's map of long recordings has every marker where the rows have it."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support import comparisons, movements
from support.browser import Page
from support.pages import content, times_of, visited
from support.recordings import few_rows

from epic_cli import Packet, replay
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.compare.report import report
from epic_cli.show.page import make_content, make_page
from epic_cli.show.scene import Selection

STRATEGIES = ("snapshot", "dead-reckoning", "epic", "dumb-terminal")


def figure_eight(t: float) -> tuple[float, float, float]:
    return 12 * math.sin(0.7 * t), 6 * math.sin(1.4 * t), 0.0


def strafe(t: float) -> tuple[float, float, float]:
    """Return a movement to and fro at full speed and slowly onwards; every 40 s it teleports."""
    return 5 * abs((1.3 * t) % 2 - 1) + 30 * (t // 40 % 2), 0.05 * t, 0.0


def recorded(movement: movements.Movement, seconds: float, seed: int) -> list[Packet]:
    """Return twenty packets a second with late ones, lost ones, silences, and marked teleports."""
    chance = random.Random(seed)
    found: list[Packet] = []
    silent = [chance.uniform(5, seconds) for _ in range(int(seconds / 100))]
    for packet in movements.packets(movement, duration=seconds):
        if chance.random() < 0.03 or any(0 < packet.time - at < 1.5 for at in silent):
            continue
        late = packet.time + 0.05 + chance.expovariate(1 / 0.01)
        jumped = bool(found) and math.dist(found[-1].position, packet.position) > 20
        velocity = movements.velocity(movement, packet.time + 1e-4)
        found.append(packet._replace(arrival=late, teleport=jumped, velocity=velocity))
    return found


@few_rows(1)
@pytest.mark.parametrize(
    ("movement", "seconds", "most", "seed"),
    [
        (strafe, 160.0, 1_000, 4),
        (figure_eight, 150.0, 100_000, 1),
    ],
)
def test_markers_are_where_the_rows_are(
    movement: movements.Movement,
    seconds: float,
    most: int,
    seed: int,
    browser: Page,
    tmp_path: Path,
) -> None:
    packets = recorded(movement, seconds, seed)
    blocks = {"": movements.block(packets)}
    taking_part = [StrategySpec(strategy, label=strategy) for strategy in STRATEGIES]
    every = comparisons.compared(
        blocks, taking_part[:1], Timing(), selection=Selection(10**9, -math.inf, math.inf)
    ).scenes[0]
    rows = {"truth": (every.times, every.truth[:, :2])}
    for name in STRATEGIES:
        drawn = [sample for sample in replay(packets, name) if sample.status != "none"]
        rows[name] = (
            np.array([sample.time for sample in drawn]),
            np.array([sample.position[:2] for sample in drawn]),
        )
    study = comparisons.compared(
        blocks, taking_part, Timing(), selection=Selection(most, -math.inf, math.inf)
    )
    assert (study.scenes[0].shared is not None) == (len(every.times) > most)
    text = make_page(study.scenes, make_content(study, report(study)))
    left_out = len(every.times) - len(times_of(content(text)["scenes"][0], {}))
    assert (left_out > 0) == (len(every.times) > most)
    seen = visited(browser, "markers", tmp_path, text)
    cuts = [a.time for a, b in pairwise(packets) if b.teleport or b.time - a.time > 0.3]
    assert len(seen) == 200 + len(STRATEGIES)
    missing = 0
    for shown, moved, scale, places in seen:
        assert moved <= (0 if left_out == 0 else 2 * seconds / most)
        for label, *place in places:
            times, positions = rows[label]
            near = int(np.searchsorted(times, shown + 1e-7, "right"))
            before, after = positions[max(near - 1, 0)], positions[min(near, len(times) - 1)]
            step = times[min(near, len(times) - 1)] - times[max(near - 1, 0)]
            share = 0.0 if step == 0 else (shown - times[max(near - 1, 0)]) / step
            if place == [None, None]:
                missing += 1
                continue
            between = before + min(max(share, 0), 1) * (after - before)
            # what snaps after a cut is drawn where it was until it is elsewhere
            cut = any(0 < shown - value < 8 for value in cuts) or np.isnan(after).any()
            ends = [between, before] if cut else [between]
            off = min(math.dist(place, end) for end in ends if not np.isnan(end).any())
            assert off * scale <= 0.5 + 2e-6 * scale, (label, shown, off)
    assert missing < 0.05 * 5 * len(seen)


def test_trails_of_long_recordings_are_lines(browser: Page, tmp_path: Path) -> None:
    packets = recorded(figure_eight, 400.0, 5)
    study = comparisons.compared(
        {"": movements.block(packets)},
        [StrategySpec(strategy, label=strategy) for strategy in STRATEGIES[:3]],
        Timing(),
        selection=Selection(5_000, -math.inf, math.inf),
    )
    assert study.scenes[0].shared is not None
    seen = visited(
        browser, "trails", tmp_path, make_page(study.scenes, make_content(study, report(study)))
    )
    assert sum(steps for _, steps, _ in seen) > 150
    for scale, steps, painted in seen:
        assert painted >= steps - 1, (scale, steps, painted)  # one may be beneath a marker
