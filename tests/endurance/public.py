"""The drawings of public games, and whether ``epic diagnose --drawn`` describes them.

python -m endurance.public [NAME ...] [--cases CASES] [--first CASE]

Each drawing is code of its own (``support.games``, and what follows), over movements, networks and
frames of ``endurance.drawn``. ``right``: the form that was drawn, or one that draws the same to a
thousandth of a step; ``partly``: it says what is understood, or of which frames, and what is left;
``not``: it says that it does not understand; ``false``: it says that it understands, and something
else was drawn.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from support import games

from endurance.drawn import HALF, ROUNDED, Case, draw, found, frames, traffic
from epic_cli import Packet
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_spec
from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
from epic_cli.metrics.drawn_path import DrawnPath


class Exponential(games.Game):
    def frame(self) -> None:
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * (1 - np.exp(-12 * self.dt))


class QuadOut(games.Tween):
    def frame(self) -> None:
        left = 1 - min((self.at - self.begun) / 0.12, 1)
        self.drawn = self.start + (self.got[-1][2] - self.start) * (1 - left * left)


class FixedUpdate(games.Game):
    """A fifth of the way in each tick of 20 ms; frames lie between two ticks."""

    ticks: int | None = None

    def frame(self) -> None:
        newest = int(np.floor(self.at / 0.02))
        if self.ticks is None:
            self.ticks, self.place, self.before = newest, self.drawn, self.drawn
        while self.ticks < newest:
            self.ticks += 1
            self.before = self.place
            self.place = self.place + (self.got[-1][2] - self.place) * 0.2
        self.drawn = self.before + (self.place - self.before) * (self.at / 0.02 - newest)


class PhysicsTicks(games.Game):
    """An eighth of the way in each tick of 1/30 s; frames show the last one."""

    ticks: int | None = None

    def frame(self) -> None:
        newest = int(np.floor(self.at * 30))
        self.ticks = newest if self.ticks is None else self.ticks
        while self.ticks < newest:
            self.ticks += 1
            self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * 0.25


class ShareBehind(games.Game):
    """A buffer over arrivals, 100 ms late, and 0.3 of the way to it in each frame."""

    def frame(self) -> None:
        goal = games.between([(arrival, p) for arrival, _, p in self.got], self.at - 0.1)
        share = 0.3 if hasattr(self, "begun") else 1
        self.begun, self.drawn = True, self.drawn + (goal - self.drawn) * share


class LerpBehind(ShareBehind):
    """A buffer over arrivals, 100 ms late, and ten times a frame's duration of the way to it."""

    def frame(self) -> None:
        goal = games.between([(arrival, p) for arrival, _, p in self.got], self.at - 0.1)
        self.drawn = goal if not self.dt else self.drawn + (goal - self.drawn) * 10 * self.dt


class LineBehind(games.TwoSnapshots):
    """A line from the state before to the newest, over 50 ms, and 0.2 of the way to it a frame."""

    def frame(self) -> None:
        before = self.drawn
        super().frame()
        self.drawn = before + (self.drawn - before) * 0.2


class RoundedShare(games.Game):
    """0.15 of the way in each frame; drawn in steps of a hundredth."""

    def frame(self) -> None:
        self.place = getattr(self, "place", self.drawn)
        self.place = self.place + (self.got[-1][2] - self.place) * 0.15
        self.drawn = np.floor(self.place / 0.01 + 0.5) * 0.01


class FloorShare(games.Game):
    """0.15 of the way in each frame; drawn at the next tenth below."""

    def frame(self) -> None:
        self.place = getattr(self, "place", self.drawn)
        self.place = self.place + (self.got[-1][2] - self.place) * 0.15
        self.drawn = np.floor(self.place / 0.1) * 0.1


class StampTween(games.Game):
    """A line to the newest state over the time between the last two stamps, by a sum of frames."""

    def arrive(self) -> None:
        self.start, self.elapsed = self.drawn, 0.0

    def frame(self) -> None:
        self.elapsed += self.dt
        lasts = self.got[-1][1] - self.got[-2][1] if len(self.got) > 1 else 0.1
        share = min(self.elapsed / lasts, 1)
        self.drawn = self.start + (self.got[-1][2] - self.start) * share


class TwoArrivals(games.Game):
    """A line from the state before to the newest, over the time between their arrivals."""

    def frame(self) -> None:
        if len(self.got) > 1:
            (before, _, start), (arrival, _, goal) = self.got[-2:]
            share = min((self.at - arrival) / max(arrival - before, 1e-4), 1)
            self.drawn = start + (goal - start) * share


