"""Tests of ``chase`` and ``buffer`` against generated code, other strategies, and games."""

from __future__ import annotations

import inspect
import itertools
import math
import random
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from support import games
from support.games import Game
from support.recordings import seeds

from epic_cli import Packet, strategy
from epic_cli.engine.replay.strategy_spec import read_spec, split
from epic_cli.engine.strategies import find_class
from epic_cli.jobs.code.run import run
from epic_cli.jobs.code.spec import CodeSpec

Settings = dict[str, Any]
Drawn = list[Any]


class Engine:
    """A wrapper that gives a strategy the oracles' interface."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.made: Any = strategy(name, **settings)

    def take(self, packet: Packet, now: float) -> bool:
        return bool(self.made.update(packet, now))

    def draw(self, at: float) -> Any:
        sample = self.made.read(at)
        return None if sample.status == "none" else np.array(sample.position)


def rows(made: Any, packets: Iterable[Packet], frames: list[float]) -> Drawn:
    """Return the position drawn in each frame; packets are taken when they arrive."""
    waiting, drawn = list(packets), []
    for at in frames:
        while waiting and waiting[0].arrival <= at:  # type: ignore[operator]
            packet = waiting.pop(0)
            made.take(packet, packet.arrival)
        drawn.append(made.draw(at))
    return drawn


def apart(one: Drawn, other: Drawn) -> float:
    """Return the largest distance between two drawn paths.

    Infinite where only one of them draws something.
    """
    worst = 0.0
    for a, b in zip(one, other, strict=True):
        if (a is None) != (b is None):
            return math.inf
        if a is not None:
            worst = max(worst, float(np.abs(a - b).max()))
    return worst


def stream(dice: random.Random, *, hostile: bool = True) -> tuple[list[Packet], list[float]]:
    """Return packets in order of arrival, over a network with jitter, and the times of frames.

    Some are lost. A hostile one has pauses, late and doubled packets, jumps and marked teleports.
    """
    period = dice.choice([1 / 30, 0.05, 0.1])
    latency, jitter = dice.uniform(0, 0.15), dice.choice([0.0, 0.01, 0.04])
    ahead = dice.choice([0.0, 0.0, 5.0, -100.0])  # of the sender's clock
    time, position, packets = dice.uniform(0, 3), np.zeros(3), []
    velocity = np.array([dice.gauss(0, 5) for _ in range(3)])
    for _ in range(60):
        time += period + (dice.uniform(0.2, 0.8) if hostile and dice.random() < 0.03 else 0)
        if dice.random() < 0.2:
            velocity = np.array([dice.gauss(0, 5) for _ in range(3)])
        position = position + velocity * period + (20 if hostile and dice.random() < 0.02 else 0)
        if dice.random() < 0.05:
            continue
        arrival = time + latency + (dice.expovariate(1 / jitter) if jitter else 0)
        packet = Packet(
            (position[0], position[1], position[2]),
            (velocity[0], velocity[1], velocity[2]),
            time + ahead,
            arrival,
            delta=dice.choice([0, 0, 0, 0.01]) if hostile else 0.0,
            teleport=hostile and dice.random() < 0.01,
        )
        packets.append(packet)
        if hostile and dice.random() < 0.03:
            packets.append(packet._replace(arrival=arrival + dice.uniform(0, 0.05)))
    packets.sort(key=lambda packet: packet.arrival or 0)
    if not hostile:  # in order, too
        newest = np.maximum.accumulate([packet.time for packet in packets])
        packets = [p for p, n in zip(packets, newest, strict=True) if p.time == n]
    at, frames = packets[0].arrival - 0.1, []  # type: ignore[operator]
    rate = dice.choice([30, 60, 144])
    while at < packets[-1].arrival + 1:  # type: ignore[operator]
        frames.append(at)
        at += dice.uniform(0.8, 1.3) / rate
    return packets, frames


#: The values to draw from: seconds and send intervals.
BUFFER: dict[str, list[Any]] = {
    "stamps": ["sender", "sender", "arrival", "ticks"],
    "clock": ["agree", "first", "min", "mean", "median", "max", "newest", "pll"],
    "clock_time": [0.3, 1.0, 2.0, "session"],
    "clock_share": [0, 0, 0.1],
    "clock_count": [0, 0, 1, 6],
    "clock_margin": [0, 0, 0.03],
    "clock_resync": [0, 0, 0.02, 0.1],
    "clock_gain": [0.01, 0.05],
    "clock_limit": [0.0001, 0.003],
    "start": ["arrival", "arrival", "last"],
    "draw_time": ["frame", "frame", "last"],
    "delay": [0, 0.0712, 0.133, 0.2, "0.513i", "1.808i", "3.5i"],
    "jitter_margin": [0, 1, 2.5],
    "jitter_time": [1, 2],
    "jitter": ["lateness", "lateness", "intervals", "arrivals", "changes", "spread", "longest"],
    "jitter_share": [0.1, 0.3],
    "jitter_count": [0, 0, 5],
    "delay_rise": [1, 1, 0.2],
    "delay_fall": [1, 1, 0.3],
    "delay_from": ["clock", "clock", "clock", "newest"],
    "delay_least": [0, 0, 0.04, "1.1i"],
    "delay_most": [60, 60, 0.15, "2.2i"],
    "interval": ["auto", "auto", 0.06, "stamps", "arrivals"],
    "interval_least": [0.0001, 0.0001, 0.04],
    "interval_most": ["unlimited", "unlimited", 0.07],
    "interval_count": [1, 1, 4],
    "interval_share": [1, 1, 0.1],
    "interval_time": [0, 0, 2],
    "curve": ["linear", "hermite", "catmull-rom"],
    "between": ["curve", "curve", "curve", "hold"],
    "beyond": ["hold", "freeze", "chase", "repeat", "oldest", "reuse", "unlimited", 0.1, "0.6i"],
    "beyond_share": [0.2, 0.6],
    "beyond_along": ["slope", "velocity"],
    "beyond_then": ["stay", "return"],
    "catch_up": [
        *("snap", "snap", "snap", "none", "rate", "rate", "queue", "dequeue", "timer"),
        *("timed-queue", "fill", "waypoints", "clamp", "share", "lerp", "slow"),
    ],
    "catch_up_from": [1, 1, 0, 2],
    "still": ["play", "skip"],
    "pace": [1, 0.9, 1.3],
    "catch_up_rate": [0.05, 0.2],
    "catch_up_most": [0, 0.1],
    "catch_up_limit": [0, 0.2],
    "catch_up_near": [0, 0, 0.03],
    "when_empty": ["wait", "run"],
    "rounding_by": ["nearest", "down"],
    "count_at": ["begin", "end"],
    "phase": [0, 0.0171, "frame", "step"],
    "every": ["frame", "frame", "packet", 0.02],
    "tick_time": ["frame", "own"],
    "monotonic": ["off", "off", "on"],
    "min_buffer": [1, 1, 2, 3],
    "max_buffer": [0, 0, 1, 3, 5],
    "copy_before": [0, 0, "1i", 0.03],
    "reserve_time": [0, 0, 0.13],
    "reserve": [0, 0, 1, 2],
    "late": ["drop", "drop", "insert"],
    "equal": ["keep", "keep", "last"],
    "before": ["hold", "none", "newest"],
    "begin": [1, 1, 2, 3],
    "keep": [1024, 1024, 2, 3, 6],
    "forget": [0, 0, 0.15, 0.4],
    "forget_keeps": [1, 2],
    "curve_time": [0, 0, 0.05],
    "rounding_of": ["drawn", "states"],
    "low_pass": [0, 0.05],
    "follow": ["exponential", "lerp", "share", "spring", "speed"],
    "follow_share": [0.2, 0.5, 1],
    "dead_zone": [0, 0, 0.1],
    "rounding": [0, 0, 0.137],
    "snap": [0, 5, 15],
    "times": ["exact", "exact", "milliseconds"],
}
CHASE: dict[str, list[Any]] = {
    "how": [
        *("exponential", "lerp", "share", "spring", "speed", "interval", "linear", "eased"),
        *("growing", "force", "hermite"),
    ],
    "time": [0.05, 0.1, 0.2, "1i", "2.5i"],
    "share": [0.1, 0.3, 1],
    "share_far": ["same", "same", 0.5],
    "far_from": [0.25, 0.1],
    "far_at": [1, 0.4],
    "mean_of": [1, 1, 4],
    "speed": [3, 20, "path", "fastest"],
    "stiffness": [5, 100],
    "damping": [2, 30],
    "integration": ["semi-implicit", "explicit", "exact"],
    "ease": [
        *("smoothstep", "smootherstep", "in-quint", "out-quad", "out-cubic", "out-expo"),
        *("in-circ", "in-out-sine", "out-back", "css-ease"),
    ],
    "start": ["drawn", "arrival", "last", "frame", "transition"],
    "end": ["goal", "short"],
    "overshoot": ["off", "on", 1.5],
    "interval": ["auto", 0.06, "stamps", "arrivals", "frames", "steps"],
    "bend": [1, 1, 3],
    "leave": ["drawn", "packet"],
    "interval_least": [0.0001, 0.0001, 0.04],
    "interval_most": ["unlimited", "unlimited", 0.07],
    "interval_late": [0, 0, 0.25],
    "interval_share": [1, 1, 0.1],
    "ahead": ["newest", "newest", "velocity", "arrival", "step", "interval", "fixed"],
    "age": ["stamp", "arrival", "absolute"],
    "axes": ["all", "each"],
    "velocity": ["sent", "stamps", "arrivals", "interval", "before"],
    "rounding_of": ["drawn", "states"],
    "velocity_factor": [1, 1, 3.6, -0.7],
    "age_offset": [0, 0, -0.1],
    "velocity_share": [1, 1, 0.3],
    "ahead_time": [1.0, 0.1, "unlimited"],
    "fade_after": [0, 0, 0.15, 0.4],
    "fade": [0, 0.1, 0.5],
    "drift": [0, 0, 0.5, 1],
    "drift_share": [1, 0.4],
    "snap": [0, 5],
    "snap_after": [0, 0, 0.3],
    "dead_zone": [0, 0, 0.2],
    "late": ["drop", "take"],
    "playout_delay": [0, 0, 0.07],
    "dead_band": [0, 0, 0.1],
    "repeated": ["take", "drop"],
    "every": ["frame", "frame", "packet", 0.02, 0.05],
    "phase": [0, 0.0071, "frame", "packet"],
    "steps": [1, 1, 2],
    "overlap": ["off", "off", "on"],
    "speed_least": [0, 0, 2],
    "speed_most": ["unlimited", "unlimited", 6],
    "snap_near": [0, 0, 0.05],
    "step_time": ["measured", "measured", 0.02, 1],
    "rounding_by": ["nearest", "down"],
    "step_most": ["unlimited", "unlimited", 0.017],
    "between": ["hold", "lerp"],
    "rounding": [0, 0, 0.137],
    "times": ["exact", "exact", "milliseconds"],
}


#: Engines' strategies that are one composition. Deviations are those of rounding: panda3d's
#: positions are in single precision.
SAME = [
    ("snapshot", "buffer+delay=0.2+keep=7"),
    ("snapshot+clock=pll+server_step=0.05",
     "buffer+stamps=ticks+interval=0.05+clock=pll+clock_resync=1+late=insert+delay=0.2+keep=7"),
    ("geckos", "buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none"
               "+beyond=freeze+monotonic=on+keep=120"),
    ("gambetta", "buffer+stamps=arrival+delay=1i+before=none+beyond=freeze"),
    ("hermite+latency=0+send_interval=60", "buffer+curve=hermite+delay=0.35"),
    ("panda3d+accept_clock_skew=off+prediction=off+default_to_standing_still=off",
     "buffer+delay=0.2+keep=10"),
    ("lerp", "chase+how=lerp+time=0.1"),
    ("local-perception+period=0.1", "chase+how=linear+time=0.1+start=arrival"),
    ("dumb-terminal", "chase+how=share+share=1"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "composition"), SAME)
def test_an_engines_strategy_that_is_a_composition_draws_the_same(
    engine: str, composition: str
) -> None:
    near = 1e-4 if engine.startswith("panda3d") else 1e-9
    for seed in range(40):
        packets, frames = stream(random.Random(seed))
        packets = [packet._replace(delta=0.0) for packet in packets]
        one, other = (rows(Engine(*split(text)), packets, frames) for text in (engine, composition))
        assert apart(one, other) < near, seed


@pytest.mark.parametrize(("engine", "composition"), SAME)
def test_both_pages_say_so(engine: str, composition: str) -> None:
    page, other = (
        "".join(str(find_class(split(text)[0]).__doc__).split()) for text in (engine, composition)
    )
    assert f"``{composition}``" in page
    assert f"``{split(engine)[0]}``" in other


# ------------------------------------------------------------- what games draw that are no engine


#: What public games draw, each with the composition that draws the same.
GAMES: list[tuple[Callable[[], Game], str]] = [
    (games.WebGame, "buffer+stamps=arrival+delay=0.1"),
    (games.SharedTime, "buffer+stamps=ticks+interval=0.25+catch_up=fill+catch_up_rate=1"
     "+still=skip"),
    (games.WholeCentimeters, "buffer+stamps=ticks+clock=newest+delay=1i+interval=stamps"
     "+interval_least=0.001+rounding=0.01+rounding_of=states"),
    (games.LongestGap, "buffer+stamps=arrival+delay=0.033+jitter_margin=1+jitter=longest"
     "+jitter_count=8+delay_least=0.05+delay_most=0.25+delay_fall=0.05+keep=32"),
    (games.TrimmedStates, "buffer+stamps=arrival+delay=0.12+forget=0.18+forget_keeps=2"),
    (games.SlowedClock, "buffer+delay=0.15+catch_up=slow+catch_up_rate=0.1"),
    (games.Nebula, "buffer+stamps=arrival+delay=2i+interval=0.08+keep=3+begin=3"),
    (games.StylyNetSync, "buffer+clock=mean+clock_time=1+delay=1.1i+jitter_margin=1+jitter_time=1"
     "+delay_least=1.1i+delay_most=1.2i+interval_time=2+beyond=0.08+beyond_then=return"),
    (games.PhotonView, "chase+how=interval+interval=0.1+ahead=step+ahead_time=unlimited"),
    (games.SmoothDamp, "chase+how=spring+time=0.1+overshoot=on"),
    (games.LerpByTime, "chase+how=lerp+time=0.1"),
    (games.LerpByFrame, "chase+how=share+share=0.1"),
    (games.TwoSnapshots, "buffer+stamps=ticks+interval=0.05+clock=newest+delay=1i"),
    (games.Tween, "chase+how=linear+time=0.1"),
    (games.Coroutine, "chase+how=linear+time=0.1+start=frame"),
    (games.Timer, "chase+how=eased+time=0.1+start=last"),
    (games.OneAfterAnother, "buffer+stamps=ticks+interval=0.05+clock=first+delay=0+catch_up=none"),
    (games.AgeOfVelocity, "chase+how=share+share=1+ahead=velocity+age=arrival"
     "+ahead_time=unlimited"),
    (games.Tutorial, "chase+how=linear+time=1i+start=last+interval=frames+ahead=interval"
     "+ahead_time=unlimited"),
    (games.KartCurve, "chase+how=hermite+time=1i+start=last+interval=steps+interval_late=60"),
    (games.BezierAhead, "chase+how=hermite+time=1i+interval=0.06+ahead=fixed+ahead_time=0.06"
     "+bend=3+leave=packet"),
    (games.FedBack, "chase+how=growing+time=1i+start=last+interval=frames"),
    (games.GoalAhead, "chase+how=lerp+time=0.0666666666666666667+overshoot=on+ahead=velocity"
     "+age=arrival+ahead_time=unlimited+snap_after=1"),
    (games.HalfWay, "chase+how=share+share=0.5+every=packet"),
    (games.EulerSpring, "chase+how=force+stiffness=120+damping=14"),
    (games.LateSpring, "chase+how=force+stiffness=80+damping=12+integration=explicit"),
    (games.SpringByFrames, "chase+how=force+stiffness=0.035+damping=0.3+step_time=1"),
    (games.Swing, "chase+how=force+stiffness=100+damping=10+integration=exact"),
    (games.Marker, "chase+how=eased+ease=css-ease+time=0.12"),
    (games.Transition, "chase+how=eased+ease=in-out-quint+time=0.12+start=transition"),
    (games.EightFrames, "chase+how=linear+time=8+step_time=1"),
    (games.LowPassedBody, "chase+how=share+share=0.5+every=packet+drift=1+drift_share=0.3"
     "+ahead_time=unlimited"),
    (games.TwoArrivalsAhead, "chase+how=share+share=0.2+ahead=velocity+age=arrival"
     "+velocity=arrivals+ahead_time=unlimited"),
    (games.AxisSteps, "chase+how=speed+speed=6+axes=each"),
    (games.LimitedLerp, "chase+how=lerp+time=0.125+speed_least=2+speed_most=6"),
    (games.ClampedFrames, "chase+how=lerp+time=0.1+step_most=0.025"),
    (games.ClampedTween, "chase+how=linear+time=0.1+start=last+step_most=0.025"),
    (games.PathSpeed, "chase+how=speed+speed=path+interval=arrivals"),
    (games.FasterPath, "chase+how=speed+speed=fastest+interval=arrivals"),
    (games.MessageLerp, "chase+how=lerp+time=0.1+every=packet"),
    (games.PacketNudges, "chase+how=share+share=0.6+every=packet+drift=1+ahead_time=unlimited"),
    (games.LerpedBody, "chase+how=share+share=0.5+every=0.02+phase=0.01+drift=1+drift_share=0.5"
     "+ahead_time=unlimited"),
    (games.FadingOffset, "chase+how=linear+time=0.2+ahead=velocity+drift=1+ahead_time=unlimited"),
    (games.AdaptiveOffset, "chase+how=share+share=0.05+share_far=0.15+start=last+ahead=velocity"
     "+age=arrival+ahead_time=unlimited+drift=1"),
    (games.StateSynchronization, "chase+how=share+share=0.05+share_far=0.15+start=last"
     "+ahead=velocity+age=arrival+ahead_time=unlimited+drift=1+playout_delay=0.08"),
    (games.MeanOfFive, "chase+how=share+share=1+mean_of=5"),
    (games.FixedTicks, "chase+how=linear+time=0.15+start=last+every=0.05+phase=0.01+between=lerp"),
    (games.Follower, "buffer+clock=newest+delay=0.06+low_pass=0.025+follow=spring+dead_zone=0.001"),
    (games.UnityQueue, "buffer+interval=0.05+catch_up=queue"),
    (games.SendTimer, "buffer+stamps=ticks+interval=0.05+delay=1i+catch_up=timer+phase=0.0171"),
    (games.TimedQueue, "buffer+stamps=ticks+interval=0.05+catch_up=timed-queue+phase=0.0171"),
    (games.Waypoints, "buffer+catch_up=fill+pace=0.9+catch_up_rate=0.5+still=skip"),
    (games.OldestState, "buffer+stamps=arrival+delay=0.1+keep=20+beyond=oldest"),
    (games.SharedMean, "buffer+clock=mean+clock_share=0.1+delay=0.12"),
    (games.NewestClock, "buffer+clock=newest+start=last+delay=0.1"),
    (games.ChaseWhenEmpty, "buffer+stamps=arrival+delay=0.1+beyond=chase+beyond_share=0.15"),
    (games.MedianClock, "buffer+clock=median+clock_count=10+delay=0.1+beyond=0.2"
     "+beyond_along=velocity"),
    (games.SoftClock, "buffer+clock=newest+delay=0.1+catch_up=rate+catch_up_rate=0.1"
     "+catch_up_limit=0.1+catch_up_near=0.01+when_empty=run"),
    (games.UnevenArrivals, "buffer+stamps=arrival+delay=0.12+jitter_margin=2+jitter=intervals"
     "+jitter_share=0.2+delay_most=0.2"),
    (games.StampJitter, "buffer+delay=0.075+jitter_margin=2+jitter=stamps+delay_fall=0.1"
     "+delay_most=0.2+interval=0.05"),
    (games.OwnCounter, "buffer+clock=newest+delay=1i+interval=stamps+catch_up=none"
     "+catch_up_limit=0.25+when_empty=stop+beyond=freeze"),
    (games.LerpWhenEmpty, "buffer+stamps=arrival+delay=0.1+beyond=chase+beyond_lerp=0.1"),
    (games.SpareState, "buffer+delay=0.1+reserve=1+beyond=unlimited"),
    (games.FollowingTime, "buffer+clock=newest+delay=0.1+catch_up=share+catch_up_rate=0.1"),
    (games.FollowingBySeconds, "buffer+clock=newest+delay=0.1+catch_up=lerp+catch_up_rate=2"),
    (games.Pixels, "chase+how=share+share=0.2+dead_zone=0.1+rounding=0.25"),
    (games.StopsShort, "chase+how=linear+time=0.0666666666666666667+start=last+end=short"),
    (games.PacketClock, "buffer+clock=newest+delay=0.1+every=packet"),
    (games.TickedBuffer, "buffer+stamps=arrival+delay=0.1+every=0.02"),
    (games.FixedBuffer, "buffer+stamps=arrival+delay=0.1+every=0.02+tick_time=own"),
    (games.Dequeue, "buffer+catch_up=dequeue+reserve=1"),
    (games.HistoricalLerp, "buffer+catch_up=waypoints+low_pass=0.0625+follow=lerp"
     "+waypoint_reach=0.11+catch_up_rate=0.6875+catch_up_from=4+count_at=end"),
    (games.WalkingQueue, "buffer+catch_up=waypoints+follow=speed+follow_speed=9"
     "+waypoint_reach=0.01+catch_up_rate=0.5+catch_up_from=3"),
    (games.ClampedTime, "buffer+delay=0+catch_up=clamp+keep=2"),
    (games.DateClock, "buffer+clock=first+clock_resync=0.05+delay=0.12+times=milliseconds"),
    (games.DateLerp, "chase+how=lerp+time=0.1+times=milliseconds"),
    (games.MeanDelay, "buffer+stamps=arrival+delay=2i+interval=arrivals+interval_count=10"),
    (games.LatestState, "buffer+delay=0.12+between=hold"),
    (games.LimitedWay, "buffer+stamps=ticks+clock=newest+delay=1i+interval=arrivals"
     "+interval_most=0.04"),
    (games.BufferedSpeed, "buffer+delay=0.1+delay_from=newest+catch_up=lerp+catch_up_rate=2"
     "+catch_up_most=0.1"),
    (games.RecentSpread, "buffer+delay=0.05+jitter_margin=0.75+jitter=spread+jitter_time=3"),
    (games.ChangingLatency, "buffer+delay=0.1+jitter_margin=3+jitter=changes+jitter_share=0.0625"),
    (games.MeanTween, "chase+how=linear+time=1i+start=last+interval=frames+interval_share=0.1"
     "+overshoot=1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "composition"), GAMES)
def test_what_games_draw_that_are_no_engine_is_a_composition(
    game: Callable[[], Game], composition: str
) -> None:
    """Before the second frame that has news, each draws in its own way what came at once."""
    for seed in seeds(60, 4):
        packets, frames = stream(random.Random(seed), hostile=False)
        shown = np.searchsorted(frames, [packet.arrival or 0.0 for packet in packets[:3]])
        packets = [packets[k] for k in np.unique(shown, return_index=True)[1]] + packets[3:]
        one = rows(game(), packets, frames)
        other = rows(Engine(*split(composition)), packets, frames)
        assert apart(one, other) < 1e-9, seed


#: Those that check no timestamps, with the compositions that take late packets as they do.
LATE: list[tuple[Callable[[], Game], str]] = [
    (games.LerpByTime, "chase+how=lerp+time=0.1+late=take"),
    (games.Tween, "chase+how=linear+time=0.1+late=take"),
    (games.LimitedTween, "chase+how=linear+time=1i+start=last+interval=stamps+interval_least=0.06"
     "+interval_most=0.5+interval_late=0.25+late=take"),
    (games.HalfWay, "chase+how=share+share=0.5+every=packet+late=take"),
    (games.WebGame, "buffer+stamps=arrival+delay=0.1+late=insert"),
    (games.SortedStates, "buffer+stamps=arrival+delay=0.1+late=sort"),
    (games.Dequeue, "buffer+stamps=arrival+late=insert+catch_up=dequeue+reserve=1"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "composition"), LATE)
def test_games_that_check_no_timestamps_take_late_packets(
    game: Callable[[], Game], composition: str
) -> None:
    late = 0
    for seed in seeds(60, 8):
        packets, frames = stream(random.Random(seed))
        packets = [packet._replace(delta=0.0, teleport=False) for packet in packets]
        late += sum(b.time < a.time for a, b in itertools.pairwise(packets))
        one = rows(game(), packets, frames)
        other = rows(Engine(*split(composition)), packets, frames)
        assert apart(one, other) < 1e-9, seed
    assert late > 10


def test_a_queue_is_drawn_as_by_the_game_where_a_state_ends_with_a_frame() -> None:
    """Sums of frames of whole 10 microseconds equal a state's 50 ms, or exceed it by 4e-15."""
    for seed in range(3):
        dice, at = random.Random(seed), 0.0
        packets = [
            Packet((math.sin(n / 9), n / 25, 0.0), None, n / 25, n / 25 + dice.uniform(0.03, 0.06))
            for n in range(1000)
        ]
        frames = [at := round(at + dice.uniform(0.007, 0.009), 5) for _ in range(5000)]
        one = rows(games.UnityQueue(), packets, frames)
        other = rows(Engine("buffer", {"interval": 0.05, "catch_up": "queue"}), packets, frames)
        assert apart(one, other) < 1e-9, seed


