"""Packets that are logged at the socket are told by how the game reads them in its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from support import movements

from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.diagnose.drawn import match
from epic_cli.jobs.diagnose.report.drawings import describe_drawing
from epic_cli.metrics.drawn_path import DrawnPath
from epic_cli.network.link import LinkConditions

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

#: Without late packets.
LINK = LinkConditions(0.05, 0.004, "gamma")


class Read(NamedTuple):
    """The newest state that was read: its position, velocity and stamp, and when it was read."""

    goal: Floats
    speed: Floats
    sent: float
    at: float


#: The next position, from this one, by what was read, at the time of a step after the one before.
Step = Callable[["Floats", Read, float, float], "Floats"]


def step_by_share(place: Floats, read: Read, _now: float, _last: float) -> Floats:
    return place + 0.3 * (read.goal - place)


def step_along_velocity(place: Floats, read: Read, now: float, last: float) -> Floats:
    """Move 4 units a second to where the state was when it was read, and along its velocity."""
    way = read.goal + read.speed * (read.at - read.sent) - place
    most = 4.0 * (now - last) / max(float(np.linalg.norm(way)), 1e-12)
    return place + way * min(1.0, most) + read.speed * (now - last)


def step_between(place: Floats, read: Read, now: float, last: float) -> Floats:
    """Go on from what is drawn so that the way to each state takes 80 ms from its reading."""
    begun = max(last, read.at)
    left = max(read.at + 0.08 - begun, 1e-9)
    return place + (read.goal - place) * min(1.0, (now - begun) / left)


def draw(step: Step, *, behind: bool, every: float, seed: int = 3) -> tuple[PacketBlock, DrawnPath]:
    """Return packets with the times of their socket, and frames of a game that reads them itself.

    It reads them before its step, or ``behind`` it; a step is a frame, or a tick of ``every`` s.
    """
    block = movements.send("strafe", 20, seed, 14, LINK)
    packets = sorted(movements.unpack(block), key=lambda packet: packet.arrival or 0.0)
    dice = np.random.default_rng(seed)
    times = np.round(0.4 + np.cumsum(dice.uniform(0.012, 0.021, 780)), 6)
    drawn: Floats | None = None
    newest: Read | None = None
    rows: list[Floats] = []
    before = float(times[0]) - 0.016
    for now in times.tolist():
        for reads in (False, True) if behind else (True, False):
            if reads:
                while packets and (packets[0].arrival or 0.0) <= now:
                    packet = packets.pop(0)
                    goal, speed = (np.array(each, float) for each in (packet[0], packet[1]))
                    newest = Read(goal, speed, packet.time, now)
                    drawn = goal if drawn is None else drawn
            elif drawn is not None and newest is not None:
                steps = [(before, now)]
                if every:
                    first, last = (int(np.floor(each / every)) for each in (before, now))
                    steps = [(tick * every, (tick + 1) * every) for tick in range(first, last)]
                for begin, end in steps:
                    drawn = step(drawn, newest, end, begin)
        before = now
        rows.append(np.full(3, np.nan) if drawn is None else drawn)
    shown = np.array(rows)
    there = np.isfinite(shown).all(axis=1)
    return block, DrawnPath(times[there], np.round(shown[there], 6), 5e-7)


@pytest.mark.parametrize(
    ("step", "behind", "every", "said", "by_frame"),
    [
        (step_along_velocity, False, 0.02, "speed=4+ahead=arrival+drift=1+every=0.02", True),
        (step_by_share, True, 0.02, "share=0.3+every=0.02", None),
        (step_by_share, True, 0.0, "how=share+share=0.3", None),
        (step_between, False, 0.0, "how=linear+time=0.08+start=frame", None),
    ],
)
def test_code_is_the_same_whenever_arrivals_are_logged(
    step: Step, behind: bool, every: float, said: str, by_frame: bool | None
) -> None:
    block, path = draw(step, behind=behind, every=every)
    found = match({"": block}, {"": path})
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert said in found.mechanism.strategy.label
    assert found.behind is behind
    assert found.by_frame is by_frame
    words = " ".join(describe_drawing(found))
    assert ("(exact, read behind the frames)" in words) is behind
    assert ("(exact)" in words) is not behind


def test_entities_that_read_packets_otherwise_are_described_each_by_its_own_reading() -> None:
    first, second = (draw(step_by_share, behind=behind, every=0.0) for behind in (True, False))
    blocks, paths = {"a": first[0], "b": second[0]}, {"a": first[1], "b": second[1]}
    found = match(blocks, paths)
    assert found.mechanism is not None
    assert found.mechanism.exact
    assert found.other is not None
    assert found.other.mechanism is not None
    assert found.other.mechanism.strategy == found.mechanism.strategy
    assert {found.behind, found.other.behind} == {True, False}