class TwoStamps(games.Game):
    """The same over the time between their stamps, from the frame that takes the newest."""

    def arrive(self) -> None:
        self.begun = self.at

    def frame(self) -> None:
        if len(self.got) > 1:
            (_, before, start), (_, stamp, goal) = self.got[-2:]
            share = min((self.at - self.begun) / max(stamp - before, 1e-4), 1)
            self.drawn = start + (goal - start) * share


class TwoArrivalsBeyond(games.Game):
    """The same without an end: it goes on beyond the newest until the next one comes."""

    def frame(self) -> None:
        if len(self.got) > 1:
            (before, _, start), (arrival, _, goal) = self.got[-2:]
            self.drawn = start + (goal - start) * (self.at - arrival) / (arrival - before)


class SummedTicks(games.Game):
    """0.3 of the way in each tick of 1/40 s, which frames add up to."""

    left, every, share = 0.0113, 1 / 40, 0.3

    def frame(self) -> None:
        self.left += self.dt
        while self.left >= self.every:
            self.left -= self.every
            self.drawn = self.drawn + self.step(self.got[-1][2] - self.drawn)

    def step(self, way: Any) -> Any:
        """Return the step of a tick."""
        return way * self.share


class RestingShare(games.Game):
    """0.15 of the way in each frame; nothing of less than 0.2, and all of more than 1.4."""

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        far = float(np.linalg.norm(way))
        self.drawn = self.drawn + way * (1 if far > 1.4 else 0.15 if far > 0.2 else 0)


class LandingShare(games.Game):
    """0.12 of the way in each frame, and all of less than 0.15."""

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        self.drawn = self.drawn + way * (0.12 if np.linalg.norm(way) >= 0.15 else 1)


class RestingAxes(games.Game):
    """0.2 of the way of each axis in each frame; nothing of less than 0.1."""

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        self.drawn = self.drawn + np.where(np.abs(way) > 0.1, way * 0.2, 0)


class LargeErrors(games.AgeOfVelocity):
    """A move along the velocity; a packet that is farther off than 0.5 is where it is then."""

    def arrive(self) -> None:
        if np.linalg.norm(self.got[-1][2] - self.drawn) > 0.5:
            self.drawn = self.got[-1][2]

    def frame(self) -> None:
        self.drawn = self.drawn + self.velocity * self.dt


class FrameTimer(games.Game):
    """0.35 of the way in each frame that is 50 ms after the last one that moved."""

    last = -1.0

    def frame(self) -> None:
        if self.at - self.last >= 0.05:
            self.last = self.at
            self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * 0.35


class PageInterval(games.Game):
    """A tenth of the way to a packet each 10 ms, by an interval that the next packet clears."""

    steps, begun = 0, 0.0

    def take(self, packet: Packet, now: float) -> bool:
        if self.got:
            self.run(now)
        taken = super().take(packet, now)
        self.steps, self.begun, self.delta = 10, now, (self.got[-1][2] - self.drawn) / 10
        return taken

    def run(self, now: float) -> None:
        while self.steps and self.begun + 0.01 <= now + 1e-12:
            self.begun += 0.01
            self.steps -= 1
            self.drawn = self.drawn + self.delta

    def frame(self) -> None:
        self.run(self.at)


class AddedTimers(games.Game):
    """An eighth of the way at the packet, by each of 8 timers, 10 ms apart, which all add up."""

    def take(self, packet: Packet, now: float) -> bool:
        self.timers = getattr(self, "timers", [])
        self.run(now)
        taken = super().take(packet, now)
        way = (self.got[-1][2] - self.drawn) / 8
        self.timers = sorted([*self.timers, *((now + 0.01 * i, way) for i in range(1, 9))],
                             key=lambda timer: timer[0])  # fmt: skip
        return taken

    def run(self, now: float) -> None:
        while self.timers and self.timers[0][0] <= now + 1e-12:
            self.drawn = self.drawn + self.timers.pop(0)[1]

    def frame(self) -> None:
        self.run(self.at)


class GrowingTime(games.Game):
    """A lerp to the newest state by a factor that grows by 3 a second from each packet on."""

    factor = 0.0

    def arrive(self) -> None:
        self.factor = 0.0

    def frame(self) -> None:
        self.factor = min(self.factor + self.grow(), 1)
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * self.factor

    def grow(self) -> float:
        """Return how much the factor grows in a frame."""
        return float(3 * self.dt)