class TakenHome:
    """The Python class that ``epic code`` generates, with the oracles' interface."""

    def __init__(self, name: str, settings: Settings) -> None:
        text = "".join([name, *(f"+{key}={value}" for key, value in settings.items())])
        self.names: dict[str, Any] = {"__name__": "port"}
        exec(run(CodeSpec(strategy=read_spec(text), language="python"), text), self.names)
        self.made = self.names["Smoothing"]()
        self.wanted = list(inspect.signature(self.made.receive).parameters)

    def take(self, packet: Packet, now: float) -> bool:
        vector = self.names["Vec3"]
        given = {"time": packet.time, "arrival": now, "position": vector(*packet.position)}
        given["velocity"] = vector(*(packet.velocity or ()))
        return bool(self.made.receive(*(given[name] for name in self.wanted)))

    def draw(self, at: float) -> Any:
        return np.array(self.made.position) if self.made.draw(at) else None


@pytest.mark.parametrize(("name", "values"), [("buffer", BUFFER), ("chase", CHASE)])
def test_the_code_taken_home_draws_random_compositions(
    name: str, values: dict[str, list[Any]]
) -> None:
    for seed in seeds(100, 3):
        dice = random.Random(seed)
        packets, frames = stream(dice)
        packets = [packet._replace(delta=0.0, teleport=False) for packet in packets]
        settings = {key: dice.choice(of) for key, of in values.items() if dice.random() < 0.6}
        one, other = (rows(made(name, settings), packets, frames) for made in (TakenHome, Engine))
        assert apart(one, other) < 1e-9, (seed, settings)