class GrowingFrames(GrowingTime):
    """The same by 0.05 in each frame."""

    def grow(self) -> float:
        return 0.05


class ReckonedTween(games.AgeOfVelocity):
    """A line to the newest state in 60 ms, and then on along its velocity."""

    def arrive(self) -> None:
        self.start, self.begun = self.drawn, self.got[-1][0]

    def frame(self) -> None:
        share = (self.at - self.begun) / 0.06
        if share < 1:
            self.drawn = self.start + (self.got[-1][2] - self.start) * share
        else:
            self.drawn = self.drawn + self.velocity * self.dt


class SixtyFrames(games.AgeOfVelocity):
    """A tenth of the way, and a sixtieth of a second of the velocity, in each frame."""

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        self.drawn = self.drawn + way * 0.1 + self.velocity / 60


class MeasuredEase(games.Tutorial):
    """GSAP's usual ease over the time between the frames of the last two packets."""

    def frame(self) -> None:
        self.read()
        self.elapsed += self.dt or self.at - self.got[-1][0]
        left = 1 - min(self.elapsed / self.delay, 1)
        self.drawn = self.start + (self.goal - self.start) * (1 - left * left)


class MostlyEmpty(games.ChaseWhenEmpty):
    """A line that is empty in most frames, and half of the way to the newest state meanwhile."""

    share = 0.5

    def frame(self) -> None:
        self.at += 0.07  # 30 ms behind
        super().frame()
        self.at -= 0.07


class SnappedPath(games.PathSpeed):
    """The same as PathSpeed, and all of a way of more than 1.5."""

    def frame(self) -> None:
        if np.linalg.norm(self.got[-1][2] - self.drawn) > 1.5:
            self.drawn = self.got[-1][2]
        super().frame()


class PageTimer(SummedTicks):
    """0.2 of the way in each tick of a timer of 16 ms."""

    every, share = 0.016, 0.2


class HalfLead(games.AgeOfVelocity):
    """A fifth of the way in each tick of 20 ms, to a goal that goes on at half the velocity."""

    ticks: int | None = None
    goal: Any = None

    def arrive(self) -> None:
        self.goal = self.got[-1][2]

    def frame(self) -> None:
        newest = int(np.floor(self.at / 0.02))
        self.ticks = newest if self.ticks is None else self.ticks
        while self.ticks < newest:
            self.ticks += 1
            self.drawn = self.drawn + (self.goal - self.drawn) * 0.2
            self.goal = self.goal + self.velocity * 0.5 * 0.02


class OtherUnit(games.AgeOfVelocity):
    """The newest state, led by 3.6 times its velocity since it arrived."""

    def frame(self) -> None:
        arrival, _, newest = self.got[-1]
        self.drawn = newest + 3.6 * self.velocity * (self.at - arrival)


class SpeedTicks(SummedTicks):
    """A move to the newest state at 9 units a second, in ticks of 20 ms that frames add up to."""

    every = 0.02

    def step(self, way: Any) -> Any:
        far = float(np.linalg.norm(way))
        return way * min(9 * self.every / far, 1) if far else way


class StateRing(games.Game):
    """The last five states by arrival, 150 ms late; the newest, if no two are around that time."""

    def frame(self) -> None:
        kept, time = self.got[-5:], self.at - 0.15
        self.drawn = kept[-1][2]
        for (then, _, start), (until, _, goal) in itertools.pairwise(kept):
            if then <= time <= until:
                self.drawn = start + (goal - start) * ((time - then) / max(until - then, 1e-9))
                break


class FrameSteps(games.Game):
    """Each axis by 0.12 in each frame, until it is there."""

    def frame(self) -> None:
        rest = self.got[-1][2] - self.drawn
        self.drawn = self.drawn + np.clip(rest, -0.12, 0.12)


class BackwardLead(games.Game):
    """A tenth of the way in each frame to the newest state, led by (last - newest) / time."""

    velocity: Any = np.zeros(3)

    def arrive(self) -> None:
        if len(self.got) > 1:
            (then, _, last), (now, _, newest) = self.got[-2:]
            self.velocity = (last - newest) / (now - then) if now > then else self.velocity

    def frame(self) -> None:
        arrival, _, newest = self.got[-1]
        goal = newest + self.velocity * (self.at - arrival)
        self.drawn = self.drawn + (goal - self.drawn) * 0.1


class FixedLead(games.Game):
    """A sixth of the way in each frame to where the last step leads in 120 ms."""

    def frame(self) -> None:
        self.goal = self.got[-1][2]
        if len(self.got) > 1:
            (_, before, last), (_, stamp, newest) = self.got[-2:]
            self.goal = newest + (newest - last) * (0.12 / (stamp - before))
        self.drawn = self.drawn + (self.goal - self.drawn) / 6


class IgnoredMoves(games.Game):
    """A fifth of the way in each frame; a state nearer than 0.4 to the goal is no goal."""

    goal: Any = None

    def arrive(self) -> None:
        newest = self.got[-1][2]
        if self.goal is None or np.linalg.norm(newest - self.goal) >= 0.4:
            self.goal = newest

    def frame(self) -> None:
        self.drawn = self.drawn + (self.goal - self.drawn) * 0.2


class FasterFarAway(games.Game):
    """A tenth of the way in each frame, a quarter while it is more than 0.4 away."""

    def frame(self) -> None:
        rest = self.got[-1][2] - self.drawn
        self.drawn = self.drawn + rest * (0.25 if np.linalg.norm(rest) > 0.4 else 0.1)


class BufferedTime(games.Game):
    """A time by the frames before, which waits while less than 150 ms are buffered."""

    timer = buffered = 0.0

    def arrive(self) -> None:
        self.states = [*getattr(self, "states", ()), self.got[-1][1:]]
        self.buffered = self.states[-1][0] - self.states[0][0]

    def frame(self) -> None:
        if self.buffered < 0.15 - 1e-9:
            return
        (then, start), (until, goal) = self.states[:2]
        self.drawn = start + (goal - start) * min(self.timer / (until - then), 1)
        self.timer += self.dt
        if self.timer > until - then:
            self.buffered -= until - then
            self.timer -= until - then
            self.states.pop(0)


class UpdateWindow(games.Game):
    """The frame's part of the time between the last two stamps, of the rest, in each frame."""

    def frame(self) -> None:
        if len(self.got) > 1:
            (_, before, _), (_, stamp, goal) = self.got[-2:]
            self.drawn = self.drawn + (goal - self.drawn) * min(self.dt / (stamp - before), 1)


class CopiedState(games.Game):
    """A buffer over arrivals, 100 ms late; where it is empty, a state is gone to within 60 ms."""

    def arrive(self) -> None:
        now, _, place = self.got[-1]
        states = self.states = getattr(self, "states", [])
        if states and now - 0.1 >= states[-1][0] and now - 0.06 > states[-1][0]:
            states.append((now - 0.06, states[-1][1]))
        states.append((now, place))

    def frame(self) -> None:
        self.drawn = games.between(self.states, self.at - 0.1)


class FasterTicks(games.Game):
    """A quarter of the way in each tick of 50 ms, a half if it is farther than 0.5."""

    ticks: int | None = None

    def frame(self) -> None:
        newest = int(np.floor(self.at * 20))
        self.ticks = newest if self.ticks is None else self.ticks
        while self.ticks < newest:
            self.ticks += 1
            rest = self.got[-1][2] - self.drawn
            self.drawn = self.drawn + rest * (0.5 if np.linalg.norm(rest) > 0.5 else 0.25)