QUEUE = {"catch_up": "queue", "interval": 0.06}
#: Settings that are random ones too rarely.
RARE: list[tuple[str, Settings]] = [
    *(("buffer", {"delay": 0.3, "late": "insert", "keep": keep}) for keep in (2, 3, 6)),
    *(("buffer", QUEUE | {"min_buffer": n, "max_buffer": m}) for n, m in ((1, 1), (2, 3), (3, 5))),
    *(("chase", {"ahead": what, "ahead_time": 0.05}) for what in ("step", "arrival", "fixed")),
    ("buffer", {"beyond": "reuse", "copy_before": 0.03}),
]


@pytest.mark.parametrize(("name", "settings"), RARE)
def test_the_code_taken_home_draws_the_rare_ones(name: str, settings: Settings) -> None:
    packets, frames = stream(random.Random(7), hostile="late" in settings)
    packets = [packet._replace(delta=0.0, teleport=False) for packet in packets]
    for begun in (0, 60):  # many packets wait for the first frame
        made = (each(name, settings) for each in (TakenHome, Engine))
        one, other = (rows(each, packets, frames[begun:]) for each in made)
        assert apart(one, other) < 1e-9


@pytest.mark.parametrize(
    "settings", [{"how": "linear"}, *({"how": "eased", "ease": ease} for ease in CHASE["ease"])]
)
def test_a_goal_is_approached_at_the_velocity_that_is_drawn(settings: Settings) -> None:
    made = strategy("chase", time=0.2, **settings)
    for k in range(2):
        made.update(Packet((9 * k, 0, 0), time=k / 10), k / 10)
        made.read(k / 10)
    for at in np.arange(0.11, 0.29, 0.01).tolist():
        one, other = made.read(at), made.read(at + 1e-7)
        slope = (other.position[0] - one.position[0]) / 1e-7
        assert one.velocity[0] == pytest.approx(slope, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("code", [TakenHome, Engine])
@pytest.mark.parametrize(("repeated", "expected"), [("drop", 7.5), ("take", 4.375)])
def test_a_repeated_position_begins_a_way_anew_or_not(
    code: type, repeated: str, expected: float
) -> None:
    """A way to x = 10 begins at 0.2 s, over 0.2 s; a packet at 0.3 s repeats that position."""
    packets = [
        Packet((x, 0, 0), velocity=(0, 0, 0), time=t, arrival=t)
        for x, t in ((0, 0.1), (10, 0.2), (10, 0.3))
    ]
    made = code("chase", {"how": "linear", "time": 0.2, "repeated": repeated})
    drawn = rows(made, packets, [0.1, 0.2, 0.25, 0.35])
    assert drawn[-1][0] == pytest.approx(expected)


def test_a_low_pass_leaves_extrapolated_what_was() -> None:
    plain, smooth = (
        strategy("buffer", delay=0.1, beyond="unlimited", low_pass=low) for low in (0, 0.05)
    )
    for k in range(60):
        for made in (plain, smooth):
            if k % 20 < 12:
                made.update(Packet((k, 0, 0), time=k / 20), k / 20)
        drawn = plain.read(k / 20).status, smooth.read(k / 20).status
        assert drawn[0] == drawn[1] or k < 4


@pytest.mark.parametrize(("name", "values"), [("buffer", BUFFER), ("chase", CHASE)])
def test_what_turns_as_it_moves_is_drawn_so(name: str, values: dict[str, list[Any]]) -> None:
    """An angle (rad) about one axis that equals the distance is smoothed as the distance is."""
    for seed in seeds(150, 20):
        dice = random.Random(seed)
        packets, frames = stream(dice)
        settings = {key: dice.choice(of) for key, of in values.items() if dice.random() < 0.6}
        settings |= {"snap": 0, "rounding": 0}
        settings.pop("curve_time", None)  # of positions alone
        if name == "chase":
            # no turn is led or averaged, nor do turns add up
            settings |= {"ahead": "newest", "drift": 0, "overlap": "off", "mean_of": 1}
            if settings.get("start") == "transition":  # whose last way the turn does not go on
                settings["start"] = "frame"
            if settings.get("step_time") == 1:  # a share of many times the way swings ever farther
                settings["overshoot"] = "off"
            if settings.get("how") == "hermite":
                settings["how"] = "linear"  # it turns by slerp
            if settings.get("how") in ("spring", "force"):
                settings["speed_most"] = "unlimited"  # which no turn is
        elif settings.get("curve") == "catmull-rom":
            settings["curve"] = "hermite"  # it turns by slerp
        if settings.get("beyond") == "repeat":
            settings["beyond"] = "hold"  # what is repeated is the way alone
        elif settings.get("beyond") == "unlimited":
            settings["beyond"] = 0.2  # half a turn away, a low-pass turns the other way
        made: Any = strategy(name, **settings)
        waiting = [
            packet._replace(
                position=(x, 0.0, 0.0),
                velocity=(v, 0.0, 0.0),
                rotation=(0.0, 0.0, math.sin(x / 2), math.cos(x / 2)),
                spin=(0.0, 0.0, v),
            )
            for packet in packets
            for x, v in [(math.sin(packet.time), math.cos(packet.time))]
        ]
        for at in frames:
            while waiting and (waiting[0].arrival or 0.0) <= at:
                packet = waiting.pop(0)
                made.update(packet, packet.arrival)
            drawn = made.read(at)
            if drawn.status != "none":
                x, _, _ = drawn.position
                if abs(x) > 1000:  # a spring that swings ever farther, and its rounding with it
                    break
                rotation = (0.0, 0.0, math.sin(x / 2), math.cos(x / 2))
                off = abs(sum(a * b for a, b in zip(drawn.rotation, rotation, strict=True)))
                assert off > 1 - 1e-9, (seed, settings, drawn)


@pytest.mark.parametrize(("name", "values"), [("buffer", BUFFER), ("chase", CHASE)])
def test_a_delta_makes_a_state_as_old_as_an_earlier_stamp(
    name: str, values: dict[str, list[Any]]
) -> None:
    fixed = {
        "interval": 0.06,
        **({"stamps": "sender", "clock": "agree"} if "clock" in values else {}),
    }
    for seed in seeds(60, 20):
        dice = random.Random(seed)
        packets, frames = stream(dice)
        settings = {key: dice.choice(of) for key, of in values.items() if dice.random() < 0.6}
        one, other = (
            rows(Engine(name, settings | fixed), changed, frames)
            for changed in (
                [packet._replace(delta=0.01) for packet in packets],
                [packet._replace(time=packet.time - 0.01, delta=0.0) for packet in packets],
            )
        )
        assert apart(one, other) < 1e-9, (seed, settings)


@pytest.mark.parametrize(
    ("clock", "combine"),
    [("min", min), ("max", max), ("mean", np.mean), ("median", statistics.median_high)],
)
@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_a_clock_is_that_of_the_session_or_of_some_packets(
    clock: str, combine: Callable[[list[float]], float], count: int
) -> None:
    over: Settings = {"clock_count": count} if count else {"clock_time": "session"}
    made = strategy("buffer", clock=clock, **over, delay=0.25, curve="linear")
    dice, offsets = random.Random(1), []
    for k in range(100):
        time = k / 20
        arrival = time + 7 + dice.uniform(0, 0.04) - (0.03 if k == 70 else 0)
        offsets.append(arrival - time)
        made.update(Packet((time, 0, 0), time=time), arrival)
        if k > 10:
            drawn = made.read(arrival).position[0]
            assert drawn == pytest.approx(arrival - combine(offsets[-count:]) - 0.25, abs=1e-9)


def test_a_goal_may_move_by_the_velocity_of_the_packet_before() -> None:
    moves: Settings = {"ahead": "velocity", "age": "arrival", "velocity": "before"}
    made = strategy("chase", how="share", share=1, **moves)
    for x, speed, time in ((0, 1, 0.0), (10, 5, 0.1)):
        made.update(Packet((x, 0, 0), velocity=(speed, 0, 0), time=time), time)
        made.read(time)
    assert made.read(0.3).position[0] == pytest.approx(10 + 1 * 0.2)