#: Drawings by name, and the parts that a right description has (others may stand beside them).
DRAWINGS: dict[str, tuple[Callable[[], games.Game], str]] = {
    "follower": (
        games.Follower,
        "buffer+clock=newest+delay=0.06+low_pass=0.025+follow=spring",
    ),
    "unity-queue": (games.UnityQueue, "buffer+catch_up=queue"),
    "late-timed-queue": (games.TimedQueue, "buffer+interval=0.05+catch_up=timed-queue"),
    "waypoints": (games.Waypoints, "buffer+catch_up=fill+pace=0.9+catch_up_rate=0.5"),
    "shared-time": (
        games.SharedTime,
        "buffer+stamps=ticks+interval=0.25+catch_up=fill+catch_up_rate=1+still=skip",
    ),
    "whole-centimeters": (
        games.WholeCentimeters,
        "buffer+stamps=ticks+clock=newest+delay=1i+interval=stamps+rounding_of=states",
    ),
    "longest-gap": (
        games.LongestGap,
        "buffer+stamps=arrival+delay=0.033+jitter_margin=1+jitter=longest+jitter_count=8",
    ),
    "trimmed-states": (games.TrimmedStates, "buffer+stamps=arrival+delay=0.12+forget=0.18"),
    "state-ring": (StateRing, "buffer+stamps=arrival+delay=0.15+keep=5+before=newest"),
    "slowed-clock": (games.SlowedClock, "buffer+delay=0.15+catch_up=slow+catch_up_rate=0.1"),
    "tutorial": (games.Tutorial, "chase+how=linear+time=1i+ahead=interval"),
    "limited-way": (
        games.LimitedWay,
        "buffer+stamps=ticks+clock=newest+delay=1i+interval=arrivals+interval_most=0.04",
    ),
    "mean-tween": (
        games.MeanTween,
        "chase+how=linear+time=1i+start=last+interval=frames+interval_share=0.1+overshoot=1.5",
    ),
    "fed-back": (games.FedBack, "chase+how=growing+time=1i"),
    "raylib": (games.GoalAhead, "chase+how=lerp+ahead=velocity+age=arrival"),
    "zombie": (games.AgeOfVelocity, "chase+how=share+share=1+ahead=velocity+age=arrival"),
    "oldest": (games.OldestState, "buffer+stamps=arrival+delay=0.1+beyond=oldest"),
    "send-timer": (games.SendTimer, "buffer+stamps=ticks+catch_up=timer"),
    "half-way": (games.HalfWay, "chase+how=share+share=0.5+every=packet"),
    "photon": (games.PhotonView, "chase+how=interval+ahead=step"),
    "share": (games.LerpByFrame, "chase+how=share+share=0.1"),
    "lerp": (games.LerpByTime, "chase+how=lerp+time=0.1"),
    "exponential": (Exponential, "chase+how=exponential"),
    "quad-out": (QuadOut, "chase+how=eased+ease=out-quad+time=0.12"),
    "fixed-update": (FixedUpdate, "chase+how=share+share=0.2+every=0.02+between=lerp"),
    "physics-ticks": (PhysicsTicks, "chase+how=share+share=0.25"),
    "minecraft": (games.FixedTicks, "chase+how=linear+time=0.15+every=0.05+between=lerp"),
    "share-behind": (ShareBehind, "buffer+stamps=arrival+delay=0.1+follow=share"),
    "lerp-behind": (LerpBehind, "buffer+stamps=arrival+delay=0.1+low_pass=0.1+follow=lerp"),
    "line-behind": (LineBehind, "buffer+stamps=ticks+clock=newest+delay=0.05+follow=share"),
    "shared-mean": (games.SharedMean, "buffer+clock=mean+clock_share=0.1+delay=0.12"),
    "newest-clock": (games.NewestClock, "buffer+clock=newest+start=last+delay=0.1"),
    "pixels": (RoundedShare, "chase+how=share+share=0.15"),
    "floor-pixels": (FloorShare, "chase+how=share+share=0.15+rounding=0.1+rounding_by=down"),
    "stamp-tween": (StampTween, "chase+how=linear+time=1i+interval=stamps+start=last"),
    "two-arrivals": (TwoArrivals, "buffer+stamps=arrival+delay=1i+interval=arrivals"),
    "two-stamps": (TwoStamps, "buffer+stamps=ticks+clock=newest+delay=1i+interval=stamps"),
    "summed-ticks": (SummedTicks, "chase+how=share+share=0.3+every=0.025"),
    "speed-ticks": (SpeedTicks, "chase+how=speed+speed=9+every=0.02"),
    "stops-short": (games.StopsShort, "chase+how=linear+time=0.0666667+start=last+end=short"),
    "packet-clock": (games.PacketClock, "buffer+clock=newest+delay=0.1+every=packet"),
    "ticked-buffer": (games.TickedBuffer, "buffer+stamps=arrival+delay=0.1+every=0.02"),
    "fixed-buffer": (
        games.FixedBuffer,
        "buffer+stamps=arrival+delay=0.1+every=0.02+tick_time=own",
    ),
    "euler-spring": (games.EulerSpring, "chase+how=force+stiffness=120+damping=14"),
    "late-spring": (games.LateSpring, "chase+how=force+integration=explicit"),
    "frame-spring": (games.SpringByFrames, "chase+how=force+step_time=1"),
    "swing": (games.Swing, "chase+how=force+integration=exact"),
    "transition": (
        games.Transition,
        "chase+how=eased+ease=in-out-quint+time=0.12+start=transition",
    ),
    "adaptive-offset": (
        games.AdaptiveOffset,
        "chase+how=share+share=0.05+share_far=0.15+ahead=velocity+drift=1",
    ),
    "state-synchronization": (
        games.StateSynchronization,
        "chase+how=share+share=0.05+ahead=velocity+drift=1+playout_delay=0.08",
    ),
    "mean-of-five": (games.MeanOfFive, "chase+how=share+share=1+mean_of=5"),
    "mostly-empty": (MostlyEmpty, "buffer+stamps=arrival+delay=0.03+beyond=chase"),
    "snapped-path": (SnappedPath, "chase+how=speed+speed=path+interval=arrivals+snap=1.5"),
    "page-timer": (PageTimer, "chase+how=share+share=0.2+every=0.016"),
    "marker": (games.Marker, "chase+how=eased+ease=css-ease+time=0.12"),
    "eight-frames": (games.EightFrames, "chase+how=linear+time=8+step_time=1"),
    "frame-steps": (FrameSteps, "chase+how=speed+speed=0.12+axes=each+step_time=1"),
    "backward-lead": (
        BackwardLead,
        "chase+how=share+share=0.1+ahead=velocity+age=arrival+velocity=arrivals+velocity_factor=-1",
    ),
    "fixed-lead": (
        FixedLead,
        "chase+how=share+share=0.166667+ahead=fixed+ahead_time=0.12+velocity=stamps",
    ),
    "ignored-moves": (IgnoredMoves, "chase+how=share+share=0.2+dead_band=0.4"),
    "faster-far-away": (
        FasterFarAway,
        "chase+how=share+share=0.1+share_far=0.25+far_from=0.4+far_at=0.4",
    ),
    "buffered-time": (
        BufferedTime,
        "buffer+clock=newest+delay=0+catch_up=none+reserve_time=0.15+draw_time=last",
    ),
    "window-lerp": (UpdateWindow, "chase+how=lerp+time=1i+interval=stamps"),
    "state-copy": (CopiedState, "buffer+stamps=arrival+delay=0.1+copy_before=0.06"),
    "faster-ticks": (
        FasterTicks,
        "chase+how=share+share=0.25+share_far=0.5+far_from=0.5+every=0.05",
    ),
    "resting-share": (RestingShare, "chase+how=share+share=0.15+dead_zone=0.2"),
    "landing-share": (LandingShare, "chase+how=share+share=0.12+snap_near=0.15"),
    "resting-axes": (RestingAxes, "chase+how=share+share=0.2+axes=each+dead_zone=0.1"),
    "large-errors": (LargeErrors, "chase+how=share+share=1+every=packet+drift=1+dead_zone=0.5"),
    "frame-timer": (FrameTimer, "chase+how=share+share=0.35+every=0.05+phase=frame"),
    "page-interval": (PageInterval, "chase+how=linear+time=0.1+every=0.01+phase=packet"),
    "added-timers": (
        AddedTimers,
        "chase+how=linear+time=0.08+overlap=on+every=0.01+phase=packet",
    ),
    "growing-time": (GrowingTime, "chase+how=growing+time=0.333333+start=last"),
    "growing-frames": (GrowingFrames, "chase+how=growing+time=20+step_time=1"),
    "reckoned-tween": (ReckonedTween, "chase+how=linear+time=0.06+end=short+drift=1"),
    "sixty-frames": (SixtyFrames, "chase+how=share+share=0.1+drift=1+step_time=1/60"),
    "measured-ease": (MeasuredEase, "chase+how=eased+ease=out-quad+time=1i+interval=frames"),
    "low-passed-body": (
        games.LowPassedBody,
        "chase+how=share+share=0.5+every=packet+drift=1+drift_share=0.3",
    ),
    "two-arrivals-ahead": (
        games.TwoArrivalsAhead,
        "chase+how=share+share=0.2+ahead=velocity+age=arrival+velocity=arrivals",
    ),
    "axis-steps": (games.AxisSteps, "chase+how=speed+speed=6+axes=each"),
    "limited-lerp": (
        games.LimitedLerp,
        "chase+how=lerp+time=0.125+speed_least=2+speed_most=6",
    ),
    "clamped-frames": (games.ClampedFrames, "chase+how=lerp+time=0.1+step_most=0.025"),
    "clamped-tween": (games.ClampedTween, "chase+how=linear+time=0.1+step_most=0.025"),
    "path-speed": (games.PathSpeed, "chase+how=speed+speed=path+interval=arrivals"),
    "faster-path": (games.FasterPath, "chase+how=speed+speed=fastest+interval=arrivals"),
    "message-lerp": (games.MessageLerp, "chase+how=lerp+time=0.1+every=packet"),
    "dequeue": (games.Dequeue, "buffer+catch_up=dequeue+reserve=1"),
    "mean-delay": (
        games.MeanDelay,
        "buffer+stamps=arrival+delay=2i+interval=arrivals+interval_count=10",
    ),
    "latest-state": (games.LatestState, "buffer+delay=0.12+between=hold"),
    "chase-when-empty": (
        games.ChaseWhenEmpty,
        "buffer+stamps=arrival+delay=0.1+beyond=chase+beyond_share=0.15",
    ),
    "lerp-when-empty": (
        games.LerpWhenEmpty,
        "buffer+stamps=arrival+delay=0.1+beyond=chase+beyond_lerp=0.1",
    ),
    "median-clock": (games.MedianClock, "buffer+clock=median+clock_count=10+delay=0.1"),
    "soft-clock": (
        games.SoftClock,
        "buffer+clock=newest+delay=0.1+catch_up=rate+catch_up_rate=0.1+catch_up_near=0.01",
    ),
    "uneven-arrivals": (
        games.UnevenArrivals,
        "buffer+stamps=arrival+delay=0.12+jitter_margin=2+jitter=intervals",
    ),
    "spare-state": (games.SpareState, "buffer+delay=0.1+reserve=1"),
    "drifting-clock": (
        games.DriftingClock,
        "buffer+clock=newest+delay=0.1+catch_up=rate+catch_up_rate=0.1+follow=share",
    ),
    "buffered-speed": (
        games.BufferedSpeed,
        "buffer+delay=0.1+delay_from=newest+catch_up=lerp+catch_up_rate=2+catch_up_most=0.1",
    ),
    "recent-spread": (
        games.RecentSpread,
        "buffer+delay=0.05+jitter_margin=0.75+jitter=spread+jitter_time=3",
    ),
    "changing-latency": (
        games.ChangingLatency,
        "buffer+delay=0.1+jitter_margin=3+jitter=changes+jitter_share=0.0625",
    ),
    "late-queue-of-two": (games.QueueOfTwo, "buffer+catch_up=timed-queue+max_buffer=2"),
    "summed-time": (games.SummedTime, "buffer+stamps=arrival+draw_time=last+delay=0.15"),
    "added-behind": (games.AddedBehind, "buffer+stamps=ticks+clock=newest+delay=0.05"),
    "two-arrivals-beyond": (
        TwoArrivalsBeyond,
        "buffer+stamps=arrival+delay=1i+interval=arrivals+beyond=unlimited",
    ),
    "following-time": (
        games.FollowingTime,
        "buffer+clock=newest+delay=0.1+catch_up=share+catch_up_rate=0.1",
    ),
    "following-by-seconds": (
        games.FollowingBySeconds,
        "buffer+clock=newest+delay=0.1+catch_up=lerp+catch_up_rate=2",
    ),
    "packet-nudges": (games.PacketNudges, "chase+how=share+share=0.6+every=packet+drift=1"),
    "lerped-body": (
        games.LerpedBody,
        "chase+how=share+share=0.5+every=0.02+drift=1+drift_share=0.5",
    ),
    "fading-offset": (games.FadingOffset, "chase+how=linear+time=0.2+ahead=velocity+drift=1"),
    "historical-lerp": (
        games.HistoricalLerp,
        "buffer+catch_up=waypoints+low_pass=0.0625+follow=lerp",
    ),
    "walking-queue": (games.WalkingQueue, "buffer+catch_up=waypoints+follow=speed+follow_speed=9"),
    "tick-queue": (games.TickQueue, "buffer+catch_up=dequeue+every=0.05+beyond=repeat"),
    "timer-queue": (games.TimerQueue, "buffer+catch_up=dequeue+every=0.045"),
    "clamped-time": (games.ClampedTime, "buffer+catch_up=clamp+keep=2"),
    "date-clock": (games.DateClock, "buffer+clock=first+delay=0.12+times=milliseconds"),
    "date-lerp": (games.DateLerp, "chase+how=lerp+time=0.1+times=milliseconds"),
    "late-lerp": (games.LerpByTime, "chase+how=lerp+time=0.1+late=take"),
    "late-tween": (games.Tween, "chase+how=linear+time=0.1+late=take"),
    "late-limits": (
        games.LimitedTween,
        "chase+how=linear+time=1i+start=last+interval=stamps+late=take",
    ),
    "late-ticks": (SummedTicks, "chase+how=share+share=0.3+every=0.025+late=take"),
    "kart-curve": (games.KartCurve, "chase+how=hermite+interval=steps"),
    "half-lead": (
        HalfLead,
        "chase+how=share+share=0.2+ahead=velocity+velocity_factor=0.5+every=0.02",
    ),
    "other-unit": (OtherUnit, "chase+how=share+share=1+ahead=velocity+velocity_factor=3.6"),
    "late-sorted": (games.SortedStates, "buffer+stamps=arrival+delay=0.1+late=sort"),
    "late-buffer": (games.WebGame, "buffer+stamps=arrival+delay=0.1+late=insert"),
}


#: Fewest late packets of a drawing that takes them.
LATE = 5


def drawing(name: str, seed: int) -> Case:
    """Return a drawing over random traffic with velocities, and what it is.

    Packets are in the order of their stamps unless the drawing takes late ones, of which there are
    five at least.
    """
    dice = random.Random(f"public {name} {seed}")
    game, words = DRAWINGS[name]
    is_late = name.startswith("late-")
    while True:
        packets, network = traffic(dice, dice.uniform(25, 45), same_clock=True)
        newest = np.maximum.accumulate([packet.time for packet in packets])
        fresh = [one for one, new in zip(packets, newest, strict=True) if one.time == new]
        if packets[0].velocity is None or (is_late and len(packets) < len(fresh) + LATE):
            continue
        packets = packets if is_late else fresh
        times, rate = frames(dice, packets)
        made, rows, waiting = game(), [], list(packets)
        for at in times.tolist():
            while waiting and (waiting[0].arrival or 0.0) <= at:
                packet = waiting.pop(0)
                made.take(packet, packet.arrival or 0.0)
            own = made.draw(at)
            rows.append((np.nan,) * 3 if own is None else own)
        own = np.round(np.array(rows, float), 4)
        there = np.isfinite(own).all(axis=1)
        path = DrawnPath(times[there], own[there], HALF)
        return Case(read_spec(words), packets, path, f"{network}, {rate}")


def judge(case: Case, said: DrawnMatch) -> tuple[str, StrategySpec, float]:
    """Return the verdict on an answer, what it says, and the share of a step that is left."""
    spec = said.best.candidate if said.mechanism is None else said.mechanism.strategy
    packets = case.packets
    if said.by_frame:
        places = np.searchsorted(case.path.times, [packet.arrival or 0.0 for packet in packets])
        packets = [
            packet._replace(arrival=float(case.path.times[place]))
            for packet, place in zip(packets, places, strict=True)
            if place < len(case.path.times)
        ]
    own = draw(spec, packets, case.path.times)
    later = case.path.times >= case.path.times[0] + 1
    apart = np.linalg.norm(own - case.path.positions, axis=1)[later]
    left = float(np.sqrt(np.nanmean(np.square(apart)))) if np.isfinite(apart).any() else np.inf
    alike = spec.name == case.spec.name and all(
        is_near(spec, key, value) for key, value in case.spec.settings.items()
    )
    if said.by_frame:
        alike = alike or spec.values.get("clock") == case.spec.values.get("clock")
    if said.found:
        same = alike or left <= max(ROUNDED, 0.001 * said.step)
        verdict = "right" if same else "partly" if said.rest_off else "false"
    else:
        verdict = "partly" if said.likely and alike else "false" if said.likely else "not"
    return verdict, spec, left / said.step


def is_near(spec: StrategySpec, key: str, value: Any) -> bool:
    """Return whether a setting is the same, or a number within 5 %."""
    own = spec.values[key]
    if isinstance(value, float) and isinstance(own, float):
        return abs(own - value) <= 0.05 * value
    return bool(own == value) or isinstance(own, float) != isinstance(value, float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    worst = 0.0
    for name in given.names or DRAWINGS:
        for seed in range(given.first, given.first + given.cases):
            case = drawing(name, seed)
            begun = time.process_time()
            said = found(case)
            seconds = time.process_time() - begun
            verdict, spec, left = judge(case, said)
            worst = max(worst, seconds)
            tally[name][verdict] += 1
            if verdict != "right":
                print(f"{name} {seed} ({case.words}): {verdict}, {100 * left:.2g} % left:"
                      f" {spec.label}; {seconds:.1f} s", flush=True)  # fmt: skip
        print(f"{name}: {dict(tally[name])}", flush=True)
    counts = sum(tally.values(), Counter())
    print(f"{dict(counts)}; {worst:.1f} s at most")
    raise SystemExit(counts["false"] > 0 or counts["right"] < 0.85 * counts.total())


if __name__ == "__main__":
    main()
